"""`/v1/replies`."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from turnloom.service.schemas.common import Answered, Asked, Name, Text, Turns

__all__ = [
    "AddConversations",
    "NewConversation",
    "NewTurn",
    "Pending",
    "Reply",
    "ReplySource",
    "SuggestRequest",
    "SuggestResponse",
]


class SuggestRequest(Asked):
    """A conversation that wants a reply.

    Attributes:
        context: The turns so far, the oldest first.
        k: How many replies.
        mode: What is compared: vectors, words, both ("hybrid"), or similar contexts ("contexts", "all").
        min_count: Only replies that were given so often.
        sources: Only replies from these logs.
        domains: Only replies from conversations of these domains.
    """

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"context": ["Hello", "Hi!", "I lost my card"], "k": 3}]}
    )

    context: Turns
    k: int = Field(5, ge=1, le=50)
    mode: Literal["hybrid", "vector", "text", "contexts", "all"] | None = None
    min_count: int | None = Field(None, ge=1, le=1_000_000_000)
    sources: list[Name] = Field([], max_length=100)
    domains: list[Name] = Field([], max_length=100)


class ReplySource(Answered):
    """Where a reply was given."""

    dialogue_id: str
    source: str
    turn: int


class Reply(Answered):
    """A reply that may fit.

    Attributes:
        text: The reply.
        score: What replies are ordered by.
        similarity: The cosine of context and reply, where vectors were compared.
        count: How often it was given.
        sources: Some of the conversations that it comes from.
    """

    text: str
    score: float
    similarity: float | None
    count: int
    sources: list[ReplySource]


class SuggestResponse(Answered):
    """The best first, and the version of the index that they come from."""

    version: int
    replies: list[Reply]


class NewTurn(Asked):
    """A turn of a conversation."""

    speaker: Name
    text: Text


class NewConversation(Asked):
    """A conversation whose replies shall be found from now on.

    Attributes:
        id: What identifies it in its source; the same conversation sent again with more turns adds only those.
        source: The log that it comes from.
        turns: The oldest first.
        domains: What it is about.
    """

    id: Name
    source: Name = "service"
    turns: list[NewTurn] = Field(min_length=2)
    domains: list[Name] = Field([], max_length=20)


class AddConversations(Asked):
    """Conversations to add."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "conversations": [
                        {
                            "id": "chat-1",
                            "turns": [
                                {"speaker": "customer", "text": "I lost my card"},
                                {"speaker": "agent", "text": "I block it now."},
                            ],
                        }
                    ]
                }
            ]
        },
    )

    conversations: list[NewConversation] = Field(min_length=1)


class Pending(Answered):
    """Accepted and on disk; searched after the next round of indexing.

    Attributes:
        accepted: How many were accepted now.
        pending: How many wait to be indexed.
    """

    accepted: int
    pending: int
