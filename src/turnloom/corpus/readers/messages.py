"""Chat `messages` records (role and content) and ShareGPT `conversations` (from and value)."""

from __future__ import annotations

import re
from typing import Any

from turnloom.corpus.readers.base import JsonReader, ReadOptions, identifier, strings
from turnloom.corpus.readers.json_records import JsonRecord
from turnloom.corpus.schema import BadDialogueError, Dialogue, Turn

_SHAREGPT_ROLES = {"human": "user", "gpt": "assistant", "chatgpt": "assistant", "bard": "assistant"}
_NOT_SAID = {"system", "developer", "tool", "function", "function_call", "observation"}
"""Instructions to a model and tool output, which nobody said to anybody."""


def _text(content: Any) -> str:
    """Return plain content, or the text parts of multi-part content; empty for pictures and tool calls."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
        return "\n".join(part for part in parts if isinstance(part, str))
    raise BadDialogueError(f"a message's content is {type(content).__name__}, not text", content)


def _turn(message: Any, options: ReadOptions) -> Turn:
    if not isinstance(message, dict):
        raise BadDialogueError(f"a message is {type(message).__name__}, not an object", message)
    role = message.get("role", message.get("from"))
    if not isinstance(role, str):
        raise BadDialogueError("a message has no 'role' (or 'from')", message)
    if role in _NOT_SAID:
        return Turn(role, "")
    if "content" not in message and "value" not in message and "tool_calls" not in message:
        raise BadDialogueError("a message has no 'content' (or 'value')", message)
    time = options.times.read(message.get("timestamp", message.get("time")))
    return Turn(_SHAREGPT_ROLES.get(role, role), _text(message.get("content", message.get("value"))), time=time)


def parse(record: JsonRecord, options: ReadOptions) -> Dialogue:
    """Convert a record to a dialogue."""
    value = record.value
    messages = value.get("messages", value.get("conversations"))
    if not isinstance(messages, list):
        raise BadDialogueError("a record has no list of 'messages' (or 'conversations')", value)
    name = next((value[key] for key in ("id", "conversation_id", "dialogue_id") if value.get(key) is not None), None)
    return Dialogue(
        dialogue_id=identifier(name, record, options),
        source=options.source,
        turns=[_turn(message, options) for message in messages],
        language=value["language"] if isinstance(value.get("language"), str) else options.language,
        labels=strings(value.get("labels"), "labels"),
    )


READER = JsonReader(
    name="messages",
    title="chat messages JSON (role and content, or ShareGPT)",
    start=re.compile(r'\{\s*"(?:id|conversation_id|messages|conversations)"\s*:'),
    signs={
        ("messages", "role"): "its records have 'messages' with 'role'",
        ("conversations", "from"): "its records have 'conversations' with 'from'",
        ("conversations", "role"): "its records have 'conversations' with 'role'",
    },
    parse=parse,
)
