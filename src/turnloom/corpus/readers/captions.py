"""Captions of calls and meetings, WebVTT and SubRip: a time span, then what was said in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.chats import Message
from turnloom.corpus.readers.lines import LineReader, Numbered, continue_text
from turnloom.corpus.readers.logfile import Rejection, shorten
from turnloom.corpus.readers.markup import plain_text

_SPAN = re.compile(r"^\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s*-->\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}(?:\s.*)?$")
_VOICE = re.compile(r"<v(?:\.[\w.]+)?\s+([^<>]*)>")
_NAMED = re.compile(
    r"^(?:-\s*)?(?:>>\s*)?(?:\[(?P<bracketed>[^\[\]:]{1,60})\]\s*:?|(?P<name>[^\s:\[\]\d][^:\[\]]{0,60}):)\s+(?P<text>.*)$"
)
_BLOCKS = ("WEBVTT", "NOTE", "STYLE", "REGION")
_SOUND = re.compile(r"^[(\[][^()\[\]]*[)\]]$")
"""`[music]`, `(laughter)`."""


def _sign_webvtt(lines: list[str]) -> str | None:
    if lines and lines[0].removeprefix("\ufeff").startswith("WEBVTT"):
        return "it starts with WEBVTT"
    return None


def _sign_srt(lines: list[str]) -> str | None:
    written = [line.removeprefix("\ufeff") for line in lines if line.strip()]
    if len(written) > 2 and written[0].strip().isdigit() and _SPAN.match(written[1]):
        return "it has numbered captions with their times, as in SubRip"
    return None


def _cues(lines: Iterator[Numbered | Rejection]) -> Iterator[tuple[int, list[str]] | Rejection]:
    """Yield the text lines of each caption; header, notes and styles are passed over."""
    cue: list[str] | None = None
    number = 0
    in_block = before_any = True  # The header ends with the first blank line or time span.
    for line in lines:
        if isinstance(line, Rejection):
            yield line
            continue
        text = line[1].strip()
        if _SPAN.match(text):
            if cue:
                yield number, cue
            number, cue, in_block, before_any = line[0], [], False, False
        elif not text:
            if cue:
                yield number, cue
            cue, in_block = None, False
        elif cue is not None:
            cue.append(text)
        elif text.split()[0] in _BLOCKS or before_any:
            in_block = True
        elif not in_block and len(text) > 200:
            yield Rejection(line[0], "it stands outside every caption", shorten(text))
    if cue:
        yield number, cue


def _spoken(cue: list[str]) -> Iterator[tuple[str, str]]:
    """Yield speaker and text of each line; an empty speaker means that none is named."""
    for line in cue:
        voices = _VOICE.split(line)
        if len(voices) > 1:
            pairs = list(zip(voices[1::2], voices[2::2], strict=True))
        else:
            named = _NAMED.match(" ".join(plain_text(line).split()))
            pairs = [(named["bracketed"] or named["name"], named["text"])] if named else [("", line)]
        for speaker, text in pairs:
            said = plain_text(text).strip()
            yield speaker.strip(), "" if _SOUND.match(said) else said.removeprefix("- ").removeprefix(">> ")


def parse(lines: Iterator[Numbered | Rejection], options: ReadOptions) -> Iterator[Message | Rejection]:
    """Yield what each speaker said: captions cut sentences, so those of one speaker are joined.

    A caption that names no speaker goes on with the one before. If none is named, each caption stays a turn.
    """
    message: Message | None = None
    for cue in _cues(lines):
        if isinstance(cue, Rejection):
            yield cue
            continue
        for speaker, text in _spoken(cue[1]):
            if not text:
                continue
            if message is not None and message.speaker and speaker in ("", message.speaker):
                continue_text(message, text, " ")
                continue
            if message is not None:
                yield message
            message = Message(cue[0], options.stem, speaker, text)
    if message is not None:
        yield message


WEBVTT = LineReader(name="webvtt", title="WebVTT captions", sign=_sign_webvtt, parse=parse)
SRT = LineReader(name="srt", title="SubRip captions (SRT)", sign=_sign_srt, parse=parse)
