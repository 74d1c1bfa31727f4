"""Scores that average over ties: a model that cannot tell candidates apart scores the same as guessing.

With b candidates better than the truth and t tied with it (the truth among them), the truth's rank is uniform over
b+1 … b+t. Every ranking score here is the mean over those ranks; chance levels are computed under the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.runtime.protocols import unit_rows

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[Any]


def normalise_rows(vectors: Matrix) -> Floats:
    """Scale rows to unit length; a row of zeros stays zero."""
    return unit_rows(vectors, np.float64)


def cosine_similarity(first: Matrix, second: Matrix) -> Floats:
    """Return all cosines between two sets of vectors, rounded so that equal vectors tie."""
    cosines: Floats = np.round(normalise_rows(first) @ normalise_rows(second).T, 6)
    return cosines


def _better_and_tied(scores: Floats, truth: int) -> tuple[int, int]:
    return int((scores > scores[truth]).sum()), int((scores == scores[truth]).sum())


def expected_top_k(scores: Floats, truth: int, k: int) -> float:
    """Return the probability that the truth is among the k best: ``clip((k - b) / t, 0, 1)``.

    Example:
        >>> expected_top_k(np.array([1.0, 1.0, 0.0, 2.0]), truth=0, k=2)
        0.5
    """
    better, tied = _better_and_tied(scores, truth)
    return float(np.clip((k - better) / tied, 0, 1))


def expected_reciprocal_rank(scores: Floats, truth: int) -> float:
    """Return the mean of 1/rank over the ranks that the truth may have."""
    better, tied = _better_and_tied(scores, truth)
    return float(np.mean(1 / np.arange(better + 1, better + tied + 1)))


def first_relevant_reciprocal_rank(scores: Floats, relevant: npt.NDArray[np.bool_]) -> float:
    """Return the mean of 1/rank of the first relevant candidate, over all orders of tied ones."""
    best = scores[relevant].max()
    better = int((scores > best).sum())
    tied, hits = int((scores == best).sum()), int(((scores == best) & relevant).sum())
    chance_left, total = 1.0, 0.0
    for place in range(tied):
        remaining = tied - place
        chance_here = min(hits / remaining, 1.0)
        total += chance_left * chance_here / (better + place + 1)
        chance_left *= 1 - chance_here
    return total


def average_precision(scores: Floats, relevant: npt.NDArray[np.bool_]) -> float:
    """Return the expected average precision over all orders of tied candidates.

    For a group of t tied candidates with h relevant ones, after B candidates with R relevant ones, the candidate at
    place j of the group is relevant with chance h/t, and then (h-1)(j-1)/(t-1) of those before it in the group are.
    """
    total = int(relevant.sum())
    if total == 0:
        return 0.0
    _, group = np.unique(-scores, return_inverse=True)
    tied, hits = np.bincount(group), np.bincount(group, weights=relevant)
    before, relevant_before = np.cumsum(tied) - tied, np.cumsum(hits) - hits
    rank = np.arange(1, len(scores) + 1)
    own = np.repeat(np.arange(len(tied)), tied)  # The group of each rank.
    inside = (hits[own] - 1) * (rank - before[own] - 1) / np.maximum(tied[own] - 1, 1)
    return float((hits[own] / tied[own] * (relevant_before[own] + inside + 1) / rank).sum()) / total


def _chances_among_best(scores: Floats, k: int) -> Floats:
    """Return each candidate's chance to be among the k best; those tied at the k-th rank share the remaining ranks."""
    kth = np.partition(scores, len(scores) - k)[len(scores) - k]
    sure, tied = scores > kth, scores == kth
    return np.asarray(sure + tied * ((k - sure.sum()) / tied.sum()), np.float64)


def expected_precision(scores: Floats, relevant: npt.NDArray[np.bool_], k: int) -> float:
    """Return the share of relevant candidates among the k best, or among all if there are fewer.

    Example:
        >>> expected_precision(np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False]), 2)
        0.75
    """
    k = min(k, len(scores))
    return float(_chances_among_best(scores, k)[relevant].sum() / k)


def best_column_credit(scores: Matrix, truths: npt.NDArray[np.int64]) -> Floats:
    """Return for each row the chance that the truth is picked among the best columns."""
    scores = np.asarray(scores)
    best = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(best[np.arange(len(scores)), truths] / best.sum(axis=1), np.float64)


