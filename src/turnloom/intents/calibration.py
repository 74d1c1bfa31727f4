"""Turn scores into calibrated probabilities, and measure the calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Bools = npt.NDArray[np.bool_]
USUAL_SLOPE = 2.0
"""The usual slope, in units of 1/(spread of similarities between intents). It is the prior of the fit, and the only
information when every intent has one example.
"""


USUAL_WEIGHT = 10
"""The number of examples that the usual slope counts as."""


@dataclass(frozen=True)
class Calibration:
    """logit = intercept + slope * score."""

    slope: float = 1.0
    intercept: float = 0.0

    def apply(self, scores: Floats) -> Floats:
        """Return logits."""
        return np.asarray(self.intercept + self.slope * scores)


def probabilities(logits: Floats, multi_label: bool) -> npt.NDArray[np.float64]:
    """Return probabilities that sum to one over intents, or with `multi_label` an independent one per intent."""
    logits = np.asarray(logits, np.float64)
    if multi_label:
        return np.asarray(0.5 * (1 + np.tanh(logits / 2)))
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def usual_slope(scores: Floats, member: Bools) -> float:
    """Estimate the slope from the spread of scores of other intents."""
    others = scores[~member & np.isfinite(scores)]
    return USUAL_SLOPE / max(float(others.std()), 1e-3) if len(others) > 1 else 20.0


def fit_calibration(
    scores: Floats, member: Bools, multi_label: bool, usual: float, weights: Floats | None = None
) -> Calibration:
    """Fit the calibration on left-out examples: match confidence to accuracy, or maximise likelihood (multi-label).

    Args:
        scores: One row per example and one column per intent; NaN where an example was its intent's only one.
        member: The true intents.
        multi_label: Whether a message may have several intents.
        usual: The usual slope.
        weights: How much each example counts.
    """
    weights = np.ones(len(scores)) if weights is None else weights
    told = np.isfinite(scores)
    rows = told.all(axis=1) if not multi_label else told.any(axis=1)
    scores, member, told, weights = scores[rows], member[rows], told[rows], weights[rows]
    if not len(scores):
        return Calibration(usual, -usual * 0.5 if multi_label else 0.0)
    if multi_label:
        return _fit_each(scores, member, told, weights, usual)
    return Calibration(_fit_one(scores, member, weights, usual))


def _fit_one(scores: Floats, member: Bools, weights: Floats, usual: float) -> float:
    """Find the slope at which mean confidence equals accuracy, for exactly one intent per message.

    The maximum-likelihood slope is too flat when some labels are wrong or two intents overlap: a few confident mistakes
    make all other examples unsure. We add pseudo-examples that are right as often as the usual slope is confident. So a
    few real examples hardly move the slope, and perfectly separated ones do not make it infinite.
    """
    from scipy.optimize import brentq

    right = member[np.arange(len(scores)), scores.argmax(axis=1)]
    weights = weights / weights.mean()

    def sure(change: float) -> float:
        return float(weights @ probabilities(usual * np.exp(change) * scores, False).max(axis=1) / len(scores))

    share = (weights @ right + USUAL_WEIGHT * sure(0)) / (len(scores) + USUAL_WEIGHT)
    change = -4.0 if sure(-4) >= share else 4.0
    if sure(-4) < share < sure(4):
        change = brentq(lambda other: sure(other) - share, -4, 4, xtol=0.01)
    return usual * float(np.exp(change))


def _fit_each(scores: Floats, member: Bools, told: Bools, weights: Floats, usual: float) -> Calibration:
    """Fit slope and intercept by maximum likelihood, each intent on its own (Platt, 1999)."""
    from scipy.optimize import minimize

    safe = np.where(told, scores, 0)

    def loss(parameters: Floats) -> float:
        logits = parameters[1] + usual * np.exp(parameters[0]) * safe
        terms = np.where(told, np.logaddexp(0, np.where(member, -logits, logits)), 0).sum(axis=1)
        return float(weights @ terms + parameters[0] ** 2 / 2)

    found = minimize(loss, np.array([0.0, -usual / 2]), method="Nelder-Mead", options={"xatol": 0.01, "maxiter": 200}).x
    return Calibration(usual * float(np.exp(found[0])), float(found[1]))


def best_threshold(probability: Floats, member: Bools) -> tuple[float, float]:
    """Return the threshold, shared by all intents, with the best micro F1, and that F1."""
    told = np.isfinite(probability)
    values, truth = probability[told], member[told]
    order = np.argsort(-values, kind="stable")
    right = np.cumsum(truth[order])
    scores = 2 * right / np.maximum(np.arange(1, len(order) + 1) + truth.sum(), 1)
    # A threshold can only lie between two different values.
    ends = np.flatnonzero(np.append(np.diff(values[order]) < 0, True))
    best = ends[int(np.argmax(scores[ends]))]
    low = values[order][best + 1] if best + 1 < len(order) else values[order][best]
    return float((values[order][best] + low) / 2), float(scores[best])


def micro_f1(truth: Sequence[Sequence[str]], said: Sequence[Sequence[str]]) -> float:
    """F1 over all labels of all messages together.

    Example:
        >>> micro_f1([("a", "b"), ("c",)], [("a",), ("d",)])
        0.4
    """
    right = sum(len(set(one) & set(other)) for one, other in zip(truth, said, strict=True))
    total = sum(map(len, truth)) + sum(map(len, said))
    return 2 * right / total if total else 1.0


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the value with `share` of the weight below it, interpolated linearly.

    Example:
        >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.ones(3), 0.5)
        2.0
    """
    order = np.argsort(values)
    weights = weights[order]
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()
    return float(np.interp(share, middle, values[order]))


def expected_calibration_error(confidence: Floats, right: Bools, bins: int = 15) -> float:
    """The mean gap between confidence and accuracy over bins of equal width (Guo et al., 2017).

    Example:
        >>> expected_calibration_error(np.array([0.9, 0.9]), np.array([True, False]))
        0.4
    """
    place = np.minimum((np.asarray(confidence) * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    sure = np.bincount(place, weights=confidence, minlength=bins)
    hits = np.bincount(place, weights=np.asarray(right, np.float64), minlength=bins)
    return float(np.abs(sure - hits).sum() / max(counts.sum(), 1))
