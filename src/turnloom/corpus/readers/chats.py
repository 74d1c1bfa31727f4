"""Group single messages into dialogues: a thread is one, and so is a run of messages without a long pause."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.fields import in_time_order
from turnloom.corpus.readers.logfile import Parsed, Rejection, shorten
from turnloom.corpus.readers.rows import MAX_RUN, time_order
from turnloom.corpus.schema import BadDialogueError, Dialogue, Turn, check_string, check_turn

PAUSE = dt.timedelta(hours=12)
"""In a chat without threads, a longer silence starts another dialogue."""
MAX_OPEN_TURNS = 50_000


@dataclass(slots=True)
class Message:
    """One message of a chat. Without text (media, deleted, system) it counts as a turn that is left out."""

    line: int
    chat: str
    speaker: str
    text: str
    time: dt.datetime | None = None
    thread: str | None = None
    """The name of its thread within the chat, if chats have threads; names that are unique need no chat."""


class _Grouping:
    """The dialogues that may still grow."""

    def __init__(self, options: ReadOptions, *, pieces: bool) -> None:
        self._options = options
        self._pieces = pieces
        self._open: dict[str, Parsed] = {}
        self._latest: dict[str, tuple[str, int, dt.datetime | None]] = {}
        """By chat: the name of its dialogue, the line where that starts, and the time of its last message."""
        self._turns = 0

    def add(self, message: Message) -> Iterator[Parsed]:
        """Add a message; yield the dialogues that it ends."""
        name, ended = self._dialogue_of(message)
        turn = Turn(message.speaker, message.text, time=message.time)
        check_string(name, "the dialogue's id")
        if message.text.strip():
            check_turn(turn)
        if ended in self._open:
            yield self._finished(self._open.pop(ended))
        entry = self._open.setdefault(
            name, Parsed(Dialogue(name, self._options.source, [], language=self._options.language), 0, 0, [], [])
        )
        entry.records += 1
        if message.text.strip():
            self._turns += 1
            entry.dialogue.turns.append(turn)
            if entry.order is not None and entry.lines is not None:
                entry.order.append(time_order(message.time))
                entry.lines.append(message.line)
        else:
            entry.dropped_turns += 1
        if self._turns >= MAX_OPEN_TURNS:
            yield from self.rest()

    def _dialogue_of(self, message: Message) -> tuple[str, str]:
        """Return the id of the message's dialogue, and of the one that ends with it if it starts another."""
        if message.thread is not None:
            return f"{message.chat}-{message.thread}" if message.chat else message.thread, ""
        name, line, before = self._latest.get(message.chat, ("", 0, None))
        paused = before is not None and message.time is not None and abs(message.time - before) > PAUSE
        full = name in self._open and self._open[name].records >= MAX_RUN
        ended = name if paused or full else ""
        if not name or ended:
            # All messages of an export may stand on one line.
            name = f"{name}.1" if name and line == message.line else f"{message.chat}-{message.line}"
            line = message.line
        self._latest[message.chat] = (name, line, message.time or before)
        return name, ended

    def rest(self) -> Iterator[Parsed]:
        """Yield all open dialogues."""
        for entry in self._open.values():
            yield self._finished(entry)
        self._open.clear()
        self._turns = 0

    def _finished(self, entry: Parsed) -> Parsed:
        self._turns -= len(entry.dialogue.turns)
        if not self._pieces:
            entry.dialogue.turns = in_time_order(entry.dialogue.turns)
            entry.order = entry.lines = None
        return entry


def group_messages(
    messages: Iterator[Message | Rejection], options: ReadOptions, *, pieces: bool = False
) -> Iterator[Parsed | Rejection]:
    """Yield dialogues from messages, and a Rejection for each that is none.

    With `pieces`, dialogues come with the sort keys of their turns, because a thread may go on in another file.
    """
    grouping = _Grouping(options, pieces=pieces)
    for message in messages:
        if isinstance(message, Rejection):
            yield message
            continue
        try:
            yield from grouping.add(message)
        except BadDialogueError as error:
            yield Rejection(message.line, error.reason, shorten(error.piece))
    yield from grouping.rest()
