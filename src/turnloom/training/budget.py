"""How far a stage is, in steps or in time, and what that means for the learning rate."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from turnloom.objectives.gathering import of_first
from turnloom.training.clock import Window

if TYPE_CHECKING:
    import torch

__all__ = ["Budget", "rate_factor"]


@dataclass
class Budget:
    """A number of steps, of minutes of training, or a part of the time of a whole run.

    Evaluation and saving do not count as minutes: arms of a study that look at validation more often do not train less.
    They do count in a window: it is the time of somebody who waits.

    Attributes:
        steps: How many steps, unless minutes or a window are given.
        minutes: How many minutes instead.
        window: The part of the run's time instead.
        spent: Seconds of training so far, those before an interruption included.
        tokens: Tokens of this process so far, padding left out.
        agreed: What the first process says is done of the time, where several train: their own clocks differ, and one
            would stop while another waits for it.
    """

    steps: int
    minutes: float | None = None
    window: Window | None = None
    spent: float = 0.0
    tokens: int = 0
    agreed: float | None = None
    _since: float | None = None

    @property
    def timed(self) -> bool:
        """Whether a clock decides when it ends."""
        return self.minutes is not None or self.window is not None

    def start_clock(self) -> None:
        """Training goes on; a clock that runs already is left alone."""
        if self._since is None:
            self._since = time.monotonic()

    def stop_clock(self) -> None:
        """Training pauses: for an evaluation, a checkpoint, or at the end."""
        if self._since is not None:
            self.spent += time.monotonic() - self._since
            self._since = None

    @property
    def seconds(self) -> float:
        """Seconds of training so far."""
        return self.spent + (time.monotonic() - self._since if self._since is not None else 0.0)

    def progress(self, step: int) -> float:
        """The part that is done, from 0 to 1.

        Example:
            >>> Budget(steps=200).progress(50)
            0.25
        """
        if self.agreed is not None and self.timed:
            return self.agreed
        if self.window is not None:
            return self.window.progress
        done = step / self.steps if self.minutes is None else self.seconds / (60 * self.minutes)
        return min(done, 1.0)

    def agree(self, step: int, device: torch.device) -> None:
        """Take the first process's progress for that of all."""
        self.agreed = None
        self.agreed = of_first(self.progress(step), device)


def rate_factor(schedule: Literal["constant", "linear", "onecycle"], warmup: float, progress: float) -> float:
    """What the learning rate is multiplied with.

    Example:
        >>> rate_factor("linear", 0.1, 0.05), rate_factor("linear", 0.0, 0.75), rate_factor("onecycle", 0.0, 0.3)
        (0.5, 0.25, 1.0)
    """
    if schedule == "onecycle":
        # Smith and Topin (2019) as in PyTorch: 30 % up from 1/25 of the rate, then down to almost nothing, by cosines.
        if progress < 0.3:
            return _between(1 / 25, 1.0, progress / 0.3)
        return _between(1.0, 1 / 250_000, (progress - 0.3) / 0.7)
    if progress < warmup:
        return progress / warmup
    return 1.0 if schedule == "constant" else (1 - progress) / (1 - warmup)


def _between(start: float, end: float, part: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2
