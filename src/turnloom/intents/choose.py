"""Prototypes, neighbours or a logistic head: chosen by cross-validation, all on the same folds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError
from turnloom.intents.calibration import best_threshold
from turnloom.intents.examples import Examples
from turnloom.intents.head import fit_head
from turnloom.intents.scores import class_scores

__all__ = ["CALIBRATED_ON", "METHODS", "Choice", "HeldOut", "choose", "drawn"]

Places = npt.NDArray[np.int64]
METHODS = ("prototypes", "knn", "logistic")
NEIGHBOURS = (1, 3, 5)
FOLDS, FEW_FOLDS, MANY = 5, 2, 20_000
CALIBRATED_ON = 4_000
"""Examples that are scored for a choice, a calibration or a threshold, at most: more would not change it."""


@dataclass(frozen=True)
class HeldOut:
    """Scores of examples that the method had not seen."""

    places: Places
    scores: npt.NDArray[np.floating]


@dataclass(frozen=True)
class Choice:
    """The method, and what spoke for it.

    Attributes:
        method: Its name.
        neighbours: How many it looks at; None unless it is `knn`.
        scores: What each candidate got in cross-validation: accuracy, or micro F1 with several labels.
        held_out: The logistic head's scores in cross-validation, from which it is calibrated.
    """

    method: str
    neighbours: int | None = None
    scores: dict[str, float] = field(default_factory=dict)
    held_out: HeldOut | None = None


def drawn(count: int, most: int) -> Places:
    """The places of all, or of so many, drawn once and for all."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))


def _folds(examples: Examples) -> Places:
    """A fold for each example, spread evenly within its first intent; -1 for the only example of an intent."""
    # No more folds than examples: every intent shall lose as many of them in each fold, or its rivals gain.
    usual = int(np.median(examples.counts))
    count = max(2, min(FOLDS if len(examples) <= MANY else FEW_FOLDS, usual))
    rng = np.random.default_rng(0)
    folds = np.full(len(examples), -1)
    first = np.argmax(examples.member, axis=1)
    for column in range(len(examples.intents)):
        places = rng.permutation(np.flatnonzero(first == column))
        folds[places] = (rng.integers(count) + np.arange(len(places))) % count
    folds[(examples.member & (examples.counts == 1)).any(axis=1)] = -1
    return folds


def _held_out_scores(examples: Examples, folds: Places, method: str, neighbours: int | None, multi: bool) -> HeldOut:
    scored = drawn(len(examples), CALIBRATED_ON)
    scored = scored[folds[scored] >= 0]
    scores = np.zeros((len(scored), len(examples.intents)))
    for fold in range(folds.max() + 1):
        rows = folds[scored] == fold
        if not rows.any():
            continue
        known, vectors = examples.take(folds != fold), examples.vectors[scored[rows]]
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


def choose(examples: Examples, method: str, multi_label: bool) -> Choice:
    """The method that did best on held-out examples, the simpler one of equals; or the one that was asked for.

    Args:
        examples: What is known.
        method: `auto` or a name.
        multi_label: Whether a message may have several intents.
    """
    if method not in ("auto", *METHODS):
        raise TurnloomError(f"there is no method {method!r}", f"choose auto, {', '.join(METHODS)}")
    folds = _folds(examples)
    wanted = [(name, count) for name, count in _candidates(examples) if method in ("auto", name)]
    if (folds < 0).all() or len(examples.intents) == 1:  # Nothing can be held out.
        return Choice(*wanted[0]) if wanted else Choice("prototypes")
    if method == "prototypes":
        return Choice("prototypes")
    found: dict[str, float] = {}
    best: tuple[float, Choice] | None = None
    for name, count in wanted:
        held = _held_out_scores(examples, folds, name, count, multi_label)
        label = name if count is None else f"{name}-{count}"
        found[label] = _quality(held, examples, multi_label)
        if best is None or found[label] > best[0]:
            best = (found[label], Choice(name, count, found, held if name == "logistic" else None))
    assert best is not None
    return best[1]


def _candidates(examples: Examples) -> list[tuple[str, int | None]]:
    """From the simplest on; neighbours up to what the largest intent has."""
    most = int(examples.counts.max())
    near: list[tuple[str, int | None]] = [("knn", count) for count in NEIGHBOURS if count == 1 or count < most]
    heads: list[tuple[str, int | None]] = [("logistic", None)] if len(examples.intents) > 1 else []
    return [("prototypes", None), *near, *heads]
