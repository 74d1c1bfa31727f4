"""Intercom conversations with their parts, as the API and the data export to cloud storage write them."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.exports import ConversationExport, conversation
from turnloom.corpus.readers.fields import has, label, lookup, objects_in, role_of, text_in
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.readers.markup import plain_text, without_quotes
from turnloom.corpus.schema import Dialogue, Turn

_PRIVATE = ("note", "note_and_reopen")


def _sign(found: Found) -> str | None:
    value = found.record.value
    if "conversation_parts" in value and ("source" in value or "conversation_message" in value or "id" in value):
        return "its conversations have 'conversation_parts', as in Intercom"
    return None


def _turn(part: dict[str, Any], options: ReadOptions, created: Any) -> Turn:
    author = part.get("author")
    private = part.get("part_type") in _PRIVATE or part.get("redacted") is True
    text = "" if private else without_quotes(plain_text(text_in(part, "body"), keep_quotes=False))
    speaker = role_of(lookup(author, "type")) or label(lookup(author, "name"), lookup(author, "id"))
    return Turn(speaker, text, time=options.times.read(created))


def parse(found: Found, options: ReadOptions) -> Dialogue:
    """Convert a conversation: its first message, then its parts. Notes among teammates are left out."""
    value = found.record.value
    first = value.get("source") or value.get("conversation_message")
    turns = [_turn(first, options, value.get("created_at"))] if isinstance(first, dict) else []
    parts = value.get("conversation_parts")
    nested = parts if has(parts, "conversation_parts") else value
    turns += [_turn(part, options, part.get("created_at")) for part in objects_in(nested, "conversation_parts")]
    return conversation(value.get("id"), turns, found, options)


READER = ConversationExport(
    name="intercom",
    title="Intercom conversations",
    paths=((), ("conversations",), ("data",)),
    sign=_sign,
    parse=parse,
)
