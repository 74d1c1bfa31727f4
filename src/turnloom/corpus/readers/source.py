"""Log files as a Daft source: one task per file, streamed as batches of dialogues.

Each task writes its rejections and counts to small files beside the table, named after the task. A task that runs again
(as on Ray when a worker is lost) overwrites the same files, so nothing is counted twice.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from turnloom.corpus.engine import daft
from turnloom.corpus.readers import ReadOptions, find_reader
from turnloom.corpus.readers.fields import AGENT, BOT, CUSTOMER
from turnloom.corpus.readers.location import READ_ERRORS, open_raw, unpacked
from turnloom.corpus.readers.logfile import UTF_8, Parsed, Rejection, as_utf8
from turnloom.corpus.readers.times import TimeReader
from turnloom.corpus.schema import ARROW_SCHEMA, Dialogue, dialogues_to_arrow
from turnloom.corpus.table import falls_into

if TYPE_CHECKING:
    from daft.io.pushdowns import Pushdowns

BATCH_DIALOGUES = 4_000
BATCH_TURNS = 40_000
_PIECES = pa.schema([*ARROW_SCHEMA, ("order", pa.list_(pa.int64())), ("lines", pa.list_(pa.int64()))])
"""Dialogues from tables may come in pieces, with the columns needed to join them."""


def comes_in_pieces(log_format: str) -> bool:
    """Whether a format's dialogues may be scattered over a file or several, so that `convert` must join them."""
    return bool(getattr(find_reader(log_format), "pieces", False))


@dataclass(frozen=True)
class LogFile:
    """A file to read, its format, and the user's settings."""

    path: str
    format: str
    options: ReadOptions
    keep: tuple[str, int, int] | None = None
    """The salt and percentages of a hash split: dialogues whose bucket is in [from, to) are kept."""
    encoding: str = UTF_8


@dataclass
class FileCounts:
    """The counts of one file so far."""

    path: str
    source: str
    format: str
    records: int = 0
    rejected: int = 0
    dialogues: int = 0
    turns: int = 0
    dropped_turns: int = 0
    unread_times: int = 0
    unread_time: str = ""
    """The first unreadable time."""
    assumed_dates: int = 0
    """Dates whose day and month could be swapped, with nothing to decide."""
    assumed_date: str = ""
    out_of_split: int = 0
    bytes_read: int = 0
    done: bool = False

    @property
    def in_pieces(self) -> bool:
        """Whether `dialogues` counts pieces of dialogues."""
        return comes_in_pieces(self.format)


def name_roles(dialogue: Dialogue, agents: frozenset[str]) -> None:
    """Replace the names of speakers by their roles, if the user said who the agents are; bots stay bots."""
    for turn in dialogue.turns if agents else ():
        if turn.speaker != BOT:
            turn.speaker = AGENT if turn.speaker in agents else CUSTOMER


class _SideFiles:
    """The files for one task's counts and rejections."""

    def __init__(self, folder: Path, task: int, counts: FileCounts) -> None:
        self.counts = counts
        self._counts_path = folder / f"{task:06}.counts.json"
        self._rejected_path = folder / f"{task:06}.rejected.jsonl"
        self._rejected: IO[str] | None = None
        self._saved = 0.0

    def reject(self, rejection: Rejection) -> None:
        if self._rejected is None:
            self._rejected = self._rejected_path.open("w", encoding="utf-8")
        line = {"file": self.counts.path, **asdict(rejection)}
        self._rejected.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.counts.records += 1
        self.counts.rejected += 1

    def save(self, *, done: bool = False) -> None:
        if not done and time.monotonic() - self._saved < 0.5:
            return
        self._saved = time.monotonic()
        self.counts.done = done
        temporary = self._counts_path.with_suffix(".tmp")
        temporary.write_text(json.dumps(asdict(self.counts)), encoding="utf-8")
        temporary.rename(self._counts_path)
        if done and self._rejected is not None:
            self._rejected.close()


def read_counts(folder: Path) -> list[FileCounts]:
    """Return the tasks' counts so far, in file order."""
    paths = sorted(folder.glob("*.counts.json"))
    return [FileCounts(**json.loads(path.read_text(encoding="utf-8"))) for path in paths]


