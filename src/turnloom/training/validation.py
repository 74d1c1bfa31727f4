"""Validate during training, within the run's time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

from turnloom.runtime.protocols import Progress

UNKNOWN_SHARE = 0.15
"""The share of a stage's time to reserve for validation before its duration is known."""


class _OutOfTimeError(Exception):
    """Validation has run out of time."""


class Looks:
    """Timed validation of a model, which is abandoned when no time is left."""

    def __init__(self, validate: Callable[[Any], dict[str, float]], on_progress: Progress) -> None:
        self._validate = validate
        self._on_progress = on_progress
        self._longest: float | None = None

    def expected_seconds(self, stage_seconds: float) -> float:
        """Estimate the seconds of a validation: the longest time so far; before the first, a share of the stage."""
        return UNKNOWN_SHARE * stage_seconds if self._longest is None else self._longest

    def score(self, model: Any, left: float = math.inf) -> dict[str, float]:
        """Return the model's scores; a `score` of minus infinity if validation took longer than the seconds left."""
        began = time.monotonic()
        self._on_progress("validating", 0.0, "")
        try:
            with _until(began + left, model):
                found = self._validate(model)
        except _OutOfTimeError:
            found = {"score": -math.inf}
        self._longest = max(self._longest or 0.0, time.monotonic() - began)
        self._on_progress("validating", 1.0, f"score {found['score']:.2f}")
        return found


@contextmanager
def _until(end: float, model: Any) -> Iterator[None]:
    """Raise in the model's next batch after `end`: validation may be any code, but all of it runs the model."""

    def check(*_: Any) -> None:
        if time.monotonic() > end:
            raise _OutOfTimeError

    hooks = [module.register_forward_pre_hook(check) for module in model.children()] if end < math.inf else []
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


class Validation(SentenceEvaluator):
    """A function that scores a model, as a sentence-transformers evaluator."""

    def __init__(self, score: Callable[[Any], dict[str, float]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
        self._score = score
        self.primary_metric = "score"

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the scores; `score` decides which checkpoint is best."""
        del output_path, epoch, steps
        training = model.training
        model.eval()
        try:
            return self._score(model)
        finally:
            model.train(training)
