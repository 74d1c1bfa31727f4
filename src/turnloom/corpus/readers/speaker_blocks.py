"""Transcripts with speaker and time on a line of their own, as meeting tools and call recorders write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.chats import Message
from turnloom.corpus.readers.lines import LineReader, Numbered, continue_text, group_lines
from turnloom.corpus.readers.logfile import Rejection, shorten

_CLOCK = r"[(\[]?(?:\d{1,2}:)?\d{1,2}:\d{2}(?:\.\d{1,3})?[)\]]?"
_HEADER = re.compile(
    rf"^(?:{_CLOCK}\s*[-–|]?\s*(?P<after>[^\W\d][^:\t]{{0,59}}?)|(?P<before>[^\W\d][^:\t]{{0,59}}?)\s*[-–|]?\s*{_CLOCK}):?\s*$"
)


_LONGEST = 120


def _header(line: str) -> re.Match[str] | None:
    return _HEADER.match(line) if len(line) <= _LONGEST else None


def _sign(lines: list[str]) -> str | None:
    written = [line for line in lines if line.strip()]
    headers = [index for index, line in enumerate(written) if _header(line)]
    followed = [index for index in headers if index + 1 < len(written) and index + 1 not in headers]
    if len(followed) >= 2 and headers[0] < 10 and len(headers) >= 0.15 * len(written):
        return f"{len(headers)} of its first {len(written)} lines hold only a speaker and a time"
    return None


def parse(lines: Iterator[Numbered | Rejection], options: ReadOptions) -> Iterator[Message | Rejection]:
    """Yield what each speaker said; the lines before the first speaker are the title."""

    def start(number: int, text: str) -> Message | None:
        header = _header(text)
        return header and Message(number, options.stem, (header["after"] or header["before"]).strip(), "")

    def go_on(message: Message | None, number: int, text: str) -> Rejection | None:
        if text.strip() and message is not None:
            continue_text(message, text.strip())
        elif len(text) > 1_000:
            return Rejection(number, "it stands before the first speaker", shorten(text))
        return None

    return group_lines(lines, start, go_on)


READER = LineReader(
    name="speaker-blocks", title="transcript with speaker and time on their own line", sign=_sign, parse=parse
)
