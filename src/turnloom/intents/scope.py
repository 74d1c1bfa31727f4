"""Decide whether a message fits any intent: its familiarity, and the threshold for being in scope.

A message's familiarity is its similarity to the closest intent: half to the prototype, half to the nearest example. The
threshold comes from the examples, each left out of its own intents, so you don't need out-of-scope messages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from turnloom.intents.calibration import weighted_quantile
from turnloom.intents.examples import Examples
from turnloom.intents.scores import Spread, nearest_scores, own_similarities, prototype_scores, scores_as_if_new
from turnloom.runtime.protocols import Vectors

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Source = Literal["held-out messages", "left-out examples", "single examples", "pool", "names"]
GRID = 201
"""How many quantiles of in-scope familiarity to keep."""
BORROWED = 8
"""How many similarities to borrow from other intents when an intent has no second example."""
SINGLE_FACTOR = 2.0
"""With one example per intent, only similarities to other intents are known. In half of the cases, assume that a
message far from all other intents is far from its own example too.
"""


@dataclass(frozen=True)
class Rate:
    """A share of messages, with its 95 % confidence interval."""

    rate: float
    low: float
    high: float

    @classmethod
    def of(cls, rate: float, count: float) -> Rate:
        """Compute the interval of a share among `count` messages."""
        from scipy.stats import beta

        hits = rate * count
        low = float(beta.ppf(0.025, hits, count - hits + 1)) if hits > 0 else 0.0
        high = float(beta.ppf(0.975, hits + 1, count - hits)) if hits < count else 1.0
        return cls(rate, low, high)


@dataclass(frozen=True)
class Scope:
    """The in-scope threshold and its expected error rates.

    Attributes:
        threshold: The familiarity at or above which a message is in scope.
        false_reject: The expected share of in-scope messages below the threshold.
        false_accept: The expected share of out-of-scope messages above it; None without out-of-scope examples.
        source: What `false_reject` was estimated from; with one example per intent it is a guess, not a measurement.
        quantiles: Evenly spaced quantiles of in-scope familiarity.
    """

    threshold: float
    false_reject: Rate
    false_accept: Rate | None
    source: Source
    quantiles: tuple[float, ...]

    def rank(self, scores: Floats) -> Floats:
        """Return the share of in-scope messages that are less familiar."""
        grid = np.asarray(self.quantiles)
        return np.asarray(np.interp(scores, grid, np.linspace(0, 1, len(grid))), np.float64)


def _mix(prototypes: npt.NDArray[np.float32], nearest: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray((prototypes + nearest) / 2, np.float32)


def familiarity(
    vectors: Vectors,
    similarities: npt.NDArray[np.float32],
    examples: Examples,
    missing: Examples | None = None,
) -> Floats:
    """Return the similarity of each new message to its closest intent, from its similarities to every example.

    To an intent without examples, it is the similarity to the prototype alone.

    Args:
        vectors: The messages.
        similarities: Their similarities to every example.
        examples: The examples.
        missing: The same examples and others that were left out.
    """
    prototypes = prototype_scores(vectors, examples)
    nearest = np.where(examples.counts > 0, nearest_scores(similarities, examples, 1), prototypes)
    if missing is not None:
        bare = (examples.counts == 0) & (missing.counts > 0)
        nearest = np.where(bare, _expected_nearest(prototypes), nearest)
    return np.asarray(_mix(prototypes, nearest).max(axis=1), np.float64)


def _expected_nearest(prototypes: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the expected similarity to an intent's left-out example, from left-out examples' own to prototypes.

    Around a prototype, two messages differ from it in unrelated directions: their similarity is the product of theirs
    to the prototype.
    """
    best = prototypes.max(axis=1)
    return np.asarray(prototypes * (best.mean() if len(best) else 1), np.float32)


def rival_familiarity(examples: Examples) -> Floats:
    """Return the similarity of each intent's prototype to the closest other one: all that is known without messages."""
    lengths = np.maximum(np.linalg.norm(examples.totals, axis=1, keepdims=True), 1e-9)
    similarities = (examples.totals / lengths) @ (examples.totals / lengths).T
    np.fill_diagonal(similarities, -1 if len(similarities) > 1 else 0)
    return np.asarray(similarities.max(axis=1), np.float64)


def left_out_familiarity(examples: Examples, places: Places, weights: Floats) -> tuple[Floats, Floats, bool]:
    """Return the examples' familiarity as if they were new, their weights, and whether any intent has a second example.

    An intent's only example cannot be left out. We borrow up to `BORROWED` similarities between examples of other
    intents in its place, each with a share of the weight. If there are none, only similarities to other intents remain.
    """
    member = examples.member[places]
    spread = Spread.of(examples, places)
    prototypes = scores_as_if_new(replace(examples, near=None), places, None, spread)
    nearest = scores_as_if_new(examples, places, 1, spread)
    bare = member & (examples.counts == 1) & examples.has_extra
    nearest = np.where(examples.counts == 0, prototypes, nearest)
    nearest = np.where(bare, _expected_nearest(prototypes), nearest)
    scores = _mix(prototypes, nearest)
    single = member & (examples.counts == 1) & ~examples.has_extra
    alone = single.any(axis=1)
    best = np.where(single, -np.inf, scores).max(axis=1).astype(np.float64)
    pairs = np.concatenate([own[others] for own, others in own_similarities(examples, places)]) if alone.any() else None
    if pairs is None or not len(pairs):
        return best, weights, not alone.all()
    missing = np.quantile(pairs, (np.arange(BORROWED) + 0.5) / BORROWED)
    filled = np.maximum(best[alone][:, None], missing[None])
    shared = np.repeat(weights[alone] / BORROWED, BORROWED)
    return np.concatenate([best[~alone], filled.ravel()]), np.concatenate([weights[~alone], shared]), True


def fit_scope(
    in_scope: Floats,
    weights: Floats,
    source: Source,
    *,
    false_reject_rate: float,
    false_accept_rate: float | None,
    outside: Floats | None,
) -> Scope:
    """Set the threshold for a target error rate.

    Args:
        in_scope: Familiarity of in-scope messages as if they were new.
        weights: The weight of each.
        source: Where they come from.
        false_reject_rate: The share of in-scope messages to reject.
        false_accept_rate: The share of out-of-scope messages to accept; overrides `false_reject_rate`.
        outside: Familiarity of out-of-scope messages.
    """
    factor = SINGLE_FACTOR if source in ("single examples", "names") else 1.0
    if false_accept_rate is not None and outside is not None:
        # The expected share of new messages above the j-th highest of n is j/(n+1), so 1/(n+1) is the lowest possible.
        place = max(int(false_accept_rate * (len(outside) + 1)), 1)
        threshold = float(np.nextafter(np.sort(outside)[-place], 2))
    else:
        threshold = weighted_quantile(in_scope, weights, min(factor * false_reject_rate, 1.0))
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    rejected = float(weights[in_scope < threshold].sum() / weights.sum()) / factor
    accepted = None if outside is None else Rate.of(float((outside >= threshold).mean()), len(outside))
    grid = [weighted_quantile(in_scope, weights, share) for share in np.linspace(0, 1, GRID)]
    return Scope(threshold, Rate.of(rejected, effective), accepted, source, tuple(grid))
