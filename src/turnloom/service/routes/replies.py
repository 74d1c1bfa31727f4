"""`/v1/replies`: suggest, and add conversations."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from turnloom.errors import TurnloomError
from turnloom.replies.search import Mode
from turnloom.replies.store import quoted
from turnloom.service.audit import digest
from turnloom.service.errors import RefusedError
from turnloom.service.live_replies import LiveReplies
from turnloom.service.models import conversation_tokens
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import (
    ERRORS,
    Asked,
    Name,
    Text,
    Turns,
    Using,
    change,
    charge_tokens,
    check_texts,
    example,
    in_thread,
    json_answer,
    needs,
    not_served,
    refuse_personal,
)

router = APIRouter(tags=["replies"], responses=ERRORS)


class SuggestRequest(Asked):
    """A conversation that needs a reply.

    Attributes:
        context: The turns so far, oldest first.
        conversation: The conversation's id, if it goes on: with a conversation encoder, the service then remembers the
            vectors of earlier turns and encodes only new ones. Send all turns every time.
        k: How many replies to return.
        mode: What to compare: vectors, words, both ("hybrid"), similar contexts ("contexts"), or everything ("all");
            "typical" prefers what the nearest replies say alike. By default, the mode of service.yaml, which may also
            leave out replies of low scores.
        min_count: Only replies given at least this often.
        sources: Only replies from these logs.
        domains: Only replies from conversations of these domains.
    """

    model_config = example(context=["Hello", "Hi!", "I lost my card"], k=3)

    context: Turns
    conversation: Name | None = None
    k: int = Field(5, ge=1, le=50)
    mode: Mode | None = None
    min_count: int | None = Field(None, ge=1, le=1_000_000_000)
    sources: list[Name] = Field([], max_length=100)
    domains: list[Name] = Field([], max_length=100)


class ReplySource(BaseModel):
    """Where a reply was given."""

    dialogue_id: str
    source: str
    turn: int


class Reply(BaseModel):
    """A reply that may fit.

    Attributes:
        text: The reply.
        score: The score that orders the replies.
        similarity: The cosine of context and reply, if vectors were compared.
        count: How often it was given.
        sources: Some of the conversations it comes from.
    """

    text: str
    score: float
    similarity: float | None
    count: int
    sources: list[ReplySource]


class SuggestResponse(BaseModel):
    """Replies, best first, and the version of the index they come from."""

    version: int
    replies: list[Reply]


class NewTurn(Asked):
    """A turn of a conversation."""

    speaker: Name
    text: Text


class NewConversation(Asked):
    """A conversation to learn replies from.

    Attributes:
        id: Identifies the conversation in its source. Send it again with more turns, and only the new ones are added.
        source: The log it comes from.
        turns: The turns, oldest first.
        domains: Its topics.
    """

    id: Name
    source: Name = "service"
    turns: list[NewTurn] = Field(min_length=2)
    domains: list[Name] = Field([], max_length=20)


class AddConversations(Asked):
    """Conversations to add."""

    model_config = example(
        conversations=[
            {
                "id": "chat-1",
                "turns": [
                    {"speaker": "customer", "text": "I lost my card"},
                    {"speaker": "agent", "text": "I block it now."},
                ],
            }
        ]
    )

    conversations: list[NewConversation] = Field(min_length=1)


class Pending(BaseModel):
    """The conversations are saved; they become searchable after the next round of indexing.

    Attributes:
        accepted: How many this request added.
        pending: How many are waiting to be indexed.
    """

    accepted: int
    pending: int


def _replies(using: Resources) -> LiveReplies:
    if using.replies is None:
        raise not_served(using, "replies")
    return using.replies


def _condition(asked: SuggestRequest) -> str | None:
    """Build the filters as SQL; clients never write any."""
    parts = [f"count >= {asked.min_count}"] if asked.min_count else []
    parts += [
        f"array_has_any({column}, [{', '.join(map(quoted, names))}])"
        for column, names in (("sources", asked.sources), ("domains", asked.domains))
        if names
    ]
    return " AND ".join(parts) or None


@router.post("/v1/replies", response_model=SuggestResponse, dependencies=[needs("replies")])
async def suggest(asked: SuggestRequest, using: Using, request: Request) -> Response:
    """Find past replies that fit a conversation, with their sources."""
    served = _replies(using)
    check_texts(using.limits, [asked.context], "context")
    key = request.scope["state"].get("key")
    conversation = (key.name if key else "", asked.conversation) if asked.conversation is not None else None
    try:
        version, suggested = await in_thread(
            served.suggest, asked.context, asked.k, asked.mode, _condition(asked), conversation
        )
    except TurnloomError as error:
        raise RefusedError(422, "no_such_search", f"{error.problem}: {error.fix}.") from error
    replies = [
        {
            "text": reply.text,
            "score": reply.score,
            "similarity": reply.similarity,
            "count": reply.count,
            "sources": [asdict(conversation) for conversation in reply.conversations],
        }
        for reply in suggested
    ]
    return json_answer({"version": version, "replies": replies})


@router.post(
    "/v1/replies/conversations", status_code=202, response_model=Pending, dependencies=[needs("replies:write")]
)
async def add(asked: AddConversations, using: Using, request: Request) -> Response:
    """Add conversations. A success response means they are saved; the next indexing round makes them searchable.

    Personal data in their texts is replaced by placeholders first, unless the service is configured to keep it.
    """
    served = _replies(using)
    texts = [[turn.text for turn in conversation.turns] for conversation in asked.conversations]
    check_texts(using.limits, texts, "conversations", charged=False)
    charge_tokens(sum(map(conversation_tokens, texts)), None, "conversations")  # Computed later, a few at a time
    records = [conversation.model_dump() for conversation in asked.conversations]
    named = {name for conversation in asked.conversations for name in (conversation.source, *conversation.domains)}
    await refuse_personal(request, named, "conversations")
    what = {"conversations": [digest(conversation.id) for conversation in asked.conversations]}
    pending = await change(request, using, "replies.add", what, served.add, records)
    return json_answer({"accepted": len(records), "pending": pending}, 202)
