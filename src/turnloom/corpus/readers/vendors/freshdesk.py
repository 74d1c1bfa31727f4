"""Freshdesk tickets with conversations (API version 2), and with notes (the account export)."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.exports import ConversationExport, conversation
from turnloom.corpus.readers.fields import AGENT, CUSTOMER, has, objects_in, text_in
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.readers.markup import plain_text, without_quotes
from turnloom.corpus.schema import Dialogue, Turn

_WRAPPERS = ("helpdesk_note", "note")


def _ticket(value: dict[str, Any]) -> dict[str, Any]:
    inner = value.get("helpdesk_ticket")
    return inner if isinstance(inner, dict) else value


def _sign(found: Found) -> str | None:
    value = found.record.value
    if isinstance(value.get("helpdesk_ticket"), dict):
        return "its records are a 'helpdesk_ticket', as in Freshdesk"
    entries = value.get("conversations")
    if not isinstance(entries, list) or not (
        has(value, "description_text") or has(value, "description", "requester_id")
    ):
        return None
    if all(has(entry, "incoming") and ("body" in entry or "body_text" in entry) for entry in entries):
        return "its tickets have 'conversations' with 'incoming' and 'body', as in Freshdesk"
    return None


def _text(entry: dict[str, Any], *names: str) -> str:
    """Return the first text; the field named last is HTML."""
    text = text_in(entry, *names[:-1]) or plain_text(text_in(entry, names[-1]), keep_quotes=False)
    return without_quotes(text)


def _turn(entry: dict[str, Any], options: ReadOptions) -> Turn:
    entry = next((entry[name] for name in _WRAPPERS if isinstance(entry.get(name), dict)), entry)
    left_out = entry.get("private") is True or entry.get("deleted") is True
    return Turn(
        CUSTOMER if entry.get("incoming") is True else AGENT,
        "" if left_out else _text(entry, "body_text", "body_html" if "body_html" in entry else "body"),
        time=options.times.read(entry.get("created_at")),
    )


def parse(found: Found, options: ReadOptions) -> Dialogue:
    """Convert a ticket: its description is what the customer wrote first; private notes are left out."""
    ticket = _ticket(found.record.value)
    described = _text(ticket, "description_text", "description_html" if "description_html" in ticket else "description")
    turns = [Turn(CUSTOMER, described, time=options.times.read(ticket.get("created_at")))]
    for name in ("conversations", "notes"):
        turns += [_turn(entry, options) for entry in objects_in(ticket, name)]
    number = ticket.get("display_id", ticket.get("id"))
    return conversation(number, turns, found, options)


READER = ConversationExport(
    name="freshdesk",
    title="Freshdesk tickets",
    paths=((), ("tickets",), ("results",)),
    sign=_sign,
    parse=parse,
)