def nearest_label_credit(
    similarities: Floats, labels: npt.NDArray[np.int64], truth: int, k: int, classes: int
) -> float:
    """Return the chance that the k nearest neighbours vote for the truth.

    Neighbours tied at the k-th rank share the remaining ranks; tied votes share the credit.
    """
    weights = _chances_among_best(similarities, k)
    votes = np.round(np.bincount(labels, weights=weights, minlength=classes), 9)
    if k == 1:  # One of the tied neighbours is drawn, and its label is the answer.
        return float(votes[truth])
    winners = votes == votes.max()
    return float(winners[truth] / winners.sum())


def detection_scores(in_scope: Floats, out_of_scope: Floats) -> dict[str, float]:
    """Return how well a score (high for in scope) separates the two: AUROC, AUPR (out of scope positive) and FPR@95.

    FPR@95 is the share of in-scope messages rejected at the strictest threshold that catches 95 % of the others.
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    scores = -np.concatenate([in_scope, out_of_scope])
    truth = np.concatenate([np.zeros(len(in_scope)), np.ones(len(out_of_scope))])
    caught = np.sort(-out_of_scope)[::-1]
    threshold = caught[int(np.ceil(0.95 * len(caught))) - 1]
    return {
        "auroc": float(roc_auc_score(truth, scores)),
        "aupr": float(average_precision_score(truth, scores)),
        "fpr_at_95": float((-in_scope >= threshold).mean()),
    }


def f1_scores(truth: npt.NDArray[np.bool_], predicted: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Return micro and macro F1 of several labels per row; the macro mean skips labels without a true example."""
    right = (truth & predicted).sum(axis=0)
    said = truth.sum(axis=0) + predicted.sum(axis=0)
    occurs = truth.any(axis=0)
    if not occurs.any():
        return {"micro_f1": 0.0, "macro_f1": 0.0}
    each = 2 * right[occurs] / said[occurs]
    return {"micro_f1": float(2 * right.sum() / said.sum()), "macro_f1": float(each.mean())}


def shares_below(low: Floats, high: Floats) -> Floats:
    """Return for each low score the share of high scores above it, ties counting half; the mean is the AUROC."""
    ordered = np.sort(high)
    not_above = np.searchsorted(ordered, low, side="right")
    below = np.searchsorted(ordered, low, side="left")
    return np.asarray(1 - (not_above + below) / 2 / len(ordered), np.float64)


def spearman(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float:
    """Return the rank correlation; 0 if one side is constant."""
    from scipy.stats import rankdata

    one, two = rankdata(first), rankdata(second)
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        return 0.0
    return float(np.corrcoef(one, two)[0, 1])


def uniformity(vectors: Matrix) -> float:
    """Return the log of the mean of exp(-2 |x - y|^2) over pairs (Wang and Isola, 2020): lower is more uniform."""
    unit = normalise_rows(vectors)
    squared = 2 - 2 * unit @ unit.T
    pairs = squared[np.triu_indices(len(unit), 1)]
    return float(np.log(np.exp(-2 * pairs).mean()))


def alignment(vectors: Matrix, labels: npt.NDArray[np.int64]) -> float:
    """Return the mean of |x - y|^2 over pairs with the same label: lower is closer."""
    unit = normalise_rows(vectors)
    squared = 2 - 2 * unit @ unit.T
    first, second = np.triu_indices(len(unit), 1)
    same = labels[first] == labels[second]
    return float(squared[first[same], second[same]].mean())


def isotropy(vectors: Matrix) -> float:
    """Return the smallest over the largest partition function on principal axes (Mu and Viswanath, 2018): 1 is best."""
    unit = normalise_rows(vectors)
    _, axes = np.linalg.eigh(unit.T @ unit)
    partition = np.exp(unit @ axes).sum(axis=0)
    return float(partition.min() / partition.max())


def hubness(vectors: Matrix, k: int = 10) -> float:
    """Return the skewness of how often a vector is a k-nearest neighbour (Radovanović et al., 2010): 0 is no hubs."""
    similarities = cosine_similarity(vectors, vectors)
    np.fill_diagonal(similarities, -np.inf)
    nearest = np.argpartition(-similarities, k, axis=1)[:, :k]
    counts = np.bincount(nearest.ravel(), minlength=len(similarities)).astype(np.float64)
    spread = counts.std()
    return float((((counts - counts.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0
