"""Stream the records of a JSON export, wherever they lie in it: ``{"tickets": [...]}``, ``{"chats": {"list": [...]}}``.

Only one record is in memory at a time, with the values that stand before it in the objects around it. A broken record
costs itself: reading resumes at the next line that starts as the record did, or else at the next text that looks like a
record's start.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from turnloom.corpus.readers.json_records import JsonRecord, json_problem
from turnloom.corpus.readers.logfile import MAX_RECORD_BYTES, ByteStream, Rejection, shorten

Path = tuple[str, ...]
RECORD_START = re.compile(r'\{\s*"')
_NEXT_LINE = re.compile(r"(?<=\n)")
_SPACE = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*:")
_DECODER = json.JSONDecoder()
_CHUNK = 2**16
_NEAR_END = 16
"""An error this close to the end of the buffer may only mean that the rest has not been read."""
_OVERLAP = 256
_MAX_NESTING = 8
_MAX_DEPTH = 200
_MAX_INDENT = 80
_CUT_OFF = "the record is cut off, and the next one starts inside it"


@dataclass(slots=True, frozen=True)
class Found:
    """A record, the path of keys that leads to it, and the values before it in the objects around it."""

    record: JsonRecord
    path: Path
    around: dict[str, Any]


@dataclass(slots=True)
class _Buffer:
    """The unread part of a text, and a position with its line number."""

    stream: ByteStream
    text: str = ""
    at: int = 0
    line: int = 1
    ended: bool = False
    before: str = ""
    """What stands before the position on its line, as far as an indentation reaches."""
    _decoder: Any = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8-sig")("surrogateescape"))

    def more(self) -> bool:
        """Read on, at least as much as there is, so that long records take linear time; False at the end."""
        if self.ended:
            return False
        wanted = max(_CHUNK, len(self.text) - self.at)
        pieces = []
        while wanted > 0 and not self.ended:
            piece = self.stream.read1(min(wanted, 2**20))
            self.ended = not piece
            pieces.append(self._decoder.decode(piece, final=not piece))
            wanted -= len(piece)
        self.text, self.at = self.text[self.at :] + "".join(pieces), 0
        return True

    def move(self, at: int) -> None:
        breaks = self.text.count("\n", self.at, at)
        start = self.text.rfind("\n", self.at, at) + 1 if breaks else self.at
        passed = self.text[start : min(at, start + _MAX_INDENT)]
        self.before = passed if breaks else (self.before + passed)[:_MAX_INDENT]
        self.line += breaks
        self.at = at

    def next_character(self) -> str:
        """Skip white space and commas; return the next character, or an empty string at the end."""
        while True:
            space = _SPACE.match(self.text, self.at)
            self.move(space.end() if space else self.at)
            if self.at < len(self.text) or not self.more():
                return self.text[self.at : self.at + 1]

    def sibling(self) -> re.Pattern[str] | None:
        """What a line looks like that starts a record as the position does; None if this line is no compact record."""
        if self.before.strip() or not self.text.startswith('{"', self.at):
            return None
        return re.compile(rf'\n{re.escape(self.before)}\{{"')

    def decode(self, sibling: re.Pattern[str] | None = None) -> Any:
        """Decode the value at the position; raises ValueError and stays there if it is broken.

        A value that swallows the start of a `sibling` belongs to a record that was cut off.
        """
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                unfinished = error.pos >= len(self.text) - _NEAR_END or error.msg.startswith("Unterminated string")
                self._read_on_or(error, unfinished=unfinished)
                continue
            if end == len(self.text) and not self.ended:  # A number may go on.
                self.more()
                continue
            if sibling is not None and sibling.search(self.text, self.at, end):
                raise ValueError(_CUT_OFF)
            self.move(end)
            return value

    def _read_on_or(self, error: ValueError, *, unfinished: bool) -> None:
        if not unfinished:
            raise error
        if len(self.text) - self.at > MAX_RECORD_BYTES:
            raise ValueError(f"a record is longer than {MAX_RECORD_BYTES // 2**20} MiB") from error
        if not self.more():
            raise error

    def skip_colon(self) -> None:
        while not (colon := _COLON.match(self.text, self.at)):
            if len(self.text) - self.at > _NEAR_END or not self.more():
                raise json.JSONDecodeError("':' expected", self.text, self.at)
        self.move(colon.end())

    def resume_at_line(self, indent: str, after: int) -> bool:
        """Move to the next record on a line after this one, with this indentation; False if there is none nearby."""
        if self.line > after and self.before == indent and RECORD_START.match(self.text, self.at):
            return True
        following = re.compile(rf"\n{re.escape(indent)}(?=\{{\s*\")")
        found = following.search(self.text, self.at)
        if found is None and self.more():
            found = following.search(self.text, self.at)
        if found is not None:
            self.move(found.end())
        return found is not None

    def resume(self, start: re.Pattern[str]) -> None:
        """Move to the next start of a record after the position, or to the end."""
        self.move(min(self.at + 1, len(self.text)))
        while not (following := start.search(self.text, self.at)):
            self.move(max(self.at, len(self.text) - _OVERLAP))
            if not self.more():
                self.move(len(self.text))
                return
        self.move(following.start())


class JsonWalk:
    """Walks through the JSON values of a stream.

    Args:
        paths: The paths of keys under which records lie; arrays on the way are entered. The empty path means the values
            of the file themselves, or the elements of its array, unless they hold one of the other paths.
        start: What the start of a record looks like, to resume after a broken one.
    """

    def __init__(self, stream: ByteStream, paths: Collection[Path], start: re.Pattern[str] = RECORD_START) -> None:
        self._buffer = _Buffer(stream)
        self._paths = frozenset(paths)
        self._ways = frozenset(path[:length] for path in paths for length in range(len(path)))
        self._start = start
        self._line, self._nth, self._found = 0, 0, 0

    def records(self) -> Iterator[Found | Rejection]:
        """Yield the records, and a Rejection for each one that cannot be decoded."""
        while self._buffer.next_character():
            yield from self._guarded((), {}, 0)

    def _guarded(self, path: Path, around: dict[str, Any], depth: int) -> Iterator[Found | Rejection]:
        buffer = self._buffer
        buffer.next_character()
        line, found = buffer.line, self._found
        indent = None if buffer.before.strip() else buffer.before
        piece = buffer.text[buffer.at : buffer.at + 1_000]
        try:
            yield from self._values(path, around, depth)
        except (ValueError, RecursionError) as error:
            if self._found > found:  # The values around other records, not a record.
                line, piece, indent = buffer.line, buffer.text[buffer.at : buffer.at + 1_000], None
            yield Rejection(line, json_problem(error), shorten(piece))
            if isinstance(error, RecursionError):  # Every level of a text nested too deeply looks like a start.
                buffer.resume(_NEXT_LINE)
            elif indent is None or not buffer.resume_at_line(indent, line):
                buffer.resume(self._start)

    def _values(self, path: Path, around: dict[str, Any], depth: int) -> Iterator[Found | Rejection]:
        """Yield the records in the value at the position."""
        character = self._buffer.next_character()
        if depth > _MAX_NESTING:
            raise ValueError("the JSON is nested too deeply")
        if character == "[":
            yield from self._array(path, around, depth)
        elif character == "{" and path in self._ways:
            yield from self._object(path, around, depth)
        else:
            line = self._buffer.line
            value = self._buffer.decode(self._buffer.sibling())
            if path in self._paths:
                yield Found(self._record(line, value), path, around)
            elif not path:
                yield Rejection(line, f"a record is {type(value).__name__}, not an object", shorten(repr(value)))

    def _array(self, path: Path, around: dict[str, Any], depth: int) -> Iterator[Found | Rejection]:
        buffer = self._buffer
        buffer.move(buffer.at + 1)
        while (character := buffer.next_character()) != "]":
            if not character:
                yield Rejection(buffer.line, "the file ends before the closing ']'")
                return
            yield from self._guarded(path, around, depth + 1)
        buffer.move(buffer.at + 1)

    def _object(self, path: Path, around: dict[str, Any], depth: int) -> Iterator[Found | Rejection]:
        buffer, line, entered = self._buffer, self._buffer.line, False
        indent, sibling = buffer.before, buffer.sibling()
        own: dict[str, Any] = {}
        buffer.move(buffer.at + 1)
        while (character := buffer.next_character()) != "}":
            if not character:
                raise ValueError(f"the file ends inside the record that starts at line {line}")
            if character != '"':  # Not to be decoded: after a record that was cut off, it is the next one.
                raise ValueError(f"a key is expected, not {character!r}")
            key = buffer.decode()
            buffer.skip_colon()
            inner = (*path, key)
            following = buffer.next_character()
            if sibling and following == "{" and buffer.before == indent and buffer.line > line:
                raise ValueError(_CUT_OFF)
            if following in "[{" and (inner in self._paths or inner in self._ways):
                entered = True
                yield from self._values(inner, {**around, **own}, depth + 1)
            else:
                own[key] = buffer.decode(sibling)
        buffer.move(buffer.at + 1)
        if path in self._paths and not entered:
            yield Found(self._record(line, own), path, around)

    def _record(self, line: int, value: Any) -> JsonRecord:
        self._found += 1
        self._nth = self._nth + 1 if line == self._line else 1
        self._line = line
        return JsonRecord(line, value, nth=self._nth)


def records_within(
    value: Any, paths: Collection[Path], path: Path = (), around: dict[str, Any] | None = None, depth: int = 0
) -> Iterator[Found]:
    """Yield the records of a decoded value as `JsonWalk` finds them in a stream."""
    if isinstance(value, list):
        for entry in value if depth <= _MAX_NESTING else ():
            yield from records_within(entry, paths, path, around, depth + 1)
    elif isinstance(value, dict):
        inner = {key: (*path, key) for key in value if isinstance(value[key], (dict, list))}
        entered = [key for key, way in inner.items() if any(one[: len(way)] == way for one in paths)]
        own = {key: entry for key, entry in value.items() if key not in entered}
        for key in entered:
            yield from records_within(value[key], paths, inner[key], {**(around or {}), **own})
        if path in paths and not entered:
            yield Found(JsonRecord(1, own), path, around or {})


def sample_json(content: bytes, most: int = 20) -> list[Any]:
    """Decode the start of a JSON file as far as it goes: its value or its first lines; empty if it is not JSON."""
    text = content.decode("utf-8-sig", "replace").lstrip()
    if text[:1] in ("{", "["):
        for candidate in (text, _closed(text)):
            with suppress(ValueError, RecursionError):
                return [json.loads(candidate)]
    values = []
    for line in text.splitlines()[:most]:
        if line.lstrip()[:1] in ("{", "["):
            with suppress(ValueError, RecursionError):
                values.append(json.loads(line))
    return values


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)


def _closed(text: str) -> str:
    """Cut a truncated JSON text after its last whole element, and close what is open."""
    opened: list[str] = []
    end, closing = 0, ""
    for token in _TOKEN.finditer(text):
        character = token[0]
        if character in "[{":
            opened.append("]" if character == "[" else "}")
            if len(opened) > _MAX_DEPTH:
                break  # No export is that deep; a text made of brackets would take quadratic time.
        elif character in "]}" and (not opened or opened.pop() != character):
            break
        if character == "," or character in "]}":
            end = token.start() if character == "," else token.end()
            closing = "".join(reversed(opened))
    return text[:end] + closing
