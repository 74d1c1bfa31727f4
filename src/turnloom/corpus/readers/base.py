"""The reader interface, and small checks that all readers share."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from turnloom.corpus.readers.json_records import Container, JsonRecord, find_container, json_records
from turnloom.corpus.readers.json_walk import sample_json
from turnloom.corpus.readers.logfile import UTF_8, ByteStream, Parsed, Rejection, shorten
from turnloom.corpus.readers.times import TimeReader
from turnloom.corpus.schema import BadDialogueError, Dialogue, check_dialogue

_LOOKED_AT = 200
"""Records looked at to recognise a format."""


@dataclass(frozen=True)
class ReadOptions:
    """The user's settings for a file.

    Args:
        source: The name of the source, for the table's `source` column.
        stem: Names dialogues without ids: ``<stem>-<line>``.
        mapping: For tables, which column holds which field.
        times: Parses the times of the file: ``options.times.read(value)``.
        agents: The speakers who are agents, if the user named them: all others are customers.
    """

    source: str
    stem: str
    mapping: dict[str, str] = field(default_factory=dict)
    language: str | None = None
    times: TimeReader = field(default_factory=TimeReader)
    agents: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Head:
    """The first megabyte of a file, decompressed and as UTF-8, from which its format is recognised."""

    path: str
    content: bytes
    encoding: str = UTF_8
    mapping: dict[str, str] = field(default_factory=dict)
    """What the user said about its columns or paths."""

    @cached_property
    def sample(self) -> list[Any]:
        """Its first JSON values, as far as they can be decoded; empty if it is not JSON."""
        return sample_json(self.content)

    @property
    def container(self) -> Container | None:
        """The JSON container of its records, if it is JSON."""
        return find_container(self.content)

    @cached_property
    def _first_record(self) -> JsonRecord | None:
        if self.container is None:
            return None
        anywhere = re.compile(r'[{"]')
        records = json_records(io.BufferedReader(io.BytesIO(self.content)), self.container, anywhere)
        # Each bracket of a text nested without end is another broken record, so only the first ones are looked at.
        whole = (record for record in itertools.islice(records, _LOOKED_AT) if isinstance(record, JsonRecord))
        return next(whole, None)

    def first_record(self) -> JsonRecord | None:
        """The first JSON record that can be decoded."""
        return self._first_record

    def lines(self) -> list[str]:
        """The lines of its text; the last one may be cut off."""
        return self._lines

    @cached_property
    def _lines(self) -> list[str]:
        return self.content.decode("utf-8-sig", "replace").splitlines()


class Reader(Protocol):
    """One log format.

    A reader whose dialogues may be scattered over a file has ``pieces = True`` and yields them with the sort keys of
    their turns; ``spans_files = True`` says that they may even go on in other files of a folder.
    """

    @property
    def name(self) -> str:
        """The value of ``--format``."""

    @property
    def title(self) -> str:
        """The name for people."""

    def recognise(self, head: Head) -> str | None:
        """Explain in a few words why the file looks like this format; None if it does not."""

    def check(self, head: Head, options: ReadOptions) -> None:
        """Raise TurnloomError if the user's settings do not fit the file; called once, before reading."""

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:
        """Yield the file's dialogues, and a Rejection for everything else."""


@dataclass(frozen=True)
class JsonReader:
    """A reader for JSON records; it only needs to parse one record.

    Args:
        start: What the start of a record looks like, to resume after a broken one.
        signs: The lists that identify its records: a list's name, fields of its entries, and a description.
        parse: Converts a record to a dialogue, or raises BadDialogueError. Turns without text are dropped later.
    """

    name: str
    title: str
    start: re.Pattern[str]
    signs: Mapping[tuple[str, ...], str]
    parse: Callable[[JsonRecord, ReadOptions], Dialogue]

    def recognise(self, head: Head) -> str | None:
        """Explain why the file's first record looks like this format."""
        record = head.first_record()
        if record is None or not isinstance(record.value, dict):
            return None
        for (name, *fields), why in self.signs.items():
            entries = record.value.get(name)
            first = entries[0] if isinstance(entries, list) and entries else None
            if isinstance(first, dict) and set(fields) <= set(first):
                return why
        return None

    def check(self, head: Head, options: ReadOptions) -> None:
        """JSON records name their own fields, so there is nothing to check."""

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:  # noqa: ARG002
        """Yield the file's dialogues, one per JSON record."""
        for record in json_records(stream, find_container(stream.peek(2**16)) or "lines", self.start):
            yield record if isinstance(record, Rejection) else self.parsed(record, options)

    def parsed(self, record: JsonRecord, options: ReadOptions) -> Parsed | Rejection:
        """Return the record as a dialogue without empty turns, or the reason why it is not one."""
        return parse_record(record, lambda: self.parse(record, options))


def parse_record(record: JsonRecord, parse: Callable[[], Dialogue]) -> Parsed | Rejection:
    """Return what `parse` makes of a record, without empty turns, or the reason why it is no dialogue."""
    try:
        if not isinstance(record.value, dict):
            raise BadDialogueError(f"a record is {type(record.value).__name__}, not an object", record.value)
        dialogue = parse()
        said = [turn for turn in dialogue.turns if not isinstance(turn.text, str) or turn.text.strip()]
        dropped, dialogue.turns = len(dialogue.turns) - len(said), said
        return Parsed(check_dialogue(dialogue), dropped_turns=dropped)
    except BadDialogueError as error:
        return Rejection(record.line, error.reason, error_piece(error, record.value))


def error_piece(error: BadDialogueError, value: Any) -> str:
    """Return the offending text of an error, else that of the whole record."""
    try:
        return shorten(error.piece or repr(value))
    except RecursionError:
        return ""  # It could just be decoded, and is too deep to be shown.


def value_of(record: Any, key: str, kind: type, what: str) -> Any:
    """Return ``record[key]``, which must exist and have this type; `what` names the record in the error."""
    if not isinstance(record, dict):
        raise BadDialogueError(f"{what} is {type(record).__name__}, not an object", record)
    if key not in record:
        raise BadDialogueError(f"{what} has no {key!r}", record)
    value = record[key]
    if not isinstance(value, kind):
        raise BadDialogueError(f"{what}'s {key!r} is {type(value).__name__}, not {kind.__name__}", value)
    return value


def list_of(record: dict[str, Any], key: str, what: str) -> list[Any]:
    """Return ``record[key]``, which must be a list if it exists; otherwise an empty list."""
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadDialogueError(f"{what}'s {key!r} is {type(value).__name__}, not list", value)
    return value


def identifier(value: Any, record: JsonRecord, options: ReadOptions) -> str:
    """Return the dialogue's id as text, or the file's name and line if the record has none."""
    if value is None or value == "":
        return f"{options.stem}-{record.line}" + (f".{record.nth}" if record.nth > 1 else "")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadDialogueError(f"the dialogue's id is {type(value).__name__}, not text", value)
    return str(value)


def strings(value: Any, what: str) -> list[str] | None:
    """Return a list of texts from a text, a number, or a list of them. None stays None; null entries are skipped."""
    if value is None:
        return None
    entries = [entry for entry in value if entry is not None] if isinstance(value, list) else [value]
    for entry in entries:
        if not isinstance(entry, (str, int)):
            raise BadDialogueError(f"an entry of {what} is {type(entry).__name__}, not text", entry)
    return [str(entry) for entry in entries]
