"""The results of a search, and their final order: re-ranker scores blended with search scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError
from turnloom.runtime.conversation import ConversationEncoder, ConversationState
from turnloom.runtime.protocols import Context, Scorer, Vectors

RERANKED = 50
RERANK_WEIGHT = 0.7
"""The best weight on the validation splits (`studies/reranker`)."""
SURE = 1e-6
"""Probabilities are clipped this far from 0 and 1, where float32 loses precision."""
_DETAIL = re.compile(r"\b\d{1,2}[:.]\d{2}|\b\d{1,2} ?[ap]m?\b|\b[A-Z]{1,3}-?\d{2,}\b|\b\d{3,}\b")
"""Times of day, codes of letters and digits, and longer numbers."""
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Where a reply was given.

    Attributes:
        dialogue_id: The dialogue.
        source: The log it comes from.
        turn: The turn's index, from 0.
    """

    dialogue_id: str
    source: str
    turn: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A reply that may fit.

    Attributes:
        text: The reply.
        score: The score that orders the suggestions: the search score, or its blend with the re-ranker's score.
        search_score: The search score.
        similarity: The cosine of context and reply, if vectors were compared.
        count: How often it was given.
        conversations: Some of the conversations it comes from.
        key: Identifies it in the index.
    """

    text: str
    score: float
    search_score: float
    similarity: float | None
    count: int
    conversations: tuple[Conversation, ...]
    key: int


def blend(search: Scores, rerank: Scores, weight: float) -> Scores:
    """Blend search and re-ranker scores, each standardised to mean 0 and standard deviation 1.

    The two scales have nothing in common, and a re-ranker alone discards useful search ranking. A re-ranker's
    probabilities enter as log-odds, because near 1 they hardly differ, however confident it is.

    Example:
        >>> blend(np.array([0.9, 0.8, 0.1]), np.array([-2.0, 3.0, 2.0]), 0.5).round(2).tolist()
        [-0.27, 0.74, -0.47]
    """
    return (1 - weight) * standardised(search) + weight * standardised(_unbounded(rerank))


def in_final_order(
    scorer: Scorer, context: Context, found: Sequence[Suggestion], weight: float = RERANK_WEIGHT
) -> list[Suggestion]:
    """Order search results by search and re-ranker; with weight 1, by the re-ranker's own scores.

    Raises:
        TurnloomError: If the weight is not between 0 and 1.
    """
    if not 0 <= weight <= 1:
        raise TurnloomError(
            f"rerank_weight cannot be {weight}", "choose a weight from 0 (search alone) to 1 (re-ranker alone)"
        )
    if not found:
        return []
    rerank = np.asarray(scorer.score(context, [suggestion.text for suggestion in found]), np.float64)
    search = np.array([suggestion.search_score for suggestion in found])
    return in_order_of(rerank if weight == 1 else blend(search, rerank, weight), found)


def in_order_of(scores: Scores, found: Sequence[Suggestion]) -> list[Suggestion]:
    """Order search results by new scores, best first."""
    order = np.argsort(-scores, kind="stable")
    return [replace(found[place], score=float(scores[place])) for place in order]


def by_own_reranker(state: ConversationState, vectors: Vectors, found: Sequence[Suggestion]) -> list[Suggestion]:
    """Order search results by the re-ranker of the conversation encoder, from their stored vectors."""
    return in_order_of(state.rerank(vectors), found)


def of_this_case_first(found: Sequence[Suggestion], context: Context) -> list[Suggestion]:
    """Put replies last that were given once and name a time, a code or a number that is not in this conversation.

    They tell somebody else about their case: "Your flight BA208 leaves at 7:16".
    """
    said = "\n".join(context)

    def is_another(suggestion: Suggestion) -> bool:
        return suggestion.count == 1 and any(detail not in said for detail in _DETAIL.findall(suggestion.text))

    return sorted(found, key=is_another)


def own_reranker(encoder: Any) -> ConversationEncoder | None:
    """Return the conversation encoder of an encoder if it has a re-ranker."""
    reader = getattr(encoder, "conversation", encoder)
    return reader if isinstance(reader, ConversationEncoder) and reader.reranker is not None else None


def _unbounded(scores: Scores) -> Scores:
    """Return log-odds if all scores are between 0 and 1, else the scores."""
    if not ((scores >= 0) & (scores <= 1)).all():
        return scores
    inside = np.clip(scores, SURE, 1 - SURE)
    return np.log(inside / (1 - inside))


def standardised(scores: Scores) -> Scores:
    """Return scores with mean 0 and standard deviation 1."""
    apart: Scores = scores - scores.mean()
    return apart / (float(scores.std()) or 1.0)


def check_question(context: Context, k: int) -> None:
    """Refuse a search without a context, or for no reply."""
    if isinstance(context, str):
        raise TurnloomError("a context is a list of turns, not one text", "put the message into a list")
    if not context or k < 1:
        raise TurnloomError("a search needs a turn of context and a k from 1", "give the last message at least")
