"""What a reader is, and the small checks that all readers share."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from turnloom.corpus.readers.json_records import Container, JsonRecord, find_container, json_records
from turnloom.corpus.readers.logfile import UTF_8, ByteStream, Parsed, Rejection, shorten
from turnloom.corpus.readers.times import TimeReader
from turnloom.corpus.schema import BadDialogueError, Dialogue, check_dialogue


@dataclass(frozen=True)
class ReadOptions:
    """What the user said about a file.

    Args:
        source: The name of the source, the table's `source` column.
        stem: Names the dialogues of a file that has no ids: ``<stem>-<line>``.
        mapping: For tables, which column gives which field.
        times: Reads the times of the file: ``options.times.read(value)``.
    """

    source: str
    stem: str
    mapping: dict[str, str] = field(default_factory=dict)
    language: str | None = None
    times: TimeReader = field(default_factory=TimeReader)


@dataclass(frozen=True)
class Head:
    """The start of a file, from which its format is recognised: its first megabyte, unpacked and as UTF-8."""

    path: str
    content: bytes
    encoding: str = UTF_8

    @property
    def container(self) -> Container | None:
        """How JSON records are held in it, if it is JSON."""
        return find_container(self.content)

    def first_record(self) -> JsonRecord | None:
        """The first JSON record that can be decoded."""
        if self.container is None:
            return None
        anywhere = re.compile(r'[{"]')
        for record in json_records(io.BufferedReader(io.BytesIO(self.content)), self.container, anywhere):
            if isinstance(record, JsonRecord):
                return record
        return None

    def lines(self) -> list[str]:
        """The lines of its text; the last one may be cut."""
        return self.content.decode("utf-8-sig", "replace").splitlines()


class Reader(Protocol):
    """One log format."""

    @property
    def name(self) -> str:
        """What ``--format`` calls it."""

    @property
    def title(self) -> str:
        """What a person calls it."""

    def recognise(self, head: Head) -> str | None:
        """Why this file looks like this format, in a few words; None if it does not."""

    def check(self, head: Head, options: ReadOptions) -> None:
        """Raise TurnloomError if what the user said does not fit the file; called once, before anything is read."""

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:
        """Yield the file's dialogues and, for what is no dialogue, why."""


@dataclass(frozen=True)
class JsonReader:
    """A reader for records in JSON: it only has to say what one record means.

    Args:
        start: What the start of a record looks like, to go on after a broken one.
        signs: By which lists its records are recognised: a list's name and fields of its entries, and how to say so.
        parse: The record as a dialogue, whose turns without text will be dropped; raises BadDialogueError.
    """

    name: str
    title: str
    start: re.Pattern[str]
    signs: Mapping[tuple[str, ...], str]
    parse: Callable[[JsonRecord, ReadOptions], Dialogue]

    def recognise(self, head: Head) -> str | None:
        """Why the file's first record looks like this format."""
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
        """A JSON record names its own fields: there is nothing to check."""

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:  # noqa: ARG002
        """Yield the file's dialogues, one a JSON record."""
        for record in json_records(stream, find_container(stream.peek(2**16)) or "lines", self.start):
            yield record if isinstance(record, Rejection) else self.parsed(record, options)

    def parsed(self, record: JsonRecord, options: ReadOptions) -> Parsed | Rejection:
        """The record as a dialogue without empty turns, or why it is none."""
        try:
            if not isinstance(record.value, dict):
                raise BadDialogueError(f"a record is {type(record.value).__name__}, not an object", record.value)
            dialogue = self.parse(record, options)
            said = [turn for turn in dialogue.turns if not isinstance(turn.text, str) or turn.text.strip()]
            dropped, dialogue.turns = len(dialogue.turns) - len(said), said
            return Parsed(check_dialogue(dialogue), dropped_turns=dropped)
        except BadDialogueError as error:
            return Rejection(record.line, error.reason, shorten(error.piece or repr(record.value)))


def value_of(record: Any, key: str, kind: type, what: str) -> Any:
    """``record[key]``, which must be there and of a kind; `what` names the record in the reason if not."""
    if not isinstance(record, dict):
        raise BadDialogueError(f"{what} is {type(record).__name__}, not an object", record)
    if key not in record:
        raise BadDialogueError(f"{what} has no {key!r}", record)
    value = record[key]
    if not isinstance(value, kind):
        raise BadDialogueError(f"{what}'s {key!r} is {type(value).__name__}, not {kind.__name__}", value)
    return value


def list_of(record: dict[str, Any], key: str, what: str) -> list[Any]:
    """``record[key]``, which must be a list if it is there; an empty list if not."""
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadDialogueError(f"{what}'s {key!r} is {type(value).__name__}, not list", value)
    return value


def identifier(value: Any, record: JsonRecord, options: ReadOptions) -> str:
    """The dialogue's id as text, or the file's name and line where the record has none."""
    if value is None or value == "":
        return f"{options.stem}-{record.line}"
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadDialogueError(f"the dialogue's id is {type(value).__name__}, not text", value)
    return str(value)


def strings(value: Any, what: str) -> list[str] | None:
    """A list of texts from a text, a number, or a list of them; None stays None, and null entries are passed over."""
    if value is None:
        return None
    entries = [entry for entry in value if entry is not None] if isinstance(value, list) else [value]
    for entry in entries:
        if not isinstance(entry, (str, int)):
            raise BadDialogueError(f"an entry of {what} is {type(entry).__name__}, not text", entry)
    return [str(entry) for entry in entries]
