"""`/v1/replies`: suggest, and add conversations."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response

from turnloom.errors import TurnloomError
from turnloom.replies import Suggestion
from turnloom.replies.store import quoted
from turnloom.service.errors import RefusedError
from turnloom.service.live_replies import LiveReplies, TooManyPendingError
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import ERRORS, Using, check_texts, in_thread, json_answer, needs, service_of
from turnloom.service.schemas.replies import AddConversations, Pending, SuggestRequest, SuggestResponse

__all__ = ["router"]

router = APIRouter(tags=["replies"], responses=ERRORS)


def _replies(using: Resources) -> LiveReplies:
    if using.replies is None:
        raise RefusedError(404, "not_served", "No replies are served.")
    return using.replies


def _condition(asked: SuggestRequest) -> str | None:
    """The filters as SQL; clients never write any."""
    parts = [f"count >= {asked.min_count}"] if asked.min_count else []
    parts += [
        f"array_has_any({column}, [{', '.join(map(quoted, names))}])"
        for column, names in (("sources", asked.sources), ("domains", asked.domains))
        if names
    ]
    return " AND ".join(parts) or None


def _shown(found: Suggestion) -> dict[str, Any]:
    return {
        "text": found.text,
        "score": found.score,
        "similarity": found.similarity,
        "count": found.count,
        "sources": [asdict(conversation) for conversation in found.conversations],
    }


@router.post("/v1/replies", response_model=SuggestResponse, dependencies=[needs("replies")])
async def suggest(asked: SuggestRequest, request: Request, using: Using) -> Response:
    """Past replies that fit a conversation, with where they were given."""
    replies = _replies(using)
    check_texts(service_of(request).config.limits, [asked.context], "context")
    try:
        version, found = await in_thread(replies.suggest, asked.context, asked.k, asked.mode, _condition(asked))
    except TurnloomError as error:
        raise RefusedError(422, "no_such_search", f"{error.problem}: {error.fix}.") from error
    return json_answer({"version": version, "replies": [_shown(suggestion) for suggestion in found]})


@router.post(
    "/v1/replies/conversations", status_code=202, response_model=Pending, dependencies=[needs("replies:write")]
)
async def add(asked: AddConversations, request: Request, using: Using) -> Response:
    """Accept conversations. They are on disk when this answers, and searched after the next round of indexing."""
    replies = _replies(using)
    limits = service_of(request).config.limits
    texts = [[turn.text for turn in conversation.turns] for conversation in asked.conversations]
    check_texts(limits, texts, "conversations")
    records = [conversation.model_dump() for conversation in asked.conversations]
    try:
        pending = await in_thread(replies.add, records)
    except TooManyPendingError:
        raise RefusedError(
            429, "too_many_pending", "Too many conversations wait to be indexed.", retry_after=10
        ) from None
    return json_answer({"accepted": len(records), "pending": pending}, 202)
