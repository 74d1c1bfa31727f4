"""Slack exports: a folder per channel with a JSON file per day, and `users.json` beside the folders."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from html import unescape
from typing import Any

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.chats import Message
from turnloom.corpus.readers.exports import MessageExport
from turnloom.corpus.readers.fields import BOT, has, label, lookup, text_in
from turnloom.corpus.readers.json_walk import Found
from turnloom.corpus.readers.location import READ_ERRORS, open_raw
from turnloom.errors import TurnloomError

_SAID = frozenset(
    ("", "bot_message", "me_message", "thread_broadcast", "reply_broadcast", "file_share", "file_comment")
)
"""The subtypes of messages that somebody said; others tell of joins, topics, deleted messages and the like."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{9,10}\.\d{6}")
_MARK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_USERS_BYTES = 256 * 2**20


def _sign(found: Found) -> str | None:
    value = found.record.value
    if has(value, "type", "ts") and value["type"] == "message" and _TIMESTAMP.fullmatch(str(value["ts"])):
        return "its messages have 'type', 'ts' and 'text', as in a Slack export"
    return None


def _place(path: str) -> tuple[str, str, str]:
    """Return the export's folder, the channel and the day of a file; a single file is its own channel."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    day = name.partition(".")[0]
    export, _, channel = folder.rpartition("/")
    return (export, channel, day) if _DAY.fullmatch(day) and channel else (folder, day, "")


@lru_cache(maxsize=16)
def _user_names(export: str) -> dict[str, str]:
    """Return the users' names by id from the list beside the channels; empty without one."""
    for name in ("users.json", "org_users.json"):
        try:
            with open_raw(f"{export}/{name}" if export else name) as raw:
                users = json.loads(raw.read(_USERS_BYTES))
        except (*READ_ERRORS, ValueError, RecursionError, TurnloomError):
            continue
        found = {label(lookup(user, "id")): _user_name(user) for user in users if isinstance(user, dict)}
        return {key: name for key, name in found.items() if key and name}
    return {}


def _user_name(user: dict[str, Any]) -> str:
    profile = lookup(user, "profile")
    names = (lookup(profile, "display_name"), lookup(profile, "real_name"), lookup(user, "real_name"))
    return BOT if lookup(user, "is_bot") is True else label(*names, lookup(user, "name"))


def _readable(text: str, names: dict[str, str]) -> str:
    """Return a text without Slack's marks: ``<@U1>`` is a user, ``<#C1|help>`` a channel, ``<url|label>`` a link."""

    def shown(mark: re.Match[str]) -> str:
        sign, target, caption = mark[1], mark[2], mark[3]
        if sign == "@":
            return "@" + (caption or names.get(target, target))
        if sign == "#":
            return "#" + (caption or target)
        if sign == "!":
            return caption or "@" + target.partition("^")[0]
        return caption or target.removeprefix("mailto:")

    return unescape(_MARK.sub(shown, text))


def _speaker(value: dict[str, Any], names: dict[str, str]) -> str:
    if value.get("subtype") == "bot_message" or (value.get("bot_id") and not value.get("user")):
        return BOT
    profile = value.get("user_profile")
    user = label(value.get("user"))
    known = names.get(user) or label(lookup(profile, "display_name"), lookup(profile, "real_name"))
    return known or (BOT if value.get("bot_id") else label(user, value.get("username")))


def parse(found: Found, options: ReadOptions, path: str) -> Message:
    """Convert a message: replies join their thread, other messages those of their channel and day."""
    value = found.record.value
    export, channel, day = _place(path)
    names = _user_names(export)
    subtype = label(value.get("subtype"))
    said = subtype in _SAID and not value.get("hidden") and value.get("type", "message") == "message"
    thread = label(value.get("thread_ts")) or None
    return Message(
        found.record.line,
        chat=channel if thread or not day else f"{channel}-{day}",
        speaker=_speaker(value, names),
        text=_readable(text_in(value, "text"), names) if said else "",
        time=options.times.read(value.get("ts")),
        thread=thread,
    )


READER = MessageExport(
    name="slack",
    title="Slack export (folders of days)",
    paths=((), ("messages",)),
    sign=_sign,
    parse=parse,
    pieces=True,
    spans_files=True,
)
