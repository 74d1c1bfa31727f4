"""What a search gives back, and its final order: a re-ranker's scores beside the search's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Context, Scorer

RERANKED = 50
RERANK_WEIGHT = 0.7
"""What found most on validation splits (`studies/reranker`)."""
SURE = 1e-6
"""How near to 0 and 1 a probability is taken as it is: float32 has few numbers beyond."""
Scores = npt.NDArray[np.float64]


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


def blend(search: Scores, rerank: Scores, weight: float) -> Scores:
    """The scores of search and re-ranker as one, each in its own standard deviations from its mean.

    The two know different things, and their scales have nothing in common; the re-ranker alone forgets what the search
    knew. Probabilities of a re-ranker count by their log-odds: near 1 they hardly differ, however sure it is.

    Example:
        >>> blend(np.array([0.9, 0.8, 0.1]), np.array([-2.0, 3.0, 2.0]), 0.5).round(2).tolist()
        [-0.27, 0.74, -0.47]
    """
    return (1 - weight) * _standardised(search) + weight * _standardised(_unbounded(rerank))


def in_final_order(
    scorer: Scorer, context: Context, found: Sequence[Suggestion], weight: float = RERANK_WEIGHT
) -> list[Suggestion]:
    """What a search found, ordered by both the search and the re-ranker; with weight 1, scores are its own.

    Raises:
        TurnloomError: If the weight is not from 0 to 1.
    """
    if not 0 <= weight <= 1:
        raise TurnloomError(
            f"rerank_weight cannot be {weight}", "choose a weight from 0 (search alone) to 1 (re-ranker alone)"
        )
    if not found:
        return []
    rerank = np.asarray(scorer.score(context, [suggestion.text for suggestion in found]), np.float64)
    search = np.array([suggestion.search_score for suggestion in found])
    scores = rerank if weight == 1 else blend(search, rerank, weight)
    order = np.argsort(-scores, kind="stable")
    return [replace(found[place], score=float(scores[place])) for place in order]


def _unbounded(scores: Scores) -> Scores:
    """Log-odds, if all scores are between 0 and 1."""
    if not ((scores >= 0) & (scores <= 1)).all():
        return scores
    inside = np.clip(scores, SURE, 1 - SURE)
    return np.log(inside / (1 - inside))


def _standardised(scores: Scores) -> Scores:
    apart: Scores = scores - scores.mean()
    return apart / (float(scores.std()) or 1.0)
