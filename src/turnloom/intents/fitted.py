"""A fitted classifier as one immutable value, so that a service can replace it while others read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError
from turnloom.intents.calibration import Calibration, best_threshold, fit_calibration, probabilities, usual_slope
from turnloom.intents.evidence import Evidence, LeftOut
from turnloom.intents.examples import Examples, Turns, drawn
from turnloom.intents.methods import CALIBRATED_ON, Choice, Head, choose, fit_head
from turnloom.intents.pool import Pool, familiar_messages
from turnloom.intents.scope import Scope, Source, familiarity, fit_scope, left_out_familiarity, rival_familiarity
from turnloom.intents.scores import intent_scores, nearest_scores, scores_as_if_new
from turnloom.runtime.protocols import Vectors

Method = Literal["auto", "prototypes", "knn", "logistic"]
Floats = npt.NDArray[np.float64]
ENOUGH_LEFT_OUT = 50
"""With fewer left-out examples, the threshold comes from the pool's messages."""


@dataclass(frozen=True)
class Options:
    """The user's settings; see `IntentClassifier`."""

    method: Method = "auto"
    multi_label: bool = False
    context_turns: int = 0
    false_reject_rate: float = 0.1
    false_accept_rate: float | None = None
    accept_at: float = 0.5
    frequencies: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        for name in ("false_reject_rate", "false_accept_rate", "accept_at"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1:
                raise TurnloomError(f"{name} is {value}", "give a share from 0 to less than 1")


@dataclass(frozen=True)
class Unlabelled:
    """Messages known to be in scope, or known to be out of scope."""

    messages: tuple[Turns, ...] = ()
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 1), np.float32))

    def familiarity(self, examples: Examples) -> Floats:
        """Return how familiar the messages are."""
        return familiarity(self.vectors, self.vectors @ examples.vectors.T, examples)

    def plus(self, more: Unlabelled) -> Unlabelled:
        """Return these messages and more."""
        rows = [each.vectors for each in (self, more) if each.messages]
        return Unlabelled(self.messages + more.messages, np.vstack(rows)) if rows else self


@dataclass(frozen=True)
class Fitted:
    """Everything that an answer is computed from.

    Attributes:
        examples: The labelled messages.
        options: The user's settings.
        choice: The method, and each candidate's score in cross-validation.
        head: The head of the logistic method.
        calibration: From scores (or the head's logits) to logits.
        label_threshold: With several labels, the minimum probability of an accepted intent.
        scope: The threshold above which a message is in scope.
        held_out: In-scope messages that set the threshold, if any.
        outside: Out-of-scope messages, if any.
        evidence: Names, and what a pool taught.
    """

    examples: Examples
    options: Options
    choice: Choice
    head: Head | None
    calibration: Calibration
    label_threshold: float
    scope: Scope
    held_out: Unlabelled
    outside: Unlabelled
    evidence: Evidence = field(default_factory=Evidence)

    def probabilities(self, vectors: Vectors, similarities: npt.NDArray[np.float32]) -> Floats:
        """Return the calibrated probability of each intent, given that the message is in scope."""
        if self.head is not None:
            scores = self.head.logits(vectors, self.examples)
        elif self.choice.neighbours is None:
            scores = intent_scores(vectors, self.examples)
        else:
            scores = nearest_scores(similarities, self.examples, self.choice.neighbours)
        return probabilities(self.calibration.apply(scores), self.options.multi_label)


def _weights(examples: Examples, frequencies: Mapping[str, float] | None) -> Floats:
    """Return the weight of each example, one on average: uniform, or matching the given intent frequencies."""
    if frequencies is None:
        return np.ones(len(examples))
    known = [float(frequencies[name]) for name in examples.intents if name in frequencies]
    if not sum(known) > 0 or min(known) < 0:
        raise TurnloomError("frequencies name no intent that occurs", "name the intents and how often they occur")
    usual = sum(known) / len(known)  # Intents that were added later may have no frequency.
    shares = np.array([float(frequencies.get(name, usual)) for name in examples.intents])
    weights = examples.member @ (shares / np.maximum(examples.counts, 1))
    return np.asarray(weights * len(weights) / weights.sum(), np.float64)


