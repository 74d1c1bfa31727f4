"""What is known about intents besides their examples: names, and what a pool of unlabelled messages taught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError
from turnloom.intents.examples import Examples, drawn
from turnloom.intents.methods import assign_folds
from turnloom.intents.names import name_evidence
from turnloom.intents.neighbours import Neighbours
from turnloom.intents.pool import FEWEST_MESSAGES, Pool, pool_beliefs, pool_evidence, pool_neighbours
from turnloom.intents.scope import familiarity
from turnloom.intents.scores import intent_scores
from turnloom.runtime.protocols import Vectors

Places = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]
PARTS = 3
"""Examples are left out in this many parts to see what the pool is worth."""
TESTED_ON = 2_000
BELIEVED = 0.5
"""A message is believed to have an intent from this belief on."""
LEAST_BELIEVED = 0.05
"""A pool of which a smaller share is believed is foreign, and not used."""
SCARCE = 2
"""An intent with fewer believed messages has almost none in the pool."""


@dataclass(frozen=True)
class PoolReport:
    """What a pool did.

    Attributes:
        messages: How many distinct messages it has.
        used: How many were looked at; a large pool is sampled.
        believed: How many clearly belong to one intent.
        trusted: Whether it is used: not if few messages are believed, or left-out examples are clearly recognised
            better without it.
        right_with: The share of left-out examples recognised with the pool; None if there was nothing to leave out.
        right_without: The same without it.
        strengthened: For each intent, how many messages are believed to have it.
    """

    messages: int
    used: int
    believed: int
    trusted: bool
    right_with: float | None
    right_without: float | None
    strengthened: Mapping[str, int]

    @property
    def scarce(self) -> tuple[str, ...]:
        """Intents with almost no message in the pool."""
        return tuple(name for name, count in self.strengthened.items() if count < SCARCE)


@dataclass(frozen=True)
class LeftOut:
    """Examples scored with prototypes that were made without them, and without what they taught the pool."""

    places: Places
    scores: Floats
    familiarity: Floats


@dataclass(frozen=True)
class Evidence:
    """Names and what a pool taught, by intent.

    Attributes:
        names: What each intent is called; empty if names are not used.
        name_vectors: The vector of each name.
        taught: What the pool adds to each intent's prototype.
        near: What the pool's messages are believed to mean; None without a pool that is used.
        middle: The mean of the pool's messages: where messages lie, if there are no examples.
        report: What the pool did; None without one.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    name_vectors: Mapping[str, Vectors] = field(default_factory=dict)
    taught: Mapping[str, Vectors] = field(default_factory=dict)
    near: Neighbours | None = None
    middle: Vectors | None = None
    report: PoolReport | None = None

    def plus(self, more: Evidence) -> Evidence:
        """Add names; known ones are replaced."""
        names, vectors = {**self.names, **more.names}, {**self.name_vectors, **more.name_vectors}
        return replace(self, names=names, name_vectors=vectors)

    def without(self, intents: set[str]) -> Evidence:
        """Forget some intents."""
        kept = {name: text for name, text in self.names.items() if name not in intents}
        vectors = {name: self.name_vectors[name] for name in kept}
        taught = {name: vector for name, vector in self.taught.items() if name not in intents}
        near = None if self.near is None else self.near.for_intents(tuple(taught))
        return replace(self, names=kept, name_vectors=vectors, taught=taught, near=near)

    def applied(self, examples: Examples) -> Examples:
        """Return the examples with what is known besides."""
        extra = self._from_names(examples)
        for column, name in enumerate(examples.intents):
            if name in self.taught:
                extra = (
                    np.zeros((len(examples.intents), self.taught[name].size), np.float32) if extra is None else extra
                )
                extra[column] += self.taught[name]
        near = None if self.near is None else self.near.for_intents(examples.intents)
        return replace(examples, extra=extra, near=near)

    def relearned(self, pool: Pool, examples: Examples) -> Examples:
        """Return some of the examples with what is known besides, if the pool had only met these."""
        return taught_by(pool, replace(self, taught={}, near=None).applied(examples))

    def familiarity_of(self, pool: Pool, examples: Examples) -> Floats:
        """Return how familiar each of a pool's messages would be if it were new: to what is learned without it."""
        found = np.zeros(len(pool.vectors))
        parts = np.random.default_rng(0).permutation(len(found)) % PARTS
        for number in range(PARTS):
            known = self.relearned(pool.take(parts != number), examples)
            new = pool.vectors[parts == number]
            found[parts == number] = familiarity(new, new @ known.vectors.T, known)
        return found

    def _from_names(self, examples: Examples) -> Vectors | None:
        named = [column for column, name in enumerate(examples.intents) if name in self.name_vectors]
        if not named:
            return None
        vectors = np.stack([self.name_vectors[examples.intents[column]] for column in named])
        part = replace(
            examples, intents=tuple(examples.intents[column] for column in named), member=examples.member[:, named]
        )
        extra = np.zeros((len(examples.intents), vectors.shape[1]), np.float32)
        extra[named] = name_evidence(vectors, part, self.middle)
        return extra

    def learn(self, pool: Pool, examples: Examples) -> tuple[Evidence, LeftOut | None]:
        """Learn from a pool, and score left-out examples with what it teaches without them.

        The pool is not used if these are recognised less often than without it.

        Raises:
            TurnloomError: If the pool is too small.
        """
        if len(pool.vectors) < FEWEST_MESSAGES:
            raise TurnloomError(
                f"the pool has {len(pool.vectors)} different messages besides the examples",
                f"give at least {FEWEST_MESSAGES}, or no pool",
            )
        known = replace(self, middle=np.asarray(pool.vectors.mean(axis=0), np.float32))
        return known._learn(pool, examples)

    def _learn(self, pool: Pool, examples: Examples) -> tuple[Evidence, LeftOut | None]:
        plain = self.applied(examples)
        beliefs = pool_beliefs(pool, plain)
        taught = pool_evidence(pool, beliefs)
        sure = beliefs.intents.max(axis=1) * beliefs.familiar
        best = beliefs.intents.argmax(axis=1)[sure >= BELIEVED]
        counts = np.bincount(best, minlength=len(plain.intents))
        report = PoolReport(
            pool.offered,
            len(pool.vectors),
            len(best),
            len(best) >= LEAST_BELIEVED * len(pool.vectors),
            None,
            None,
            {name: int(count) for name, count in zip(plain.intents, counts, strict=True)},
        )
        learned = replace(
            self,
            taught=dict(zip(plain.intents, taught, strict=True)),
            near=pool_neighbours(pool, beliefs, plain.intents),
            report=report,
        )
        tested = self._left_out(pool, examples)
        if tested is None:
            return learned if report.trusted else replace(self, report=report), None
        with_pool, without_pool = tested
        right, before = (_right(each, examples) for each in tested)
        gained, lost = int((right & ~before).sum()), int((before & ~right).sum())
        report = replace(
            report,
            # One or two examples more or less are chance: a loss must be larger than its standard error.
            trusted=report.trusted and lost - gained <= (gained + lost) ** 0.5,
            right_with=float(right.mean()),
            right_without=float(before.mean()),
        )
        if report.trusted:
            return replace(learned, report=report), with_pool
        return replace(self, report=report), without_pool

    def _left_out(self, pool: Pool, examples: Examples) -> tuple[LeftOut, LeftOut] | None:
        """Score left-out examples with and without the pool; None if an intent would have nothing left."""
        if not len(examples):
            return None
        parts = assign_folds(examples, PARTS)
        if self.name_vectors:  # An intent's only example can be left out too, since its name stays.
            parts[parts < 0] = np.random.default_rng(0).permutation(int((parts < 0).sum())) % PARTS
        able = np.flatnonzero(parts >= 0)
        places = able[drawn(len(able), TESTED_ON)]
        part = parts[places]
        if len(places) < 2:
            return None
        scores = [np.zeros((len(places), len(examples.intents)), np.float32) for _ in range(2)]
        familiar = [np.zeros(len(places)) for _ in range(2)]
        for number in range(PARTS):
            rows = np.flatnonzero(part == number)
            kept = np.ones(len(examples), bool)
            kept[places[rows]] = False
            if not len(rows) or not kept.any():
                continue
            plain = self.applied(examples.take(kept))
            known = taught_by(pool, plain)
            vectors = examples.vectors[places[rows]]
            for index, each in enumerate((known, plain)):
                scores[index][rows] = intent_scores(vectors, each)
                familiar[index][rows] = familiarity(vectors, vectors @ each.vectors.T, each, missing=examples)
        with_pool, without_pool = (LeftOut(places, *found) for found in zip(scores, familiar, strict=True))
        return with_pool, without_pool


def taught_by(pool: Pool, examples: Examples) -> Examples:
    """Return the examples with what the pool adds to their prototypes."""
    beliefs = pool_beliefs(pool, examples)
    extra = pool_evidence(pool, beliefs)
    return replace(
        examples,
        extra=extra if examples.extra is None else examples.extra + extra,
        near=pool_neighbours(pool, beliefs, examples.intents),
    )


def _right(left_out: LeftOut, examples: Examples) -> npt.NDArray[np.bool_]:
    member = examples.member[left_out.places]
    return np.asarray(member[np.arange(len(member)), left_out.scores.argmax(axis=1)])
