"""Prototypes, neighbours or a logistic head, chosen by cross-validation on the same folds.

The logistic head learns what prototypes get wrong: logit(x, c) = slope * cos(x, prototype of c) + w_c . x + b_c, with w
and b held near zero. An intent that the head has not seen has w = b = 0 and is scored by its prototype, on the same
scale, so adding one needs no training. During training, each example is left out of its own prototypes, so that the
head learns from realistic mistakes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError
from turnloom.intents.calibration import Calibration, best_threshold, fit_calibration, usual_slope
from turnloom.intents.examples import Examples, drawn
from turnloom.intents.scores import class_scores, intent_scores, scores_as_if_new
from turnloom.runtime.protocols import Vectors

Matrix = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
METHODS = ("prototypes", "knn", "logistic")
NEIGHBOURS = (1, 3, 5)
FOLDS, FEW_FOLDS, MANY = 5, 2, 20_000
CALIBRATED_ON = 4_000
"""The most examples scored for a choice, a calibration or a threshold; more would not change it."""
SCALE = np.float32(10.0)
"""Components of unit vectors are small; scaled up, one penalty fits weights and biases."""
PENALTY = 3.0
STEPS = 60
ENOUGH = 1e-3
"""Training stops when a step's relative gain is below this."""


@dataclass(frozen=True)
class Head:
    """Weights over prototypes.

    Attributes:
        base: From prototype similarities to logits.
        weights: One row per dimension plus one for the bias, and one column per intent.
    """

    base: Calibration
    weights: npt.NDArray[np.float32]

    def logits(self, vectors: Vectors, examples: Examples) -> npt.NDArray[np.float32]:
        """Return logits of new messages."""
        base = self.base.apply(intent_scores(vectors, examples))
        return np.asarray(base + _features(vectors) @ self.weights, np.float32)

    def for_intents(self, before: tuple[str, ...], now: tuple[str, ...]) -> Head:
        """Return the head for other intents; new ones start with zero weights."""
        number = {name: column for column, name in enumerate(before)}
        weights = np.zeros((len(self.weights), len(now)), np.float32)
        for column, name in enumerate(now):
            if name in number:
                weights[:, column] = self.weights[:, number[name]]
        return Head(self.base, weights)


def _features(vectors: Vectors) -> npt.NDArray[np.float32]:
    return np.hstack([vectors * SCALE, np.ones((len(vectors), 1), np.float32)])


def _fit_of(logits: Matrix, truth: Matrix, multi_label: bool) -> tuple[float, Matrix]:
    """Return the negative log likelihood and the probabilities, sharing one exponential."""
    if multi_label:
        raised = np.exp(-np.abs(logits))
        value = (np.maximum(logits, 0) + np.log1p(raised)).sum() - (logits * truth).sum()
        return float(value), np.where(logits >= 0, 1, raised) / (1 + raised)
    top = logits.max(axis=1, keepdims=True)
    raised = np.exp(logits - top)
    total = raised.sum(axis=1, keepdims=True)
    return float((top + np.log(total)).sum() - (logits * truth).sum()), raised / total


def fit_head(examples: Examples, multi_label: bool) -> Head:
    """Train a head by L-BFGS; with `multi_label`, each intent is an independent decision."""
    from scipy.optimize import minimize

    scores = scores_as_if_new(examples, np.arange(len(examples)), None)
    base = fit_calibration(scores, examples.member, multi_label, usual_slope(scores, examples.member))
    # An intent's only example cannot say how far it is from the prototype; assume an average distance.
    offsets = base.apply(np.where(np.isfinite(scores), scores, np.nanmean(scores))).astype(np.float32)
    features, truth = _features(examples.vectors), examples.member.astype(np.float32)

    shape = features.shape[1], truth.shape[1]

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        # Single precision halves the time of large matrix products.
        weights = flat.reshape(shape).astype(np.float32)
        value, probability = _fit_of(features @ weights + offsets, truth, multi_label)
        gradient = features.T @ (probability - truth) + PENALTY * weights
        return float(value + PENALTY / 2 * (weights**2).sum()), gradient.ravel().astype(np.float64)

    options = {"maxiter": STEPS, "ftol": ENOUGH, "gtol": 0, "maxcor": 6}
    learned = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=options).x
    return Head(base, learned.reshape(shape).astype(np.float32))


@dataclass(frozen=True)
class HeldOut:
    """Scores of examples that the method has not seen."""

    places: Places
    scores: npt.NDArray[np.floating]


