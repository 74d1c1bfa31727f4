"""Discord channels as DiscordChatExporter writes them (JSON)."""

from __future__ import annotations

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.chats import Message
from turnloom.corpus.readers.exports import MessageExport
from turnloom.corpus.readers.fields import BOT, has, label, lookup, text_in
from turnloom.corpus.readers.json_walk import Found

_SAID = frozenset(("default", "reply", "0", "19", "chatinputcommand", "20", "contextmenucommand", "23", ""))
"""Older versions wrote the numbers of types that they did not know."""


def _sign(found: Found) -> str | None:
    value = found.record.value
    if (
        has(value, "timestamp", "content", "author")
        and has(value["author"], "id", "name")
        and ("isBot" in value["author"] or has(found.around, "guild", "channel"))
    ):
        return "its messages have 'author', 'timestamp' and 'content', as DiscordChatExporter writes them"
    return None


def parse(found: Found, options: ReadOptions, path: str) -> Message:  # noqa: ARG001
    """Convert a message. Joins, pins and calls say nothing; an edited message has its last text."""
    value = found.record.value
    author, channel = value.get("author"), found.around.get("channel")
    name = label(lookup(author, "nickname"), lookup(author, "name"), lookup(author, "id"))
    return Message(
        found.record.line,
        chat=label(lookup(channel, "name"), lookup(channel, "id"), options.stem),
        speaker=BOT if lookup(author, "isBot") is True else name,
        text=text_in(value, "content") if label(value.get("type")).lower() in _SAID else "",
        time=options.times.read(value.get("timestamp")),
    )


READER = MessageExport(
    name="discord",
    title="Discord (DiscordChatExporter JSON)",
    paths=(("messages",),),
    sign=_sign,
    parse=parse,
)
