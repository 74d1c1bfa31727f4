"""`/v1/intents`: classify, list, add and remove examples."""

from __future__ import annotations

from typing import NoReturn

from fastapi import APIRouter, Request, Response

from turnloom.errors import TurnloomError
from turnloom.intents.examples import UnknownIntentError
from turnloom.service.errors import RefusedError
from turnloom.service.live_intents import LiveIntents
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import (
    ERRORS,
    Using,
    check_texts,
    in_thread,
    json_answer,
    needs,
    service_of,
    turns_of,
)
from turnloom.service.schemas.intents import (
    AddExamples,
    Changed,
    ClassifyRequest,
    ClassifyResponse,
    IntentExamples,
    IntentList,
    RemoveExamples,
)

__all__ = ["router"]

router = APIRouter(tags=["intents"], responses=ERRORS)


def _intents(using: Resources) -> LiveIntents:
    if using.intents is None:
        raise RefusedError(404, "not_served", "No intents are served.")
    return using.intents


@router.post("/v1/intents", response_model=ClassifyResponse, dependencies=[needs("intents")])
async def classify(asked: ClassifyRequest, request: Request, using: Using) -> Response:
    """What each message wants: accepted intents, a question between two, or out of scope."""
    intents = _intents(using)
    check_texts(service_of(request).config.limits, asked.messages, "messages")
    messages = [turns_of(message) for message in asked.messages]
    answers = await in_thread(intents.answer, messages, asked.examples)
    return json_answer({"answers": [answer.as_dict() for answer in answers]})


@router.get("/v1/intents", response_model=IntentList, dependencies=[needs("intents")])
async def listed(using: Using) -> Response:
    """All intents and how many examples each has."""
    intents = _intents(using)
    found = await in_thread(intents.listed)
    summary = [{"intent": name, "examples": count} for name, count in found.items()]
    return json_answer({"method": intents.method, "intents": summary})


@router.get("/v1/intents/examples", response_model=IntentExamples, dependencies=[needs("intents")])
async def examples(intent: str, using: Using) -> Response:
    """The examples of one intent."""
    found = await in_thread(_intents(using).examples, intent)
    if not found:
        raise RefusedError(404, "no_such_intent", "This intent is not known.", param="intent")
    return json_answer({"intent": intent, "examples": found})


@router.post("/v1/intents/examples", response_model=Changed, dependencies=[needs("intents:write")])
async def add(asked: AddExamples, request: Request, using: Using) -> Response:
    """Learn from examples, of new intents too. They are on disk when this answers, and every worker uses them."""
    intents = _intents(using)
    check_texts(service_of(request).config.limits, [example.message for example in asked.examples], "examples")
    labelled = [(turns_of(example.message), turns_of(example.intent)) for example in asked.examples]
    if not intents.multi_label and any(len(names) > 1 for _, names in labelled):
        raise RefusedError(422, "several_intents", "A message has one intent here.", param="examples")
    try:
        return json_answer({"examples": await in_thread(intents.add, labelled)})
    except TurnloomError as error:
        _refuse(error)


@router.post("/v1/intents/examples/remove", response_model=Changed, dependencies=[needs("intents:write")])
async def remove(asked: RemoveExamples, request: Request, using: Using) -> Response:
    """Forget examples, or whole intents. At least one example must stay."""
    intents = _intents(using)
    check_texts(service_of(request).config.limits, [*asked.messages, *asked.intents], "messages")
    messages = [turns_of(message) for message in asked.messages]
    try:
        return json_answer({"examples": await in_thread(intents.remove, messages, asked.intents)})
    except TurnloomError as error:
        _refuse(error)


def _refuse(error: TurnloomError) -> NoReturn:
    """What the intents say of a wrong change holds names of intents and rules, no paths."""
    unknown = isinstance(error, UnknownIntentError)
    status, code = (404, "no_such_intent") if unknown else (409, "impossible_change")
    raise RefusedError(status, code, f"{error.problem}: {error.fix}.") from error
