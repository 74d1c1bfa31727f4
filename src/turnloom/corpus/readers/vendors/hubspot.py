"""HubSpot conversations: the messages of inbox threads, as the API returns them."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.chats import Message
from turnloom.corpus.readers.exports import MessageExport
from turnloom.corpus.readers.fields import AGENT, BOT, CUSTOMER, has, label, lookup, text_in
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.readers.markup import plain_text, without_quotes

_SAID = ("MESSAGE", "WELCOME_MESSAGE")
"""Other types are comments among agents and changes of status or owner."""
_ACTORS = {"A": AGENT, "B": BOT, "S": BOT, "I": BOT, "V": CUSTOMER, "E": CUSTOMER, "L": BOT}
"""The letter before an actor's number: agent, bot, system, integration, visitor, e-mail address."""


def _sign(found: Found) -> str | None:
    value = found.record.value
    if has(value, "createdAt", "type") and ("conversationsThreadId" in value or has(value, "senders", "direction")):
        return "its messages have 'conversationsThreadId' or 'senders', as in HubSpot's inbox"
    return None


def _role(value: dict[str, Any]) -> str:
    senders = value.get("senders")
    actor = label(lookup(senders[0], "actorId") if isinstance(senders, list) and senders else value.get("createdBy"))
    by_actor = _ACTORS.get(actor.partition("-")[0], "")
    if value.get("type") == "WELCOME_MESSAGE":
        return BOT
    if value.get("direction") == "INCOMING":
        return CUSTOMER
    if value.get("direction") == "OUTGOING":
        return by_actor if by_actor in (AGENT, BOT) else AGENT
    return by_actor or actor


def parse(found: Found, options: ReadOptions, path: str) -> Message:  # noqa: ARG001
    """Convert a message to a turn of its thread."""
    value = found.record.value
    text = text_in(value, "text") or plain_text(text_in(value, "richText"), keep_quotes=False)
    return Message(
        found.record.line,
        chat="",
        speaker=_role(value),
        text=without_quotes(text) if value.get("type") in _SAID and not value.get("archived") else "",
        time=options.times.read(value.get("createdAt")),
        thread=label(value.get("conversationsThreadId"), found.around.get("id")) or options.stem,
    )


READER = MessageExport(
    name="hubspot",
    title="HubSpot conversations",
    paths=((), ("results",), ("results", "messages"), ("results", "messages", "results"), ("messages", "results")),
    sign=_sign,
    parse=parse,
    pieces=True,
)
