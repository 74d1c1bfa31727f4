"""Validation while a run trains, within the time that the run has."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator

from turnloom.runtime.protocols import Progress

UNKNOWN_SHARE = 0.15
"""How much of a stage's time is kept for a look of which nobody knows yet how long it takes."""


class _OutOfTimeError(Exception):
    """The model is asked for more than there is time for."""


class Looks:
    """A score of a model, timed, and given up when there is no time left."""

    def __init__(self, validate: Callable[[Any], dict[str, float]], on_progress: Progress) -> None:
        self._validate = validate
        self._on_progress = on_progress
        self._longest: float | None = None

    def expected_seconds(self, stage_seconds: float) -> float:
        """How long a look will take: as long as the longest so far; before the first, a part of the stage."""
        return UNKNOWN_SHARE * stage_seconds if self._longest is None else self._longest

    def score(self, model: Any, left: float = math.inf) -> dict[str, float]:
        """The model's scores; a `score` of minus infinity if they took longer than the seconds that are left."""
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
    """Raise from the model's next batch after a time: validation is somebody else's code, but all of it runs models."""

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
    """A callable that scores a model, as an evaluator of sentence-transformers."""

    def __init__(self, score: Callable[[Any], dict[str, float]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
        self._score = score
        self.primary_metric = "score"

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Its scores; `score` decides which checkpoint is best."""
        del output_path, epoch, steps
        training = model.training
        model.eval()
        try:
            return self._score(model)
        finally:
            model.train(training)