def read_entries(file: LogFile) -> Generator[Parsed | Rejection, None, None]:
    """Yield what a file's reader makes of it; raises one of READ_ERRORS if the file is broken."""
    with open_raw(file.path) as raw, unpacked(file.path, raw) as packed:
        yield from find_reader(file.format).read(as_utf8(packed, file.encoding), file.path, file.options)


def _entries(file: LogFile, side: _SideFiles) -> Iterator[Parsed]:
    """Yield the file's dialogues; record rejections and a truncated file on the way."""
    raw = open_raw(file.path)
    last_line = 0
    times = TimeReader(file.options.times.order, file.options.times.off)  # With this task's own counts.
    options = replace(file.options, times=times)
    try:
        with raw, unpacked(file.path, raw) as packed:
            stream = as_utf8(packed, file.encoding)
            for entry in find_reader(file.format).read(stream, file.path, options):
                if isinstance(entry, Rejection):
                    last_line = entry.line
                    side.reject(entry)
                else:
                    side.counts.records += entry.records
                    side.counts.dropped_turns += entry.dropped_turns
                    name_roles(entry.dialogue, options.agents)
                    yield entry
                side.counts.bytes_read = raw.tell()
                side.counts.unread_times, side.counts.unread_time = times.unread, times.example
                side.counts.assumed_dates, side.counts.assumed_date = times.assumed, times.assumed_example
    except READ_ERRORS as error:
        # A truncated gzip or a lost connection; everything before it is valid.
        side.reject(Rejection(last_line, f"the file could not be read to its end: {error}"))


def _batches(file: LogFile, side: _SideFiles, schema: pa.Schema) -> Iterator[pa.Table]:
    batch: list[Parsed] = []
    turns = 0
    for entry in _entries(file, side):
        if not entry.dialogue.turns:
            continue  # A run of rows without any text, already counted.
        if file.keep is not None and not falls_into(file.keep, entry.dialogue.dialogue_id):
            side.counts.out_of_split += 1
            continue
        batch.append(entry)
        turns += len(entry.dialogue.turns)
        if len(batch) >= BATCH_DIALOGUES or turns >= BATCH_TURNS:
            yield _table(batch, schema)
            side.counts.dialogues += len(batch)
            side.counts.turns += turns
            side.save()
            batch, turns = [], 0
    if batch:
        yield _table(batch, schema)
    side.counts.dialogues += len(batch)
    side.counts.turns += turns
    side.save(done=True)


def _table(batch: list[Parsed], schema: pa.Schema) -> pa.Table:
    table = dialogues_to_arrow([entry.dialogue for entry in batch])
    if "order" not in schema.names:
        return table
    for name in ("order", "lines"):
        values = [getattr(entry, name) or list(range(len(entry.dialogue.turns))) for entry in batch]
        table = table.append_column(name, pa.array(values, pa.list_(pa.int64())))
    return table


def dialogue_source(files: list[LogFile], side_folder: Path) -> Any:
    """Return a lazy Daft DataFrame of the files' dialogues.

    If any file is a table of rows, the frame also has the columns `order` and `lines`.
    """
    from daft.io.source import DataSource, DataSourceTask
    from daft.recordbatch import RecordBatch

    arrow_schema = _PIECES if any(comes_in_pieces(name) for name in {file.format for file in files}) else ARROW_SCHEMA
    daft_schema = daft().Schema.from_pyarrow_schema(arrow_schema)

    class LogTask(DataSourceTask):
        def __init__(self, number: int, file: LogFile) -> None:
            self._number, self._file = number, file

        @property
        def schema(self) -> Any:
            return daft_schema

        async def read(self) -> AsyncIterator[RecordBatch]:
            counts = FileCounts(self._file.path, self._file.options.source, self._file.format)
            batches = _batches(self._file, _SideFiles(side_folder, self._number, counts), arrow_schema)
            # Parsing is pure Python; in its own thread it does not block the engine's event loop.
            while (batch := await asyncio.to_thread(next, batches, None)) is not None:
                yield RecordBatch.from_arrow_table(batch)

    class LogSource(DataSource):
        @property
        def name(self) -> str:
            return "chat logs"

        @property
        def schema(self) -> Any:
            return daft_schema

        async def get_tasks(self, pushdowns: Pushdowns) -> AsyncIterator[DataSourceTask]:  # noqa: ARG002
            for number, file in enumerate(files):
                yield LogTask(number, file)

    return LogSource().read()
