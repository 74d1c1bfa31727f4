"""What a search gives back."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Conversation", "Suggestion"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Where a reply was given.

    Attributes:
        dialogue_id: The dialogue.
        source: The log that it comes from.
        turn: Which turn of it, from 0.
    """

    dialogue_id: str
    source: str
    turn: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A reply that may fit.

    Attributes:
        text: The reply.
        score: What suggestions of one search are ordered by: the search's score, or what it and the re-ranker make
            together.
        search_score: The score of the search.
        similarity: The cosine of context and reply, where their vectors were compared.
        count: How often it was given.
        conversations: Some of the conversations that it comes from.
        key: What identifies it in the index.
    """

    text: str
    score: float
    search_score: float
    similarity: float | None
    count: int
    conversations: tuple[Conversation, ...]
    key: int
