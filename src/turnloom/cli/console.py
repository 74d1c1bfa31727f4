"""What all commands share: one console, one way to fail, one progress bar."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = [
    "bytes_progress",
    "command_line",
    "console",
    "count_progress",
    "fail",
    "note",
    "parse_mapping",
    "polling",
    "share_progress",
    "split_names",
    "warn",
    "write_text",
]

PIPE_WIDTH = 120
"""A pipe or a file has no width of its own; tables get this much, so that no number is cut."""

console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_WIDTH)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)


def fail(error: TurnloomError) -> None:
    """Say on one line what is wrong and what fixes it."""
    _errors.print("[red]error:[/] ", end="")
    _errors.print(f"{error.problem}. Fix: {error.fix.rstrip('.')}", markup=False)


def warn(text: str) -> None:
    """Say on standard error what is probably wrong, though the command goes on."""
    _errors.print("[bold yellow]warning:[/] ", end="")
    _errors.print(text, markup=False)


def note(text: str) -> None:
    """Say something beside the output: on standard error, so that standard output stays clean for pipes."""
    _errors.print(text, markup=False)


def write_text(path: Path, text: str) -> None:
    """Write a file, in a folder that may not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def command_line() -> str:
    """The command as it was typed, for manifests."""
    return shlex.join(["turnloom", *sys.argv[1:]])


def parse_mapping(text: str | None) -> dict[str, str]:
    """``dialogue_id=conv,text=body`` as a dictionary."""
    pairs = [part.partition("=") for part in (text or "").split(",") if part.strip()]
    wrong = next((field for field, equals, column in pairs if not equals or not column.strip()), None)
    if wrong is not None:
        raise TurnloomError(f"--map does not understand {wrong!r}", "write it as --map dialogue_id=COLUMN,text=COLUMN")
    return {field.strip(): column.strip() for field, _, column in pairs}


def split_names(text: str) -> list[str]:
    """``dse, sgd`` as a list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def bytes_progress() -> Progress:
    """A bar with amount, rate and time left; silent when the output is not a terminal."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=_errors,
        transient=True,
        disable=not _errors.is_terminal,
    )


def count_progress() -> Progress:
    """A bar that counts things, with time passed and left; silent when the output is not a terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=_errors,
        transient=True,
        disable=not _errors.is_terminal,
    )


@contextmanager
def share_progress() -> Iterator[Callable[[str, float, str], None]]:
    """A bar for the part of a step that is done; call what it gives with the step, the part and a note."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=_errors, transient=True, disable=not _errors.is_terminal) as progress:
        bars: dict[str, TaskID] = {}

        def show(step: str, part: float, note: str) -> None:
            if step not in bars:
                bars[step] = progress.add_task(step, total=1.0, note="")
            progress.update(bars[step], completed=part, note=note)

        yield show


@contextmanager
def polling(update: Callable[[], None], seconds: float = 0.3) -> Iterator[None]:
    """Call `update` every so often, from a thread, while the body runs."""
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(seconds):
            update()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
