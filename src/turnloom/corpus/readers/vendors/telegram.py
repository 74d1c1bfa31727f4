"""Telegram Desktop's JSON export: `result.json` of one chat or of all chats."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.chats import Message
from turnloom.corpus.readers.exports import MessageExport
from turnloom.corpus.readers.fields import BOT, has, label
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.schema import BadDialogueError


def _sign(found: Found) -> str | None:
    value = found.record.value
    telling = any(name in value for name in ("from_id", "actor_id", "date_unixtime", "text_entities"))
    if telling and has(value, "id", "type", "date") and value["type"] in ("message", "service"):
        return "its messages have 'type', 'date' and 'from_id', as in a Telegram export"
    return None


def _text(text: Any) -> str:
    """Return a text, or the texts of its formatted parts."""
    if text is None:
        return ""
    if isinstance(text, str):
        return text
    if not isinstance(text, list):
        raise BadDialogueError(f"a message's text is {type(text).__name__}, not text or a list")
    parts = [part.get("text") if isinstance(part, dict) else part for part in text]
    return "".join(part for part in parts if isinstance(part, str))


def parse(found: Found, options: ReadOptions, path: str) -> Message:  # noqa: ARG001
    """Convert a message. Service messages (joins, calls, pins) say nothing; an edited one has its last text."""
    value, chat = found.record.value, found.around
    speaker = label(value.get("from"), value.get("actor"), value.get("from_id"), value.get("actor_id"))
    if chat.get("type") == "bot_chat" and speaker == label(chat.get("name")):
        speaker = BOT
    # `date` is the local time of the computer that exported, without its zone.
    time = value.get("date_unixtime") or value.get("date")
    return Message(
        found.record.line,
        chat=label(chat.get("id"), chat.get("name"), options.stem),
        speaker=speaker,
        text=_text(value.get("text") or value.get("text_entities")) if value.get("type") == "message" else "",
        time=options.times.read(time),
    )


READER = MessageExport(
    name="telegram",
    title="Telegram Desktop export (result.json)",
    paths=(("messages",), ("chats", "list", "messages"), ("left_chats", "list", "messages")),
    sign=_sign,
    parse=parse,
)
