"""Microsoft Teams: messages as Microsoft Graph returns them, and the export of a personal account's chats."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.chats import Message
from turnloom.corpus.readers.exports import MessageExport
from turnloom.corpus.readers.fields import BOT, has, label, lookup, text_in
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.readers.markup import plain_text

_SAID = ("text", "richtext", "richtext/html")
"""The personal export's types of messages that somebody wrote; others are calls, media and changes of members."""


def _sign(found: Found) -> str | None:
    value = found.record.value
    if has(value, "createdDateTime", "body") and has(value["body"], "content"):
        return "its messages have 'createdDateTime' and 'body', as in Microsoft Graph"
    if has(value, "originalarrivaltime", "content", "messagetype"):
        return "its messages have 'originalarrivaltime' and 'content', as in a personal Teams export"
    return None


def _graph_speaker(value: dict[str, Any]) -> str:
    sender = value.get("from")
    if isinstance(lookup(sender, "application"), dict):
        return BOT
    return label(lookup(sender, "user", "displayName"), lookup(sender, "user", "id"))


def _graph_text(value: dict[str, Any]) -> str:
    if value.get("messageType", "message") != "message" or value.get("deletedDateTime"):
        return ""
    content = text_in(value.get("body"), "content")
    return content if lookup(value, "body", "contentType") == "text" else plain_text(content)


def _personal(found: Found, options: ReadOptions) -> Message:
    value = found.record.value
    said = label(value.get("messagetype")).lower() in _SAID and not lookup(value, "properties", "deletetime")
    return Message(
        found.record.line,
        chat=label(found.around.get("id"), options.stem),
        speaker=label(value.get("displayName"), value.get("imdisplayname"), value.get("from")),
        text=plain_text(text_in(value, "content")) if said else "",
        time=options.times.read(value.get("originalarrivaltime")),
    )


def parse(found: Found, options: ReadOptions, path: str) -> Message:  # noqa: ARG001
    """Convert a message; replies in a channel join the message that they answer."""
    value = found.record.value
    if "originalarrivaltime" in value:
        return _personal(found, options)
    channel = label(lookup(value, "channelIdentity", "channelId"))
    return Message(
        found.record.line,
        chat=channel or label(value.get("chatId"), found.around.get("id"), options.stem),
        speaker=_graph_speaker(value),
        text=_graph_text(value),
        time=options.times.read(value.get("createdDateTime")),
        thread=(label(value.get("replyToId"), value.get("id")) or None) if channel else None,
    )


READER = MessageExport(
    name="teams",
    title="Microsoft Teams (Graph messages, personal export)",
    paths=((), ("value",), ("value", "replies"), ("messages",), ("conversations", "MessageList")),
    sign=_sign,
    parse=parse,
    pieces=True,
)
