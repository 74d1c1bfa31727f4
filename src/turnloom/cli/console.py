"""Shared by all commands: console, errors, progress bars, options, and reading and writing messages."""

from __future__ import annotations

import itertools
import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from rich.progress import Progress, ProgressColumn, TaskID

    from turnloom.intents import LabelledMessage
    from turnloom.runtime import Encoder, Scorer

BATCH = 256
"""Messages per batch: enough for the encoder, few enough that a pipe sees results soon."""
PIPE_WIDTH = 120
"""A pipe or a file has no width; tables get this much, so that no number is cut."""

console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_WIDTH)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)

# Options and arguments that several commands share.
LOGS = typer.Argument(..., help="A dialogue table's folder; or logs or names of public sets.")
SPLIT = typer.Option("all", help="For public sets: train, dev, test or all.")
MAPPING = typer.Option(None, "--map", help="For tables of rows: dialogue_id=COLUMN,text=COLUMN,…")
TABLES = typer.Argument(..., help="Folders of dialogue tables, as 'turnloom prepare' writes them.")
MESSAGES = typer.Argument("-", help="CSV, TSV, JSONL, JSON or one message per line; - for standard input.")
FORMAT = typer.Option(None, help="jsonl, json, csv, tsv or txt; recognised if not given.")
BF16 = typer.Option(
    False, help="Encode in bfloat16: faster on CPUs with AMX, slower on others; differences around 0.001."
)

VECTORS = typer.Option(None, help="A folder of 'turnloom vectors': what it holds is not encoded again.")


def say(text: str) -> None:
    """Print a line without markup: user-chosen names may contain brackets."""
    console.print(text, markup=False)


def fail(error: TurnloomError) -> None:
    """Print on one line what is wrong and how to fix it."""
    _errors.print("[red]error:[/] ", end="")
    note(f"{error.problem}. Fix: {error.fix.rstrip('.')}")


def warn(text: str) -> None:
    """Warn on standard error; the command continues."""
    _errors.print("[bold yellow]warning:[/] ", end="")
    note(text)


def note(text: str) -> None:
    """Print a note on standard error, so that standard output stays clean for pipes."""
    _errors.print(text, markup=False)


def new_table(title: str | None = None, **options: Any) -> Table:
    """Create a table in the style of all commands."""
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, **options)


def write_text(path: Path, text: str) -> None:
    """Write a file, creating its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def command_line() -> str:
    """Return the command as it was typed, for manifests."""
    return shlex.join(["turnloom", *sys.argv[1:]])


def parse_mapping(text: str | None) -> dict[str, str]:
    """Parse ``dialogue_id=conv,text=body`` into a dictionary."""
    pairs = [pair.partition("=") for pair in (text or "").split(",") if pair.strip()]
    wrong = next((field for field, equals, column in pairs if not equals or not column.strip()), None)
    if wrong is not None:
        raise TurnloomError(f"--map does not understand {wrong!r}", "write it as --map dialogue_id=COLUMN,text=COLUMN")
    return {field.strip(): column.strip() for field, _, column in pairs}


def split_names(text: str) -> list[str]:
    """Parse ``dse, sgd`` into a list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def wrong_option(error: ValidationError, command: str, whole: str = "") -> TurnloomError:
    """Explain the first problem of a command's options; `whole` names the option if they do not fit each other."""
    problem = error.errors()[0]
    option = "-".join(map(str, problem["loc"])).replace("_", "-") or whole
    return TurnloomError(f"--{option}: {problem['msg'].removeprefix('Value error, ')}", f"see {command} --help")


def load_model(folder: Path, *, bf16: bool = False) -> Encoder | Scorer:
    """Load the encoder or re-ranker of a folder."""
    from turnloom.runtime.encoder import load_encoder
    from turnloom.runtime.scorer import is_cross_encoder, load_scorer

    return load_scorer(folder, bf16=bf16) if is_cross_encoder(folder) else load_encoder(folder, bf16=bf16)


def messages_from(source: str, format: str | None) -> Iterator[LabelledMessage]:
    """Read messages from a file, or from standard input for `-`."""
    from turnloom.intents import read_messages

    return read_messages(sys.stdin if source == "-" else Path(source), format=format)


def batches(messages: Iterable[LabelledMessage]) -> Iterator[list[LabelledMessage]]:
    """Yield messages in batches."""
    rest = iter(messages)
    while batch := list(itertools.islice(rest, BATCH)):
        yield batch


def write_lines(rows: Iterable[dict[str, Any]], out: TextIO) -> None:
    """Write one JSON object per line, and flush."""
    for row in rows:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
    out.flush()


def _bar(*columns: ProgressColumn) -> Progress:
    """Create a bar on standard error; a line now and then if that is not a terminal."""
    from rich.progress import BarColumn, TextColumn

    from turnloom.cli.log_progress import LogProgress

    shown = (TextColumn("{task.description}"), BarColumn(), *columns, TextColumn("{task.fields[note]}"))
    return LogProgress(*shown, console=_errors)


def bytes_progress() -> Progress:
    """A bar with amount, rate and time left."""
    from rich.progress import DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

    return _bar(DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())


def count_progress() -> Progress:
    """A bar that counts items, with time passed and left."""
    from rich.progress import MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

    return _bar(MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())


@contextmanager
def counting(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar that counts messages, with their rate; call the result with the number done."""
    with count_progress() as progress:
        bar = progress.add_task(what, total=total, note="")

        def count(more: int) -> None:
            progress.advance(bar, more)
            speed = progress.tasks[bar].speed
            progress.update(bar, note=f"{speed:,.0f} a second" if speed else "")

        yield count


@contextmanager
def share_progress() -> Iterator[Callable[[str, float, str], None]]:
    """A bar per step; call the result with the step, the share done, and a note."""
    from rich.progress import TaskProgressColumn, TimeElapsedColumn, TimeRemainingColumn

    with _bar(TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn()) as progress:
        bars: dict[str, TaskID] = {}

        def show(step: str, share: float, note: str) -> None:
            if step not in bars:
                bars[step] = progress.add_task(step, total=1.0, note="")
            progress.update(bars[step], completed=share, note=note)

        yield show


@contextmanager
def polling(update: Callable[[], None], seconds: float = 0.3) -> Iterator[None]:
    """Call `update` periodically, from a thread, while the body runs."""
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
