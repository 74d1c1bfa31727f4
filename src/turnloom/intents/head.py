"""The logistic head: what prototypes get wrong, learned.

logit(x, c) = slope * cos(x, prototype of c) + w_c . x + b_c, with w and b held near zero. An intent that the head has
not seen has w = b = 0 and is judged by its prototype, on the same scale: adding one needs no training. While learning,
each example's prototypes are made without it, so that the head learns from honest mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.intents.calibration import Calibration, fit_calibration, usual_slope
from turnloom.intents.examples import Examples
from turnloom.intents.minimise import minimise
from turnloom.intents.scores import prototype_scores, scores_as_if_new
from turnloom.runtime.protocols import Vectors

__all__ = ["Head", "fit_head"]

Matrix = npt.NDArray[np.float32]
SCALE = np.float32(10.0)
"""Vectors of length one are small numbers: scaled, one penalty fits weights and biases."""
PENALTY = 3.0
STEPS = 60
ENOUGH = 1e-3
"""Relative gain of a step below which learning stops."""


@dataclass(frozen=True)
class Head:
    """Weights over prototypes.

    Attributes:
        base: From prototype similarities to logits.
        weights: One row a dimension and one for the bias, one column an intent.
    """

    base: Calibration
    weights: npt.NDArray[np.float32]

    def logits(self, vectors: Vectors, examples: Examples) -> npt.NDArray[np.float32]:
        """Logits of new messages."""
        base = self.base.apply(prototype_scores(vectors, examples))
        return np.asarray(base + _features(vectors) @ self.weights, np.float32)

    def for_intents(self, before: tuple[str, ...], now: tuple[str, ...]) -> Head:
        """The same head over other intents: new ones begin with nothing learned."""
        number = {name: column for column, name in enumerate(before)}
        weights = np.zeros((len(self.weights), len(now)), np.float32)
        for column, name in enumerate(now):
            if name in number:
                weights[:, column] = self.weights[:, number[name]]
        return Head(self.base, weights)


def _features(vectors: Vectors) -> npt.NDArray[np.float32]:
    return np.hstack([vectors * SCALE, np.ones((len(vectors), 1), np.float32)])


def _fit_of(logits: Matrix, truth: Matrix, multi_label: bool) -> tuple[float, Matrix]:
    """The negative log likelihood of the truth, and the probabilities, with one exponential for both."""
    if multi_label:
        raised = np.exp(-np.abs(logits))
        value = (np.maximum(logits, 0) + np.log1p(raised)).sum() - (logits * truth).sum()
        return float(value), np.where(logits >= 0, 1, raised) / (1 + raised)
    top = logits.max(axis=1, keepdims=True)
    raised = np.exp(logits - top)
    total = raised.sum(axis=1, keepdims=True)
    return float((top + np.log(total)).sum() - (logits * truth).sum()), raised / total


def fit_head(examples: Examples, multi_label: bool) -> Head:
    """Learn a head from examples by L-BFGS.

    Args:
        examples: What is known.
        multi_label: Whether intents are judged each for itself.
    """
    scores = scores_as_if_new(examples, np.arange(len(examples)), None)
    base = fit_calibration(scores, examples.member, multi_label, usual_slope(scores, examples.member))
    # The only example of an intent says nothing of its prototype: it is taken to be as far as an average intent.
    offsets = base.apply(np.where(np.isfinite(scores), scores, np.nanmean(scores))).astype(np.float32)
    features, truth = _features(examples.vectors), examples.member.astype(np.float32)

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        logits = features @ weights + offsets
        value, probability = _fit_of(logits, truth, multi_label)
        wrong = probability - truth
        gradient = features.T @ wrong + PENALTY * weights
        return float(value + PENALTY / 2 * (weights**2).sum()), gradient

    nothing = np.zeros((features.shape[1], truth.shape[1]), np.float32)
    return Head(base, minimise(loss, nothing, steps=STEPS, enough=ENOUGH))
