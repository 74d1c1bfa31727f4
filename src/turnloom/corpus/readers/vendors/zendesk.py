"""Zendesk tickets with comments: the full JSON export (a ticket per line) and the API's tickets."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.exports import ConversationExport, conversation
from turnloom.corpus.readers.fields import AGENT, BOT, CUSTOMER, has, label, lookup, objects_in, role_of
from turnloom.corpus.readers.fields import text_in as text_of
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.readers.markup import plain_text, without_quotes
from turnloom.corpus.schema import Dialogue, Turn

_SYSTEM = "-1"
"""The author of what triggers and automations write."""


def _sign(found: Found) -> str | None:
    value = found.record.value
    comments = value.get("comments")
    first: Any = comments[0] if isinstance(comments, list) and comments else None
    if has(first, "author_id", "created_at") and {"body", "html_body", "plain_body"} & set(first):
        return "its tickets have 'comments' with 'author_id' and 'body', as in Zendesk"
    return None


def _role(comment: dict[str, Any], ticket: dict[str, Any], roles: dict[str, str]) -> str:
    author = label(comment.get("author_id"))
    if author == _SYSTEM:
        return BOT
    known = role_of(lookup(comment, "author", "role")) or roles.get(author, "")
    requester = label(ticket.get("requester_id"), lookup(ticket, "requester", "id"))
    return known or (CUSTOMER if author and author == requester else AGENT if requester else author)


def _text(comment: dict[str, Any]) -> str:
    if comment.get("public") is False:
        return ""  # A note among agents.
    text = text_of(comment, "plain_body", "body") or plain_text(text_of(comment, "html_body"), keep_quotes=False)
    return without_quotes(plain_text(text))


def parse(found: Found, options: ReadOptions) -> Dialogue:
    """Convert a ticket; private comments are left out."""
    value = found.record.value
    ticket = value["ticket"] if isinstance(value.get("ticket"), dict) else value
    comments = objects_in(value if "comments" in value else ticket, "comments")
    roles = {label(user.get("id")): role_of(user.get("role")) for user in objects_in(value, "users")}
    turns = [
        Turn(_role(comment, ticket, roles), _text(comment), time=options.times.read(comment.get("created_at")))
        for comment in comments
    ]
    dialogue = conversation(ticket.get("id"), turns, found, options)
    tags = ticket.get("tags")
    dialogue.labels = [tag for tag in tags if isinstance(tag, str)] or None if isinstance(tags, list) else None
    return dialogue


READER = ConversationExport(
    name="zendesk",
    title="Zendesk tickets with comments",
    paths=((), ("tickets",)),
    sign=_sign,
    parse=parse,
)