@dataclass(frozen=True)
class Choice:
    """The chosen method, and the evidence for it.

    Attributes:
        method: Its name.
        neighbours: The number of neighbours; None unless the method is `knn`.
        scores: Each candidate's score in cross-validation: accuracy, or micro F1 with several labels.
        held_out: The logistic head's scores in cross-validation, used to calibrate it.
    """

    method: str
    neighbours: int | None = None
    scores: dict[str, float] = field(default_factory=dict)
    held_out: HeldOut | None = None


def assign_folds(examples: Examples, most: int = FOLDS) -> Places:
    """Assign folds, spread evenly within each example's first intent; -1 for an intent's only example."""
    # No more folds than examples: each fold must take the same number from every intent, or rivals gain.
    usual = int(np.median(examples.counts))
    count = max(2, min(most if len(examples) <= MANY else FEW_FOLDS, usual))
    rng = np.random.default_rng(0)
    folds = np.full(len(examples), -1)
    first = np.argmax(examples.member, axis=1)
    for column in range(len(examples.intents)):
        places = rng.permutation(np.flatnonzero(first == column))
        folds[places] = (rng.integers(count) + np.arange(len(places))) % count
    folds[(examples.member & (examples.counts == 1)).any(axis=1)] = -1
    return folds


def _held_out_scores(
    examples: Examples, folds: Places, known_in: list[Examples], method: str, neighbours: int | None, multi: bool
) -> HeldOut:
    """Score examples of each fold by what is known without them (`known_in`)."""
    scored = drawn(len(examples), CALIBRATED_ON)
    scored = scored[folds[scored] >= 0]
    scores = np.zeros((len(scored), len(examples.intents)))
    for fold in range(folds.max() + 1):
        rows = folds[scored] == fold
        if not rows.any():
            continue
        known, vectors = known_in[fold], examples.vectors[scored[rows]]
        if method == "logistic":
            scores[rows] = fit_head(known, multi).logits(vectors, known)
        else:
            scores[rows] = class_scores(vectors, known, neighbours)
    return HeldOut(scored, scores)


def _quality(held: HeldOut, examples: Examples, multi: bool) -> float:
    member = examples.member[held.places]
    if multi:
        return best_threshold(held.scores, member)[1]
    return float(member[np.arange(len(member)), held.scores.argmax(axis=1)].mean())


def choose(
    examples: Examples, method: str, multi_label: bool, relearn: Callable[[Examples], Examples] | None = None
) -> Choice:
    """Return the requested method, or the best one on held-out examples; the simpler one wins a tie.

    Args:
        examples: All examples.
        method: A method's name, or `auto`.
        multi_label: Whether a message may have several intents.
        relearn: Returns a part of the examples with what a pool teaches knowing only these.
    """
    if method not in ("auto", *METHODS):
        raise TurnloomError(f"there is no method {method!r}", f"choose auto, {', '.join(METHODS)}")
    folds = assign_folds(examples)
    wanted = [(name, count) for name, count in _candidates(examples) if method in ("auto", name)]
    if (folds < 0).all() or len(examples.intents) == 1:  # Nothing can be held out.
        return Choice(*wanted[0]) if wanted else Choice("prototypes")
    if method == "prototypes":
        return Choice("prototypes")
    known_in = [examples.take(folds != fold) for fold in range(folds.max() + 1)]
    known_in = [relearn(known) for known in known_in] if relearn else known_in
    found: dict[str, float] = {}
    best: tuple[float, Choice] | None = None
    for name, count in wanted:
        held = _held_out_scores(examples, folds, known_in, name, count, multi_label)
        label = name if count is None else f"{name}-{count}"
        found[label] = _quality(held, examples, multi_label)
        if best is None or found[label] > best[0]:
            best = (found[label], Choice(name, count, found, held if name == "logistic" else None))
    assert best is not None
    return best[1]


def _candidates(examples: Examples) -> list[tuple[str, int | None]]:
    """List candidates, simplest first; neighbours up to the size of the largest intent.

    An intent without examples has only a prototype, so all have.
    """
    if not examples.counts.all():
        return [("prototypes", None)]
    most = int(examples.counts.max())
    near: list[tuple[str, int | None]] = [("knn", count) for count in NEIGHBOURS if count == 1 or count < most]
    heads: list[tuple[str, int | None]] = [("logistic", None)] if len(examples.intents) > 1 else []
    return [("prototypes", None), *near, *heads]
