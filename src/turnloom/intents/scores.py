"""Score how well each intent fits a message, or fits an example as if it had been left out.

`class_scores` is for new messages. `left_out_scores` is for the examples: each is scored as if it had never been one,
with its intents' prototypes and neighbours computed without it. A left-out example is compared with one example fewer
than a real message; `scores_as_if_new` corrects for this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from turnloom.intents.examples import Bools, Examples
from turnloom.runtime.protocols import Vectors

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
NOTHING = np.float32(-2.0)
"""Below every cosine: an intent without examples never fits."""
BLOCK = 2**18
"""How many similarities are computed at a time: all pairs of thousands of examples take as much memory as a model."""


def prototype_scores(vectors: Vectors, examples: Examples) -> Floats:
    """Return the cosine to each intent's prototype: the mean of its examples and what else is known about it."""
    lengths = np.linalg.norm(examples.totals, axis=1)
    scores = vectors @ (examples.totals / np.where(lengths > 0, lengths, 1)[:, None]).T
    return np.asarray(np.where(lengths > 0, scores, NOTHING), np.float32)


def intent_scores(vectors: Vectors, examples: Examples) -> Floats:
    """Return the cosine to each intent's prototype, and what the message's neighbours in the pool add."""
    scores = prototype_scores(vectors, examples)
    return scores if examples.near is None else scores + examples.near.votes(vectors)


def nearest_scores(similarities: Floats, examples: Examples, neighbours: int) -> Floats:
    """Return the mean similarity to each intent's nearest examples, or to all of them if it has fewer.

    A similarity of `-inf` leaves an example out.
    """
    scores = np.full((len(similarities), len(examples.intents)), NOTHING, np.float32)
    known = np.flatnonzero(examples.counts)
    if not len(known):
        return scores
    if neighbours == 1:
        columns = similarities[:, examples.by_intent]
        scores[:, known] = np.maximum(np.maximum.reduceat(columns, examples.starts[known], axis=1), NOTHING)
        return scores
    for column in known:
        start = examples.starts[column]
        own = similarities[:, examples.by_intent[start : start + examples.counts[column]]]
        if own.shape[1] > neighbours:
            own = np.partition(own, own.shape[1] - neighbours, axis=1)[:, -neighbours:]
        there = np.isfinite(own)
        total = np.where(there, own, 0).sum(axis=1)
        scores[:, column] = np.where(there.any(axis=1), total / np.maximum(there.sum(axis=1), 1), NOTHING)
    return scores


def class_scores(vectors: Vectors, examples: Examples, neighbours: int | None) -> Floats:
    """Score each intent for new messages, by prototypes or by nearest neighbours."""
    if neighbours is None:
        return intent_scores(vectors, examples)
    return nearest_scores(vectors @ examples.vectors.T, examples, neighbours)


def left_out_similarities(examples: Examples, places: Places) -> Floats:
    """Return similarities of some examples to all examples, with `-inf` to themselves."""
    similarities = examples.vectors[places] @ examples.vectors.T
    similarities[np.arange(len(places)), places] = -np.inf
    return np.asarray(similarities, np.float32)


def left_out_scores(examples: Examples, places: Places, neighbours: int | None) -> Floats:
    """Score each intent for some examples, each left out of its own intents; NaN if that leaves an intent empty."""
    member = examples.member[places]
    alone = member & (examples.counts == 1) & ~(examples.has_extra & (neighbours is None))
    if neighbours is not None:
        blocks = _blocks(places, len(examples))
        found = [nearest_scores(left_out_similarities(examples, block), examples, neighbours) for block in blocks]
        scores = np.concatenate(found) if found else np.zeros(member.shape, np.float32)
        return np.asarray(np.where(alone, np.nan, scores), np.float32)
    vectors = examples.vectors[places]
    towards, squared = _without(examples, vectors)
    without = towards / np.sqrt(np.maximum(squared, 1e-12))
    scores = np.where(alone, np.nan, np.where(member, without, prototype_scores(vectors, examples)))
    return np.asarray(scores if examples.near is None else scores + examples.near.votes(vectors), np.float32)


def _without(examples: Examples, vectors: Vectors) -> tuple[Floats, Floats]:
    """Return dot products with each intent's sum without the example, and the squared norm of that sum."""
    towards = vectors @ examples.totals.T
    return towards - 1, (examples.totals**2).sum(axis=1) - 2 * towards + 1


