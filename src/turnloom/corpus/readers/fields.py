"""Take values from the records of an export, whose shape nobody guarantees."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from turnloom.corpus.schema import BadDialogueError, Turn

AGENT, CUSTOMER, BOT = "agent", "customer", "bot"
ROLES = {
    name: role
    for role, names in (
        (
            AGENT,
            "agent human_agent admin operator internal supervisor teammate staff representative rep support advisor",
        ),
        (CUSTOMER, "customer user visitor end-user enduser lead contact external client caller requester guest"),
        (BOT, "bot ivr trigger virtual_agent virtualagent ai_agent automation workflow chatbot voicebot flow"),
    )
    for name in names.split()
}
"""What vendors call the roles."""


def role_of(value: Any) -> str:
    """Return the role behind a vendor's word for it; empty if it is none."""
    return ROLES.get(value.strip().lower(), "") if isinstance(value, str) else ""


def lookup(record: Any, *keys: str) -> Any:
    """Return the value behind a path of keys; None if there is none."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def text_in(record: Any, *names: str) -> str:
    """Return the first of several fields that has a text; raises BadDialogueError if one is not text."""
    for name in names:
        value = lookup(record, name)
        if value is not None and not isinstance(value, str):
            raise BadDialogueError(f"{name!r} is {type(value).__name__}, not text")
        if value and value.strip():
            return value
    return ""


def label(*values: Any) -> str:
    """Return the first value that can be a name or an id, as text; empty if there is none."""
    for value in values:
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def objects_in(record: Any, name: str) -> list[dict[str, Any]]:
    """Return a list of objects that must be one if it exists; raises BadDialogueError otherwise."""
    entries = lookup(record, name)
    if entries is None:
        return []
    if isinstance(entries, dict):  # Some exports write an object by number instead of a list.
        entries = list(entries.values())
    if not isinstance(entries, list):
        raise BadDialogueError(f"{name!r} is {type(entries).__name__}, not a list")
    for entry in entries:
        if not isinstance(entry, dict):
            raise BadDialogueError(f"an entry of {name!r} is {type(entry).__name__}, not an object")
    return entries


def has(record: Any, *names: str) -> bool:
    """Whether a record has all these fields."""
    return isinstance(record, dict) and all(name in record for name in names)


_BEFORE_ALL = dt.datetime(1, 1, 1, tzinfo=dt.timezone.utc)


def in_time_order(turns: Iterable[Turn]) -> list[Turn]:
    """Sort turns by time; one without a time stays behind the one before it, and equal times keep their order."""
    keyed = []
    latest = _BEFORE_ALL
    for turn in turns:
        latest = turn.time or latest
        keyed.append((latest, turn))
    return [turn for _, turn in sorted(keyed, key=lambda pair: pair[0])]
