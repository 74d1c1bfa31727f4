"""`/v1/erasures`: erase conversations and persons from everything that a tenant keeps."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, model_validator

from turnloom.corpus.erasure import Erasure
from turnloom.errors import TurnloomError
from turnloom.service.audit import Actor, AuditLog, digest
from turnloom.service.errors import RefusedError
from turnloom.service.monitoring import cause_of
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import (
    ERRORS,
    Asked,
    Name,
    Using,
    actor_of,
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
PATIENCE = 0.9
"""The share of the time that a request has left in which it waits for its erasure."""
_log = logging.getLogger("turnloom.service")


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


class ErasingResponse(BaseModel):
    """The erasure takes longer than a request may, and goes on. The same request again waits for it.

    Attributes:
        status: That it goes on.
        request_id: What the audit log calls it; a line with `done` or `failed` there says that it has ended.
    """

    status: Literal["erasing"] = "erasing"
    request_id: str


@router.post(
    "/v1/erasures",
    response_model=ErasedResponse,
    responses={202: {"model": ErasingResponse}},
    dependencies=[needs("erase")],
)
async def erase(asked: EraseRequest, using: Using, request: Request) -> Response:
    """Erase conversations from the index and all its versions, from what waits, and from intents and feedback.

    200: all of it is gone. 202: it takes longer than a request may, and goes on; send the same request again to wait
    for it. What is gone already is no error.
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
        running = _threads.submit(audited(request, using, "erase", what, _erase, using, erasure))
        by = actor_of(request)
        if await _ends_in_time(running, request.scope["state"]["deadline"], using.audit, by):
            return json_answer(running.result())
        return json_answer({"status": "erasing", "request_id": by.request_id}, 202)
    except TurnloomError as error:
        raise RefusedError(409, "not_erased", f"{without_folders(error.problem)}: {error.fix}.") from error


async def _ends_in_time(running: Future[dict[str, int]], deadline: float, log: AuditLog, by: Actor) -> bool:
    """Wait for an erasure while its request has time to answer. If that ends first, the end will be in the logs."""
    rest = max(0.0, deadline - time.monotonic()) * PATIENCE
    waited = asyncio.wrap_future(running)
    waited.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # Otherwise asyncio warns of it.
    try:
        await asyncio.wait({waited}, timeout=rest)
        return running.done()
    finally:
        if not running.done():
            running.add_done_callback(partial(_note_end, log, by))


def _note_end(log: AuditLog, by: Actor, running: Future[dict[str, int]]) -> None:
    """Say that an erasure has ended whose request has been answered before."""
    named = {"request_id": by.request_id}
    error = running.exception()
    if error is not None:  # The audit log has a line for it.
        _log.error("not erased", extra={**cause_of(error), **named})
        return
    _log.info("erased", extra={**running.result(), **named})
    log.note_done(by, "erase")


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
