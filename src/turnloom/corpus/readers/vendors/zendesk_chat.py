"""Zendesk Chat (formerly Zopim): chats with their `history`, and messages left while nobody was online."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.exports import ConversationExport, conversation
from turnloom.corpus.readers.fields import AGENT, BOT, CUSTOMER, has, label, objects_in, role_of, text_in
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.schema import Dialogue, Turn


def _sign(found: Found) -> str | None:
    value = found.record.value
    history = value.get("history")
    if isinstance(history, list) and any(has(event, "type") and "chat." in str(event["type"]) for event in history):
        return "its chats have a 'history' of chat events, as in Zendesk Chat"
    if value.get("type") == "offline_msg" and has(value, "message", "visitor"):
        return "its first record is an offline message of Zendesk Chat"
    return None


def _role(event: dict[str, Any]) -> str:
    nick = label(event.get("nick"))
    if nick.startswith("agent:trigger"):
        return BOT
    role = role_of(event.get("sender_type"))
    return role or (CUSTOMER if nick.startswith("visitor") else AGENT if nick.startswith("agent") else nick)


def parse(found: Found, options: ReadOptions) -> Dialogue:
    """Convert a chat; joins, ratings and files say nothing."""
    value = found.record.value
    turns = [
        Turn(
            _role(event),
            text_in(event, "msg") if event.get("type") == "chat.msg" else "",
            time=options.times.read(event.get("timestamp")),
        )
        for event in objects_in(value, "history")
    ]
    if value.get("type") == "offline_msg":
        turns.insert(0, Turn(CUSTOMER, text_in(value, "message"), time=options.times.read(value.get("timestamp"))))
    return conversation(value.get("id"), turns, found, options)


READER = ConversationExport(
    name="zendesk-chat",
    title="Zendesk Chat",
    paths=((), ("chats",)),
    sign=_sign,
    parse=parse,
)