def _calibrated(
    examples: Examples, choice: Choice, options: Options, head: Head | None, left_out: LeftOut | None = None
) -> tuple[Calibration, float]:
    """Fit the calibration and the label threshold on examples that the scoring has not seen."""
    scores: npt.NDArray[np.floating]
    if left_out is not None and choice.method == "prototypes":
        places, scores = left_out.places, left_out.scores
        usual = usual_slope(scores, examples.member[places])
    elif head is not None and choice.held_out is not None:
        places, scores, usual = choice.held_out.places, choice.held_out.scores, 1.0
    elif head is not None:  # Every intent has one example, so nothing can be held out.
        return Calibration(), 0.5
    else:
        places = drawn(len(examples), CALIBRATED_ON)
        scores = scores_as_if_new(examples, places, choice.neighbours)
        usual = usual_slope(scores, examples.member[places])
    member = examples.member[places]
    weights = _weights(examples, options.frequencies)[places]
    calibration = fit_calibration(scores, member, options.multi_label, usual, weights)
    if not options.multi_label or not np.isfinite(scores).any():
        return calibration, 0.5
    known = np.where(np.isfinite(scores), probabilities(calibration.apply(np.nan_to_num(scores)), True), np.nan)
    return calibration, best_threshold(known, member)[0]


def fit(
    examples: Examples,
    options: Options,
    held_out: Unlabelled,
    outside: Unlabelled,
    evidence: Evidence | None = None,
    pool: Pool | None = None,
) -> Fitted:
    """Learn from the pool, choose the method, train its head, calibrate, and set the threshold."""
    evidence, left_out = evidence or Evidence(), None
    if pool is not None:
        pool = pool.without(examples.vectors)
        evidence, left_out = evidence.learn(pool, examples)
    examples = evidence.applied(examples)
    trusted = pool if evidence.taught else None
    relearn = None if trusted is None else partial(evidence.relearned, trusted)
    choice = choose(examples, options.method, options.multi_label, relearn)
    head = fit_head(examples, options.multi_label) if choice.method == "logistic" else None
    calibration, label_threshold = _calibrated(examples, choice, options, head, left_out)
    scope = _scope(examples, options, held_out, outside, evidence, left_out, trusted)
    return Fitted(examples, options, choice, head, calibration, label_threshold, scope, held_out, outside, evidence)


def _scope(
    examples: Examples,
    options: Options,
    held_out: Unlabelled,
    outside: Unlabelled,
    evidence: Evidence,
    left_out: LeftOut | None = None,
    pool: Pool | None = None,
) -> Scope:
    source: Source
    weights: Floats
    if held_out.messages:
        in_scope, source = held_out.familiarity(examples), "held-out messages"
        weights = np.ones(len(in_scope))
    elif pool is not None and (left_out is None or len(left_out.places) < ENOUGH_LEFT_OUT):
        in_scope, source = np.asarray(evidence.familiarity_of(pool, examples), np.float64), "pool"
        # Not by how clear its intent is: unclear messages are in scope, too, and less familiar.
        weights = np.asarray(familiar_messages(pool, examples), np.float64)
    elif not len(examples):
        in_scope, source = rival_familiarity(examples), "names"
        weights = np.ones(len(in_scope))
    elif left_out is not None:
        in_scope, source = np.asarray(left_out.familiarity, np.float64), "left-out examples"
        weights = _weights(examples, options.frequencies)[left_out.places]
    else:
        places = drawn(len(examples), CALIBRATED_ON)
        counts = _weights(examples, options.frequencies)[places]
        in_scope, weights, met = left_out_familiarity(examples, places, counts)
        source = "left-out examples" if met else "single examples"
    return fit_scope(
        in_scope,
        weights,
        source,
        false_reject_rate=options.false_reject_rate,
        false_accept_rate=options.false_accept_rate,
        outside=outside.familiarity(examples) if outside.messages else None,
    )


def refit(fitted: Fitted, options: Options) -> Fitted:
    """Choose the method, train and calibrate again; what a pool taught stays, and so does a threshold set with it."""
    again = fit(fitted.examples, options, fitted.held_out, fitted.outside, fitted.evidence)
    return replace(again, scope=fitted.scope) if fitted.scope.source == "pool" else again


def with_examples(fitted: Fitted, examples: Examples) -> Fitted:
    """Return the same classifier with other examples, without training.

    Prototypes, neighbours, thresholds and (without a head) calibration follow the examples. A head keeps what it
    learned and scores new intents by their prototypes. What a pool taught stays as it is, and so do the threshold and
    the calibration that were measured with it.
    """
    examples = fitted.evidence.applied(examples)
    head = fitted.head and fitted.head.for_intents(fitted.examples.intents, examples.intents)
    if fitted.evidence.taught:
        return replace(fitted, examples=examples, head=head)
    calibration, label_threshold = fitted.calibration, fitted.label_threshold
    if head is None:
        calibration, label_threshold = _calibrated(examples, fitted.choice, fitted.options, None)
    scope = _scope(examples, fitted.options, fitted.held_out, fitted.outside, fitted.evidence)
    return replace(
        fitted, examples=examples, head=head, calibration=calibration, label_threshold=label_threshold, scope=scope
    )
