"""The labelled messages of a classifier, as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from turnloom.corpus.labelled import is_out_of_scope
from turnloom.errors import TurnloomError
from turnloom.intents.neighbours import Neighbours
from turnloom.runtime.protocols import Encoder, Vectors, unit_rows

Message = str | Sequence[str]
"""A message alone, or the turns of a conversation with the message last."""
Labels = Sequence[str | Sequence[str]]
Turns = tuple[str, ...]
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


class UnknownIntentError(TurnloomError):
    """An intent that the classifier does not know."""


def turns_of(message: Message) -> Turns:
    """Return a message as a list of turns, the message itself last."""
    turns = (message,) if isinstance(message, str) else tuple(message) if isinstance(message, Sequence) else ()
    if not turns or not all(isinstance(turn, str) for turn in turns):
        raise TurnloomError(f"{message!r} is not a message", "give a text, or the turns of a conversation as texts")
    return turns


def label_sets(labels: Labels) -> list[tuple[str, ...]]:
    """Return each message's labels; empty if it is labelled out of scope."""
    sets = [(label,) if isinstance(label, str) else tuple(dict.fromkeys(label)) for label in labels]
    return [tuple(label for label in each if not is_out_of_scope(label)) for each in sets]


def embed(encoder: Encoder, messages: Sequence[Turns], context_turns: int) -> Vectors:
    """Return a unit vector per message, encoding each distinct text once.

    With context, half of the vector encodes the message and half the message with its earlier turns. A similarity is
    then the mean of both, so neither the message nor its history can drown the other.
    """
    if not messages:
        return np.zeros((0, 1), np.float32)
    halves = [[turns[-1] for turns in messages]]
    if context_turns:
        halves.append([encoder.format_context(turns[-context_turns - 1 :]) for turns in messages])
    rows = {text: row for row, text in enumerate(dict.fromkeys(text for half in halves for text in half))}
    vectors = unit_rows(encoder.encode(list(rows)))
    joined = np.hstack([vectors[[rows[text] for text in half]] for half in halves])
    return np.asarray(joined / np.float32(len(halves) ** 0.5), np.float32)


def drawn(count: int, most: int) -> Places:
    """Return all indices, or a fixed random sample of `most`."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def alike(turns: Turns) -> Turns:
    """Normalise case and spacing, so that turns that differ only there compare equal."""
    return tuple(" ".join(turn.lower().split()) for turn in turns)


@dataclass(frozen=True)
class Examples:
    """Messages with their vectors and intents; immutable.

    Attributes:
        messages: The turns of each.
        vectors: Unit vectors, one row per message.
        intents: The names, sorted.
        member: Which message (row) has which intent (column).
        extra: What else is known about each intent (its name, unlabelled messages), as vectors to add to the sum of its
            examples; None if nothing is.
        near: What a pool's messages are believed to mean; None without a pool.
    """

    messages: tuple[Turns, ...]
    vectors: Vectors
    intents: tuple[str, ...]
    member: Bools
    extra: Vectors | None = None
    near: Neighbours | None = None

    @classmethod
    def of(
        cls,
        messages: Sequence[Turns],
        vectors: Vectors,
        labels: Sequence[tuple[str, ...]],
        intents: Sequence[str] = (),
    ) -> Examples:
        """Build examples, and intents that have none (`intents`).

        Copies with the same labels count once, or a left-out example would match its copy.
        """
        kept: dict[tuple[Turns, tuple[str, ...]], int] = {}
        for place, (turns, names) in enumerate(zip(messages, labels, strict=True)):
            kept.setdefault((alike(turns), names), place)
        places = list(kept.values())
        known = tuple(sorted({name for names in labels for name in names} | set(intents)))
        number = {name: column for column, name in enumerate(known)}
        member = np.zeros((len(places), len(known)), bool)
        for row, place in enumerate(places):
            member[row, [number[name] for name in labels[place]]] = True
        return cls(tuple(messages[place] for place in places), vectors[places], known, member)

    def __len__(self) -> int:
        return len(self.messages)

    @cached_property
    def counts(self) -> Places:
        """How many examples each intent has."""
        return np.asarray(self.member.sum(axis=0), np.int64)

    @cached_property
    def sums(self) -> Vectors:
        """The sum of each intent's vectors."""
        return np.asarray(self.member.T.astype(np.float32) @ self.vectors, np.float32)

    @cached_property
    def totals(self) -> Vectors:
        """The direction of each intent's prototype: the sum of its vectors and what else is known; zero if nothing."""
        return self.sums if self.extra is None else self.sums + self.extra

    @cached_property
    def has_extra(self) -> Bools:
        """Which intents are known by more than their examples."""
        return np.zeros(len(self.intents), bool) if self.extra is None else np.asarray(self.extra.any(axis=1))

    @cached_property
    def by_intent(self) -> Places:
        """Indices of all examples, grouped by intent; an example with two intents appears twice."""
        return np.asarray(np.nonzero(self.member.T)[1], np.int64)

    @cached_property
    def starts(self) -> Places:
        """Where each intent begins in `by_intent`."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)

    def labels(self) -> list[tuple[str, ...]]:
        """Each message's intents."""
        return [tuple(self.intents[column] for column in np.flatnonzero(row)) for row in self.member]

    def plus(self, more: Examples) -> Examples:
        """Return these examples and more, with the intents of both."""
        rows = [each.vectors for each in (self, more) if len(each)]
        vectors = np.vstack(rows) if rows else self.vectors
        intents = {*self.intents, *more.intents}
        return Examples.of([*self.messages, *more.messages], vectors, [*self.labels(), *more.labels()], list(intents))

    def without(self, messages: Sequence[Turns], intents: Sequence[str]) -> Examples:
        """Return the examples without some messages and without some intents.

        An intent without examples stays only if it is known by its name or from a pool.

        Raises:
            TurnloomError: If nothing is left, or an intent is unknown.
        """
        wrong = next((name for name in intents if name not in self.intents), None)
        if wrong is not None:
            raise UnknownIntentError(f"there is no intent {wrong!r}", f"it knows {', '.join(self.intents[:10])}")
        gone = {alike(turns) for turns in messages}
        left = [
            (row, tuple(name for name in names if name not in intents))
            for row, (turns, names) in enumerate(zip(self.messages, self.labels(), strict=True))
            if alike(turns) not in gone
        ]
        rows, labels = [row for row, names in left if names], [names for _, names in left if names]
        bare = [name for name, known in zip(self.intents, self.has_extra, strict=True) if known and name not in intents]
        if not rows and not bare:
            raise TurnloomError("no example would be left", "keep at least one")
        return Examples.of([self.messages[row] for row in rows], self.vectors[rows], labels, bare)

    def take(self, places: npt.NDArray[np.integer] | Bools) -> Examples:
        """Select some messages, keeping all intents, even those without examples."""
        chosen = np.arange(len(self))[places]
        return Examples(
            tuple(self.messages[place] for place in chosen),
            self.vectors[chosen],
            self.intents,
            self.member[chosen],
            self.extra,
            self.near,
        )
