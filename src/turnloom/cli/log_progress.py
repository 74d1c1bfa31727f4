"""A progress bar that writes a line now and then where no bar can be drawn: in a log, a pipe, or a container."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task, TaskID

SECONDS = 30.0
"""Between two lines, and before the first: what is done by then needs none."""


class LogProgress(Progress):
    """Draws a bar on a terminal, and elsewhere prints each half minute how far a step is and when it will be done."""

    def __init__(self, *columns: str | ProgressColumn, console: Console) -> None:
        super().__init__(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._next = time.monotonic() + SECONDS

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Change a step, and say so if it is time."""
        super().update(task_id, **changes)
        self._log(task_id)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """Add to what is done of a step, and say so if it is time."""
        super().advance(task_id, advance)
        self._log(task_id)

    def _log(self, task_id: TaskID) -> None:
        if not self.disable or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + SECONDS
        self.console.print(line_of(self._tasks[task_id]), markup=False)


def line_of(task: Task) -> str:
    """Return what a bar would show, in words: `encoding: 34 %, 2:10 left`."""
    parts = [f"{task.percentage:.0f} %" if task.total else f"{task.completed:,.0f} done"]
    if (left := task.time_remaining) is not None:
        parts.append(f"{left // 60:.0f}:{left % 60:02.0f} left")
    return f"{task.description}: " + ", ".join([*parts, *filter(None, [task.fields.get("note", "")])])
