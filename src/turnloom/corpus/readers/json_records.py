"""Read JSON records from any container: one per line, an array, or an object of records.

Public dialogue sets and exports use all three for the same records, so readers only parse one record. A broken record
in an array costs only that record: reading resumes at the next text that looks like a record's start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from turnloom.corpus.readers.logfile import ByteStream, Rejection, read_lines, shorten

Container = Literal["lines", "array", "object"]
MAX_FILE_BYTES = 2**30
"""A JSON array must fit in memory; JSON Lines need not."""

_SPACE = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


@dataclass(slots=True, frozen=True)
class JsonRecord:
    """One decoded record; `key` is its name in an object of records."""

    line: int
    value: Any
    key: str | None = None
    nth: int = 1
    """Its number among the records that start on its line: an export may be written on a single one."""


def find_container(head: bytes) -> Container | None:
    """Detect the container from the start of the file; None if it does not look like JSON."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        return "array"
    if not text.startswith(b"{"):
        # A broken first record does not change the format of a JSON Lines log.
        lines = [line.strip() for line in text.splitlines()[:20]]
        objects = [line for line in lines if line.startswith(b"{") and line.endswith(b"}")]
        return "lines" if objects and 2 * len(objects) >= len(lines) else None
    first, newline, rest = text.partition(b"\n")
    if not newline or first.rstrip().endswith(b"}") or rest.lstrip().startswith(b"{"):
        return "lines"
    return "object"


def json_problem(error: Exception) -> str:
    """Explain to a person why a text could not be decoded."""
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 (byte {error.start})"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error.msg.removesuffix(' at')} at character {error.pos}"
    return f"it is not JSON: {error}"


def _from_lines(stream: ByteStream) -> Iterator[JsonRecord | Rejection]:
    for line in read_lines(stream):
        if isinstance(line, Rejection):
            yield line
            continue
        content = line.content.removeprefix(b"\xef\xbb\xbf") if line.number == 1 else line.content
        if not content.strip():
            continue
        try:
            value = json.loads(content)
            if isinstance(value, dict) and value and all(isinstance(entry, dict) for entry in value.values()):
                # An object of records, written on one line.
                yield from (JsonRecord(line.number, entry, key) for key, entry in value.items())
            else:
                yield JsonRecord(line.number, value)
        except (ValueError, RecursionError) as error:
            yield Rejection(line.number, json_problem(error), shorten(content))


@dataclass(slots=True)
class _Cursor:
    """A position in a text, with its line number updated as it moves forward."""

    text: str
    at: int = 0
    line: int = 1

    def move(self, at: int) -> None:
        self.line += self.text.count("\n", self.at, at)
        self.at = at

    def skip_space(self) -> str:
        """Skip white space and commas; return the next character, or an empty string at the end."""
        found = _SPACE.match(self.text, self.at)
        self.move(found.end() if found else self.at)
        return self.text[self.at : self.at + 1]


def _read_element(cursor: _Cursor, named: bool) -> JsonRecord:
    key, at = None, cursor.at
    if named:
        key, at = _DECODER.raw_decode(cursor.text, at)
        colon = re.compile(r"\s*:\s*").match(cursor.text, at)
        if not isinstance(key, str) or colon is None:
            raise json.JSONDecodeError("a record's name and ':' expected", cursor.text, at)
        at = colon.end()
    value, end = _DECODER.raw_decode(cursor.text, at)
    record = JsonRecord(cursor.line, value, key)
    cursor.move(end)
    return record


def _from_text(text: str, named: bool, start: re.Pattern[str]) -> Iterator[JsonRecord | Rejection]:
    cursor = _Cursor(text)
    cursor.skip_space()
    cursor.move(cursor.at + 1)
    closing = "}" if named else "]"
    while (character := cursor.skip_space()) != closing:
        if not character:
            yield Rejection(cursor.line, f"the file ends before the closing '{closing}'")
            return
        try:
            yield _read_element(cursor, named)
        except (ValueError, RecursionError) as error:
            yield Rejection(cursor.line, json_problem(error), shorten(text[cursor.at : cursor.at + 1_000]))
            following = start.search(text, cursor.at + 1)
            if following is None:
                return
            cursor.move(following.start())
    rest = text[cursor.at + 1 :].strip()
    if rest:
        yield Rejection(cursor.line, f"there is more after the closing '{closing}'", shorten(rest))


def _whole(text: str) -> JsonRecord | None:
    """Whether the file is a single record: most of its values are not objects."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    objects = [isinstance(entry, dict) for entry in value.values()] if isinstance(value, dict) else [True]
    return JsonRecord(1, value) if 2 * sum(objects) < len(objects) else None


def json_records(stream: ByteStream, container: Container, start: re.Pattern[str]) -> Iterator[JsonRecord | Rejection]:
    """Yield the records of a JSON file, and a Rejection for each one that cannot be decoded.

    `start` describes the start of a record, where reading resumes after a broken one.
    """
    if container == "lines":
        yield from _from_lines(stream)
        return
    content = bytearray()
    while piece := stream.read1(2**20):
        content += piece
        if len(content) > MAX_FILE_BYTES:
            yield Rejection(1, "a JSON array of more than 1 GiB: convert it to one record a line (jq -c '.[]')")
            return
    text = content.decode("utf-8-sig", "surrogateescape")
    del content
    single = _whole(text) if container == "object" else None
    if single is not None:
        yield single
    else:
        yield from _from_text(text, container == "object", start)
