"""JSON of any shape: the user names the paths of ids, speakers and texts with ``--map``.

``--map dialogue_id=session.id,text=items[].payload.body,speaker=items[].author.name``: keys joined by dots. Arrays on
the way are entered; ``[]`` and a leading ``$.`` may be written or left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from turnloom.corpus.readers.base import Head, ReadOptions, error_piece, identifier
from turnloom.corpus.readers.chats import Message, group_messages
from turnloom.corpus.readers.json_walk import Found, JsonWalk, Path
from turnloom.corpus.readers.logfile import ByteStream, Parsed, Rejection
from turnloom.corpus.schema import BadDialogueError
from turnloom.errors import TurnloomError

FIELDS = ("dialogue_id", "text", "speaker", "time")


def read_path(written: str) -> Path:
    """Return the keys of a path.

    Example:
        >>> read_path("$.items[*].payload.body")
        ('items', 'payload', 'body')
    """
    return tuple(key for key in re.sub(r"\[[\d*]*\]", "", written.strip().removeprefix("$")).split(".") if key)


def values_at(value: Any, path: Path) -> list[Any]:
    """Return what lies at a path of keys; arrays on the way are entered."""
    if isinstance(value, list):
        nested = [entry for entry in value if not isinstance(entry, list)]  # A list of lists holds no fields.
        return [inner for entry in nested for inner in values_at(entry, path)]
    if not path:
        return [value]
    return values_at(value[path[0]], path[1:]) if isinstance(value, dict) and path[0] in value else []


def messages_at(value: Any, path: Path, depth: int = 0) -> list[tuple[Any, int]]:
    """Return the objects in the innermost list on the way along a path, each with the number of keys that lead to it.

    Without a list, that is the object itself.
    """
    inner = value
    for step in range(depth, len(path) - 1):
        inner = inner.get(path[step]) if isinstance(inner, dict) else None
        if isinstance(inner, list):
            return [found for entry in inner if isinstance(entry, dict) for found in messages_at(entry, path, step + 1)]
    return [(value, depth)]


class _Paths:
    """The paths of the fields, and that of the records below which they lie."""

    def __init__(self, mapping: dict[str, str]) -> None:
        self.fields = {name: read_path(mapping[name]) for name in FIELDS if mapping.get(name) not in (None, "none")}
        text, identified = self.fields["text"], self.fields.get("dialogue_id", ())
        pairs = zip(text[:-1], identified[:-1], strict=False)
        shared = itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)
        self.record: Path = tuple(key for key, _ in shared)
        self.text = text[len(self.record) :]

    def values(self, name: str, record: Found, message: Any = None, depth: int = 0) -> list[Any]:
        """Return the values of a field in a message, or those in the whole record that hold for all its messages."""
        path = self.fields.get(name)
        if path is None:
            return []
        if path[: len(self.record)] != self.record:
            return values_at(record.around, path)
        inner = path[len(self.record) :]
        if inner[:depth] == self.text[:depth] and depth:
            return values_at(message, inner[depth:])
        return values_at(record.record.value, inner)


def _text(values: list[Any], what: str) -> str:
    for value in values:
        if isinstance(value, (dict, list)):
            raise BadDialogueError(f"the {what} is {type(value).__name__}, not text")
    return "\n".join(str(value) for value in values if value is not None)


class JsonPathsReader:
    """Reads JSON by the paths that the user names."""

    name = "json"
    title = "JSON of any shape, by the paths given with --map"
    pieces = True

    def recognise(self, head: Head) -> str | None:
        """Recognise JSON that has something at the path of the text."""
        if "text" not in head.mapping or not head.sample:
            return None
        text = read_path(head.mapping["text"])
        return "its paths are those given with --map" if any(values_at(value, text) for value in head.sample) else None

    def check(self, head: Head, options: ReadOptions) -> None:
        """Require the path of the text, and that all paths lead somewhere."""
        if "text" not in options.mapping:
            raise TurnloomError(
                f"{head.path} is read by paths, and the path of the text is missing",
                "name it with --map dialogue_id=PATH,text=PATH,speaker=PATH, such as text=messages[].body",
            )
        for name, written in options.mapping.items():
            if name not in FIELDS:
                raise TurnloomError(f"--map names a path for the {name}", f"JSON is read by {', '.join(FIELDS)}")
            if written != "none" and not any(values_at(value, read_path(written)) for value in head.sample):
                raise TurnloomError(
                    f"{head.path} has nothing at the path {written!r}",
                    "see its paths with turnloom convert FILE --dry-run",
                )

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:  # noqa: ARG002
        """Yield the file's dialogues: the messages with one id, of one record or of several."""
        yield from group_messages(self._messages(stream, options), options, pieces=True)

    def _messages(self, stream: ByteStream, options: ReadOptions) -> Iterator[Message | Rejection]:
        paths = _Paths(options.mapping)
        for found in JsonWalk(stream, [paths.record]).records():
            if isinstance(found, Rejection):
                yield found
                continue
            try:
                yield from self._of_record(found, paths, options)
            except BadDialogueError as error:
                yield Rejection(found.record.line, error.reason, error_piece(error, found.record.value))

    def _of_record(self, found: Found, paths: _Paths, options: ReadOptions) -> list[Message]:
        record = found.record
        if not isinstance(record.value, dict):
            raise BadDialogueError(f"a record is {type(record.value).__name__}, not an object")
        name = _text(paths.values("dialogue_id", found)[:1], "dialogue's id")
        if not name and "dialogue_id" in paths.fields:
            raise BadDialogueError("there is nothing at the path of the dialogue's id")
        messages = messages_at(record.value, paths.text)
        chat = "" if name else options.stem
        if not name and any(depth for _, depth in messages):  # A list of messages is a dialogue.
            name = identifier(None, record, options).removeprefix(f"{options.stem}-")
        return [
            Message(
                record.line,
                chat,
                _text(paths.values("speaker", found, message, depth)[:1], "speaker"),
                _text(values_at(message, paths.text[depth:]), "text"),
                options.times.read(next(iter(paths.values("time", found, message, depth)), None)),
                thread=name or None,
            )
            for message, depth in messages
        ]


READER = JsonPathsReader()
