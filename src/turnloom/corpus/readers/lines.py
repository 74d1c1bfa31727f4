"""What line-based transcripts share: a line starts a message, and the lines after it may continue it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from turnloom.corpus.readers.base import Head, ReadOptions
from turnloom.corpus.readers.chats import Message, group_messages
from turnloom.corpus.readers.logfile import ByteStream, Parsed, Rejection, read_lines, shorten
from turnloom.corpus.schema import MAX_TEXT_CHARS

Numbered = tuple[int, str]
LOOKED_AT = 200


def text_lines(stream: ByteStream) -> Iterator[Numbered | Rejection]:
    """Yield the lines of a text with their numbers, and a Rejection for each that is not UTF-8."""
    for line in read_lines(stream):
        if isinstance(line, Rejection):
            yield line
            continue
        try:
            yield line.number, line.content.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            yield Rejection(line.number, f"it is not UTF-8 (byte {error.start})", shorten(line.content))


def continue_text(message: Message, line: str, between: str = "\n") -> None:
    """Add a line to a message; one that is far too long stops growing, and is rejected later."""
    if len(message.text) <= MAX_TEXT_CHARS:
        message.text += between + line if message.text else line


def group_lines(
    lines: Iterator[Numbered | Rejection],
    start: Callable[[int, str], Message | None],
    go_on: Callable[[Message | None, int, str], Rejection | None],
) -> Iterator[Message | Rejection]:
    """Yield the messages of lines that start one or continue the one before.

    Args:
        lines: Numbered lines; rejected ones are passed on.
        start: Makes a message of a line that starts one.
        go_on: Adds another line to the message before it, or says why it cannot.
    """
    message: Message | None = None
    for line in lines:
        if isinstance(line, Rejection):
            yield line
            continue
        started = start(*line)
        if started is not None:
            if message is not None:
                yield message
            message = started
        else:
            rejection = go_on(message, *line)
            if rejection is not None:
                yield rejection
    if message is not None:
        yield message


@dataclass(frozen=True)
class LineReader:
    """A reader of text in which lines start messages.

    Args:
        sign: Says in a few words why the first lines look like this format; None if they do not.
        parse: Yields the messages of the lines, and passes on what was rejected.
    """

    name: str
    title: str
    sign: Callable[[list[str]], str | None]
    parse: Callable[[Iterator[Numbered | Rejection], ReadOptions], Iterator[Message | Rejection]]

    def recognise(self, head: Head) -> str | None:
        """Explain why the file's first lines look like this format."""
        return None if b"\x00" in head.content[:1_000] else self.sign(head.lines()[:LOOKED_AT])

    def check(self, head: Head, options: ReadOptions) -> None:
        """A transcript has no columns, so there is nothing to check."""

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:  # noqa: ARG002
        """Yield the file's dialogues."""
        yield from group_messages(self.parse(text_lines(stream), options), options)
