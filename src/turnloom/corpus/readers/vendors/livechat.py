"""LiveChat archives: threads of events (API version 3) and lists of messages (version 2)."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.exports import ConversationExport, conversation
from turnloom.corpus.readers.fields import BOT, has, label, lookup, objects_in, role_of, text_in
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.schema import Dialogue, Turn


def _sign(found: Found) -> str | None:
    value = found.record.value
    threads = [value.get("thread"), *(value["threads"] if isinstance(value.get("threads"), list) else [])]
    if "users" in value and any(has(thread, "events") for thread in threads):
        return "its chats have 'users' and a 'thread' of 'events', as in LiveChat"
    messages = value.get("messages")
    if isinstance(messages, list) and any(has(message, "author_name", "user_type") for message in messages):
        return "its chats have 'messages' with 'author_name' and 'user_type', as in LiveChat"
    return None


def _event(event: dict[str, Any], roles: dict[str, str], options: ReadOptions) -> Turn:
    author = label(event.get("author_id"))
    whispered = "agents" in (event.get("recipients"), event.get("visibility"))
    said = event.get("type") == "message" and not whispered
    text = text_in(event, "text") if said else ""
    return Turn(roles.get(author) or author, text, time=options.times.read(event.get("created_at")))


def _message(message: dict[str, Any], options: ReadOptions) -> Turn:
    said = message.get("type") in (None, "message") and message.get("user_type") != "system"
    time = options.times.read(message.get("timestamp") or message.get("date"))
    speaker = role_of(message.get("user_type")) or label(message.get("author_name"))
    return Turn(speaker, text_in(message, "text") if said else "", time=time)


def _user_role(user: dict[str, Any]) -> str:
    return BOT if user.get("is_bot") is True else role_of(user.get("type"))


def parse(found: Found, options: ReadOptions) -> Dialogue:
    """Convert a chat. A customer's chats over the years share one id, so a single thread gives its own."""
    value = found.record.value
    threads = objects_in(value, "threads") or ([value["thread"]] if isinstance(value.get("thread"), dict) else [])
    roles = {label(user.get("id")): _user_role(user) for user in objects_in(value, "users")}
    turns = [_event(event, roles, options) for thread in threads for event in objects_in(thread, "events")]
    turns += [_message(message, options) for message in objects_in(value, "messages")]
    name = lookup(threads[0], "id") if len(threads) == 1 else None
    return conversation(name or value.get("id"), turns, found, options)


READER = ConversationExport(
    name="livechat",
    title="LiveChat archives",
    paths=((), ("chats",)),
    sign=_sign,
    parse=parse,
)
