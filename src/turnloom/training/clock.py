"""The time of a whole run: one deadline that views, training, validation, refitting and saving share."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass, field
from pathlib import Path

from turnloom.files import write_whole

__all__ = ["REFIT_SHARE", "RunClock", "Window"]

CLOCK = "clock.json"
REFIT_SHARE = 0.25
"""How much of a run's time refitting the heads gets, encoding included."""


@dataclass
class RunClock:
    """How long a run has taken, over all of its processes one after another, and when it has to end.

    Attributes:
        minutes: How long it may take, everything included; none for as long as the recipe says.
        began: When this process began, by `time.monotonic`.
        before: Seconds that earlier processes of the same run have taken.
    """

    minutes: float | None = None
    began: float = field(default_factory=time.monotonic)
    before: float = 0.0

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return self.before + time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds until it has to end; infinite without a deadline."""
        return math.inf if self.minutes is None else 60 * self.minutes - self.seconds

    def resume(self, work: Path) -> None:
        """Add the time that was noted in a run's folder."""
        if (work / CLOCK).exists():
            self.before = json.loads((work / CLOCK).read_text(encoding="utf-8"))["seconds"]

    def note(self, work: Path) -> None:
        """Write down the time so far, for a run that goes on from this one."""
        write_whole(work / CLOCK, json.dumps({"seconds": self.seconds}) + "\n")

    def window(self, stage: int, stages: int, *, refits: bool) -> Window | None:
        """The time of one stage, from now: it ends at its equal part of what is not kept for refitting."""
        if self.minutes is None:
            return None
        whole = 60 * self.minutes * (1 - REFIT_SHARE if refits else 1)
        return Window(self, self.seconds, whole * (stage + 1) / stages)


@dataclass
class Window:
    """A part of a run's time.

    Attributes:
        clock: The run's clock.
        begins: Second of the run in which it begins.
        ends: Second in which it ends.
        reserved: Seconds at its end that are kept for other things: the last look at validation, and saving.
    """

    clock: RunClock
    begins: float
    ends: float
    reserved: float = 0.0

    @property
    def left(self) -> float:
        """Seconds left, without what is reserved."""
        return self.ends - self.reserved - self.clock.seconds

    @property
    def progress(self) -> float:
        """The part that has passed, from 0 to 1.

        Example:
            >>> clock = RunClock(minutes=10, before=150)
            >>> round(Window(clock, 100, 300).progress, 2)
            0.25
        """
        whole = self.ends - self.reserved - self.begins
        return min(1.0, (self.clock.seconds - self.begins) / whole) if whole > 0 else 1.0
