"""Time budgets: the deadline of a run, each stage's share of it, and a stage's progress in steps or minutes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from turnloom.files import write_whole

CLOCK = "clock.json"
REFIT_SHARE = 0.25
"""The share of a run's time for refitting the heads, encoding included."""


@dataclass
class RunClock:
    """How long a run has taken, before and after interruptions, and when it has to end.

    `began` is when this process began, `before` the seconds that earlier processes of the same run took.
    """

    minutes: float | None = None
    began: float = field(default_factory=time.monotonic)
    before: float = 0.0

    @property
    def seconds(self) -> float:
        """The seconds that the run has taken so far."""
        return self.before + time.monotonic() - self.began

    @property
    def left(self) -> float:
        """The seconds until the run has to end; infinite without a deadline."""
        return math.inf if self.minutes is None else 60 * self.minutes - self.seconds

    def resume(self, work: Path) -> None:
        """Add the time recorded in a run's folder."""
        if (work / CLOCK).exists():
            self.before = json.loads((work / CLOCK).read_text(encoding="utf-8"))["seconds"]

    def note(self, work: Path) -> None:
        """Record the time so far, for a run that resumes this one."""
        write_whole(work / CLOCK, json.dumps({"seconds": self.seconds}) + "\n")

    def window(self, stage: int, stages: int, *, refits: bool) -> Window | None:
        """Return the time window of a stage, from now: stages share equally what is not reserved for refitting."""
        if self.minutes is None:
            return None
        whole = 60 * self.minutes * (1 - REFIT_SHARE if refits else 1)
        return Window(self, self.seconds, whole * (stage + 1) / stages)


@dataclass
class Window:
    """A time window within a run, from one second of the run to another.

    Its last `reserved` seconds are kept for the final validation and for saving.
    """

    clock: RunClock
    begins: float
    ends: float
    reserved: float = 0.0

    @property
    def left(self) -> float:
        """The seconds left, without the reserved ones."""
        return self.ends - self.reserved - self.clock.seconds

    @property
    def progress(self) -> float:
        """The share that has passed, from 0 to 1.

        Example:
            >>> clock = RunClock(minutes=10, before=150)
            >>> round(Window(clock, 100, 300).progress, 2)
            0.25
        """
        whole = self.ends - self.reserved - self.begins
        return min(1.0, (self.clock.seconds - self.begins) / whole) if whole > 0 else 1.0


@dataclass
class Budget:
    """A stage's budget: a number of steps, minutes of training, or a time window within a run.

    Evaluation and saving don't count as minutes, so that runs of a study that validate more often don't train less.
    They do count in a window, which is the time that a user waits.

    Attributes:
        spent: Seconds of training so far, including those before an interruption.
        tokens: The tokens of this process so far, without padding.
        agreed: The first process's progress, if several train together: their clocks differ, and one would stop while
            another waits for it.
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
        """Whether the budget is in time rather than steps."""
        return self.minutes is not None or self.window is not None

    def start_clock(self) -> None:
        """Count training time from now on; no effect if the clock is already running."""
        if self._since is None:
            self._since = time.monotonic()

    def stop_clock(self) -> None:
        """Stop counting training time: for an evaluation, a checkpoint, or at the end."""
        if self._since is not None:
            self.spent += time.monotonic() - self._since
            self._since = None

    @property
    def seconds(self) -> float:
        """The seconds of training so far."""
        return self.spent + (time.monotonic() - self._since if self._since is not None else 0.0)

    def progress(self, step: int) -> float:
        """Return the share that is done, from 0 to 1.

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

    def agree(self, step: int, from_first_process: Callable[[float], float]) -> None:
        """Use the first process's progress in all processes."""
        self.agreed = None
        self.agreed = from_first_process(self.progress(step))


def rate_factor(schedule: Literal["constant", "linear", "onecycle"], warmup: float, progress: float) -> float:
    """Return the factor on the learning rate.

    Example:
        >>> rate_factor("linear", 0.1, 0.05), rate_factor("linear", 0.0, 0.75), rate_factor("onecycle", 0.0, 0.3)
        (0.5, 0.25, 1.0)
    """
    if schedule == "onecycle":
        # Smith and Topin (2019) as in PyTorch: 30 % up from 1/25 of the rate, then down to almost zero, by cosines.
        if progress < 0.3:
            return _between(1 / 25, 1.0, progress / 0.3)
        return _between(1.0, 1 / 250_000, (progress - 0.3) / 0.7)
    if progress < warmup:
        return progress / warmup
    return 1.0 if schedule == "constant" else (1 - progress) / (1 - warmup)


def _between(start: float, end: float, part: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2