def scores_as_if_new(
    examples: Examples, places: Places, neighbours: int | None, spread: Spread | None = None
) -> Floats:
    """Correct left-out scores to what new messages would get, compared with all n examples instead of n-1.

    This matters with few examples: with more of them, the prototype and the nearest example are both closer, and both
    vary less between messages.

    Prototypes: the mean similarity does not depend on the number m of examples, but the length of their mean does:
    sqrt(1/m + (1 - 1/m) b), with b the mean similarity among them. Nearest example: we add the expected gain of one
    more draw to the best of n-1 normal draws. For the mean of several neighbours this is an upper bound; the effect is
    small. Prototypes that also come from a name or a pool change so little with one more example that they are not
    corrected.

    `spread` is that of these examples, if it is known already.
    """
    member = examples.member[places]
    plain = left_out_scores(examples, places, neighbours)
    if neighbours is None and examples.has_extra.all():
        return plain
    spread = spread or Spread.of(examples, places)
    counts = np.maximum(examples.counts, 2).astype(np.float64)
    rest = counts - 1
    if neighbours is not None:
        more = np.sqrt(spread.within) * (_expected_best(counts) - _expected_best(rest))
        new = plain + more / neighbours
    else:
        towards, squared = _without(examples, examples.vectors[places])
        among = (squared / rest**2 - 1 / rest) / np.maximum(1 - 1 / rest, 1e-9)
        among = np.where(rest > 1, among, _inner_similarity(examples))
        new = towards / rest / np.sqrt(np.maximum(1 / counts + (1 - 1 / counts) * among, 1e-6))
    own = member & np.isfinite(plain) & ~(examples.has_extra & (neighbours is None))
    new = _drawn_together(new, own, counts, spread, 1.0 if neighbours is None else 0.5)
    return np.asarray(np.where(own, np.minimum(new, 1), plain), np.float32)


def _drawn_together(
    scores: npt.NDArray[np.floating],
    own: npt.NDArray[np.bool_],
    counts: npt.NDArray[np.float64],
    spread: Spread,
    power: float,
) -> npt.NDArray[np.float64]:
    """Shrink own scores towards their mean, as the variance falls with one more example.

    The variance over messages is the variance between them plus that of single similarities divided by m**power: power
    1 for a mean of m, about 1/2 for the best of m normal draws.
    """
    now, before = (spread.between + spread.within / size**power for size in (counts, counts - 1))
    factors = np.sqrt(now / np.maximum(before, 1e-12))
    found = np.array(scores, np.float64)
    for size in np.unique(counts):
        alike = own & (counts == size)
        if alike.any():
            middle = scores[alike].mean()
            found[alike] = middle + factors[counts == size][0] * (scores[alike] - middle)
    return found


def _inner_similarity(examples: Examples) -> float:
    """Return the mean similarity between two examples of the same intent."""
    several = examples.counts > 1
    counts = examples.counts[several].astype(np.float64)
    squared = (examples.sums[several] ** 2).sum(axis=1)
    return float(((squared - counts) / (counts * (counts - 1))).mean()) if several.any() else 0.0


def _blocks(places: Places, width: int) -> Iterator[Places]:
    """Split examples into blocks whose similarities to `width` others fit into a core's cache."""
    step = max(1, BLOCK // max(1, width))
    for start in range(0, len(places), step):
        yield places[start : start + step]


def own_similarities(examples: Examples, places: Places) -> Iterator[tuple[Floats, Bools]]:
    """Yield blocks of similarities to the examples of the first intent, one row each, and which are to others."""
    columns = examples.member[places].argmax(axis=1)
    for column in np.unique(columns):
        start = examples.starts[column]
        members = examples.by_intent[start : start + examples.counts[column]]
        for rows in _blocks(places[columns == column], len(members)):
            yield examples.vectors[rows] @ examples.vectors[members].T, rows[:, None] != members


class Spread(NamedTuple):
    """Variance of similarities to a message's own intent: between messages, and within one message."""

    between: float
    within: float

    @classmethod
    def of(cls, examples: Examples, places: Places) -> Spread:
        """Estimate it from some examples."""
        found = []
        for similarities, others in own_similarities(examples, places):
            own = np.where(others, similarities, 0).astype(np.float64)
            found.append((others.sum(axis=1), own.sum(axis=1), np.einsum("ij,ij->i", own, own)))
        counts, sums, squares = map(np.concatenate, zip(*found, strict=True)) if found else np.zeros((3, 0))
        if not counts.sum():
            return cls(0.0, 0.0)
        total = max(0.0, float(squares.sum() / counts.sum() - (sums.sum() / counts.sum()) ** 2))
        # With two examples per intent, only the total is observable; assume that half of it lies between messages.
        within = total / 2
        several = counts > 1
        if several.any():
            each = (squares - sums**2 / np.maximum(counts, 1))[several] / (counts[several] - 1)
            within = min(max(0.0, float(each.mean())), total)
        return cls(total - within, within)


def _expected_best(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the expected maximum of standard normal draws (Blom's approximation)."""
    from scipy.special import ndtri

    return np.asarray(ndtri((counts - 0.375) / (counts + 0.25)), np.float64)
