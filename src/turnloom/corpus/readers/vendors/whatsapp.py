"""WhatsApp's exported chats, from Android and iOS: `_chat.txt` or `WhatsApp Chat with Ann.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.chats import Message
from turnloom.corpus.readers.lines import LineReader, Numbered, continue_text, group_lines
from turnloom.corpus.readers.logfile import Rejection, shorten

_DATE = r"\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}\.?"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?"
_ANDROID = re.compile(rf"^(?P<date>{_DATE}),?\s(?:kl\.\s|um\s|à\s)?(?P<clock>{_CLOCK})\s[-–]\s(?P<rest>.*)$")
_IOS = re.compile(
    rf"^\[(?:(?P<date>{_DATE}),\s|(?P<spaced>\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}})\s)(?P<clock>{_CLOCK})\]\s(?P<rest>.*)$"
)
_SAID_BY = re.compile(r'^(?P<speaker>[^:"“”]{1,80}):(?:\s(?P<text>.*)|$)')
_DIRECTION_MARKS = "\u200e\u200f\u202a\u202c"
_MEDIA = re.compile(
    r"^(?:<[^<>]{3,60}>|<(?:attached|angehängt|adjunto|pièce jointe|allegato|anexado)\s?:[^<>]*>|null"
    r"|[^\s/]+\.\w{2,5} \([^()]{4,40}\))$",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"\s*[\u200e\u200f]*<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje"
    r"|Ce message a été modifié|Mensagem editada|Questo messaggio è stato modificato)>\s*$"
)
_EDITED_CHARS = 60
_UNSAID = re.compile(
    r"^(?:This message was deleted|You deleted this message|Waiting for this message\b.*"
    r"|Missed (?:voice|video|group) .*call"
    r"|Diese Nachricht wurde gelöscht|Du hast diese Nachricht gelöscht|Eliminaste este mensaje|Se eliminó este mensaje"
    r"|Vous avez supprimé ce message|Ce message a été supprimé|Mensagem apagada|Você apagou esta mensagem"
    r"|Essa mensagem foi apagada|Questo messaggio è stato eliminato|Hai eliminato questo messaggio)\.?$",
    re.IGNORECASE,
)


def _header(line: str) -> re.Match[str] | None:
    line = line.lstrip(_DIRECTION_MARKS)
    return _IOS.match(line) or _ANDROID.match(line)


def _sign(lines: list[str]) -> str | None:
    written = [line for line in lines if line.strip()]
    headers = [match for line in written if (match := _header(line))]
    if not headers or len(headers) < 0.25 * len(written) or not any(_SAID_BY.match(match["rest"]) for match in headers):
        return None
    system = "iOS" if written[0].lstrip(_DIRECTION_MARKS).startswith("[") else "Android"
    return f"{len(headers)} of its first {len(written)} lines start as messages of a WhatsApp chat ({system})"


def _without_edit_mark(text: str) -> str:
    mark = _EDITED.search(text, max(0, len(text) - _EDITED_CHARS))
    return text[: mark.start()] if mark else text


def _said(text: str) -> str:
    """Return what was written; empty for media, deleted messages and the app's own messages, which iOS marks."""
    text = _without_edit_mark(text)
    if text.startswith("\u200e") or re.search(r"\u200e[^\u200e]{3,40}omitted$", text):
        return ""
    text = text.strip(_DIRECTION_MARKS + " ")
    return "" if _MEDIA.match(text) or _UNSAID.match(text) else text


def _message(number: int, match: re.Match[str], options: ReadOptions) -> Message:
    date = match["date"] or match.groupdict().get("spaced") or ""
    clock = re.sub(r"(\d)\.(?=\d\d)", r"\1:", match["clock"])
    time = options.times.read(f"{date.rstrip('.')} {clock}".replace("\u202f", " "))
    said = _SAID_BY.match(match["rest"].lstrip(_DIRECTION_MARKS))
    if said is None:
        return Message(number, options.stem, "", "", time)  # Joins, names of groups, encryption.
    speaker = said["speaker"].strip(_DIRECTION_MARKS + " ").removeprefix("~").strip("\u202f\u00a0 ")
    return Message(number, options.stem, speaker, _said(said["text"] or ""), time)


def parse(lines: Iterator[Numbered | Rejection], options: ReadOptions) -> Iterator[Message | Rejection]:
    """Yield the messages of a chat; a line without a date continues the message before it."""

    def start(number: int, text: str) -> Message | None:
        match = _header(text)
        return match and _message(number, match, options)

    def go_on(message: Message | None, number: int, text: str) -> Rejection | None:
        if message is not None:
            if message.speaker:
                continue_text(message, _without_edit_mark(text))
        elif text.strip():
            return Rejection(number, "it stands before the first message of the chat", shorten(text))
        return None

    return group_lines(lines, start, go_on)


READER = LineReader(name="whatsapp", title="WhatsApp chat (Android or iOS)", sign=_sign, parse=parse)
