"""What JSON exports share: where their records are, and whether a record is a conversation or one message of a chat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from turnloom.corpus.readers.base import Head, ReadOptions, error_piece, identifier, parse_record
from turnloom.corpus.readers.chats import Message, group_messages
from turnloom.corpus.readers.fields import in_time_order
from turnloom.corpus.readers.json_walk import Found, JsonWalk, Path, records_within
from turnloom.corpus.readers.logfile import ByteStream, Parsed, Rejection
from turnloom.corpus.schema import BadDialogueError, Dialogue, Turn

_LOOKED_AT = 5
"""The records looked at to recognise a format: the first ones may be unusual."""


def conversation(name: Any, turns: Iterable[Turn], found: Found, options: ReadOptions) -> Dialogue:
    """Return a dialogue of turns in the order of their times; without a name, it gets that of the file and its line."""
    return Dialogue(
        identifier(name, found.record, options), options.source, in_time_order(turns), language=options.language
    )


@dataclass(frozen=True)
class _JsonExport:
    """A reader of JSON records below known paths.

    Args:
        paths: Where records lie: ``()`` is the top of the file, ``("tickets",)`` the list of that name.
        sign: Says in a few words why a record looks like this format; None if it does not.
    """

    name: str
    title: str
    paths: tuple[Path, ...]
    sign: Callable[[Found], str | None]

    def recognise(self, head: Head) -> str | None:
        """Explain why one of the file's first records looks like this format."""
        for value in head.sample:
            for number, found in enumerate(records_within(value, self.paths)):
                if number >= _LOOKED_AT:
                    break
                if why := self.sign(found):
                    return why
        return None

    def check(self, head: Head, options: ReadOptions) -> None:
        """JSON records name their own fields, so there is nothing to check."""


@dataclass(frozen=True)
class ConversationExport(_JsonExport):
    """A reader of JSON exports whose records are conversations.

    Args:
        parse: Converts a record to a dialogue, or raises BadDialogueError. Turns without text are dropped later.
    """

    parse: Callable[[Found, ReadOptions], Dialogue]

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:  # noqa: ARG002
        """Yield the file's dialogues, one per record."""
        for found in JsonWalk(stream, self.paths).records():
            if isinstance(found, Rejection):
                yield found
            else:
                yield parse_record(found.record, lambda found=found: self.parse(found, options))  # type: ignore[misc]


@dataclass(frozen=True)
class MessageExport(_JsonExport):
    """A reader of JSON exports whose records are single messages.

    Args:
        parse: Converts a record to a message, or raises BadDialogueError. It also gets the file's path, because the
            names of channels and users may stand beside it.
        pieces: Whether a thread may go on in another part of the file.
        spans_files: Whether it may even go on in another file of the export.
    """

    parse: Callable[[Found, ReadOptions, str], Message]
    pieces: bool = False
    spans_files: bool = False

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:
        """Yield the file's dialogues, or pieces of them."""
        yield from group_messages(self._messages(stream, path, options), options, pieces=self.pieces)

    def _messages(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Message | Rejection]:
        for found in JsonWalk(stream, self.paths).records():
            if isinstance(found, Rejection):
                yield found
                continue
            try:
                if not isinstance(found.record.value, dict):
                    raise BadDialogueError(f"a message is {type(found.record.value).__name__}, not an object")
                yield self.parse(found, options, path)
            except BadDialogueError as error:
                yield Rejection(found.record.line, error.reason, error_piece(error, found.record.value))
