"""`/v1/erasures`: erase conversations and persons from everything that a tenant keeps."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, model_validator

from turnloom.corpus.erasure import Erasure
from turnloom.errors import TurnloomError
from turnloom.service.audit import digest
from turnloom.service.errors import RefusedError
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import (
    ERRORS,
    Asked,
    Name,
    Using,
    audited,
    example,
    json_answer,
    needs,
    not_served,
    without_folders,
)

router = APIRouter(tags=["erasures"], responses=ERRORS)
_threads = ThreadPoolExecutor(1, "erasure")
"""One at a time, beside the threads of requests: an erasure waits for locks and writes the whole index again."""


class EraseRequest(Asked):
    """What to erase.

    Attributes:
        conversations: The ids of conversations.
        speakers: The ids of persons, as conversations name their speakers: every conversation in which one of them
            speaks is erased as a whole.
        source: Erase only conversations of this source.
    """

    model_config = example(conversations=["chat-1"])

    conversations: list[Name] = Field([], max_length=10_000)
    speakers: list[Name] = Field([], max_length=10_000)
    source: Name | None = None

    @model_validator(mode="after")
    def _names_something(self) -> EraseRequest:
        if not self.conversations and not self.speakers:
            raise ValueError("name conversations or speakers")
        return self


class ErasedResponse(BaseModel):
    """What was erased. Nothing of it is on disk any more.

    Attributes:
        conversations: How many conversations, in the index or waiting for it.
        pending: How many of them were waiting to be indexed.
        examples: How many examples of intents and messages of their pool were said in these conversations and in no
            other.
        feedback: How much feedback was given in these conversations, or repeats what was said only in them.
    """

    conversations: int
    pending: int
    examples: int
    feedback: int


@router.post("/v1/erasures", response_model=ErasedResponse, dependencies=[needs("erase")])
async def erase(asked: EraseRequest, using: Using, request: Request) -> Response:
    """Erase conversations from the index and all its versions, from what waits, and from intents and feedback.

    Repeat a request that was not answered: what is gone already is no error.
    """
    for part in ("replies", "intents"):
        if part in using.problems:
            raise not_served(using, part)
    try:
        erasure = Erasure(frozenset(asked.conversations), frozenset(asked.speakers), asked.source)
        what = {
            "conversations": [digest(name) for name in asked.conversations],
            "speakers": [digest(name) for name in asked.speakers],
        }
        call = audited(request, using, "erase", what, _erase, using, erasure)
        return json_answer(await asyncio.get_running_loop().run_in_executor(_threads, call))
    except TurnloomError as error:
        raise RefusedError(409, "not_erased", f"{without_folders(error.problem)}: {error.fix}.") from error


def _erase(using: Resources, erasure: Erasure) -> dict[str, int]:
    examples = said = 0

    def erase_beside(erasure: Erasure, texts: frozenset[str]) -> None:
        nonlocal examples, said
        examples = using.intents.erase(texts) if using.intents is not None else 0
        said = using.feedback.erase(erasure, texts)

    if using.replies is not None:
        conversations, pending = using.replies.erase(erasure, erase_beside)
    else:
        conversations, pending = 0, 0
        erase_beside(erasure, frozenset())
    return {"conversations": conversations, "pending": pending, "examples": examples, "feedback": said}
