"""What commands over messages share: reading them from a file or a pipe, and writing JSON lines."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from turnloom.cli.console import count_progress

if TYPE_CHECKING:
    from turnloom.intents import LabelledMessage

__all__ = ["BATCH", "batches", "counting", "messages_from", "write_lines"]

BATCH = 256
"""Messages at a time: enough for the encoder, few enough that a pipe sees results soon."""


def messages_from(source: str, format: str | None) -> Iterator[LabelledMessage]:
    """Messages of a file, or of standard input for `-`."""
    from turnloom.intents import read_messages

    return read_messages(sys.stdin if source == "-" else Path(source), format=format)


def batches(messages: Iterable[LabelledMessage]) -> Iterator[list[LabelledMessage]]:
    """Some messages at a time."""
    rest = iter(messages)
    while batch := list(itertools.islice(rest, BATCH)):
        yield batch


@contextmanager
def counting(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that counts messages, with their rate; call what it gives with how many are done."""
    with count_progress() as progress:
        bar = progress.add_task(what, total=total, note="")

        def count(more: int) -> None:
            progress.advance(bar, more)
            speed = progress.tasks[bar].speed
            progress.update(bar, note=f"{speed:,.0f} a second" if speed else "")

        yield count


def write_lines(rows: Iterable[dict[str, Any]], out: TextIO) -> None:
    """One JSON object a line, at once."""
    for row in rows:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
    out.flush()
