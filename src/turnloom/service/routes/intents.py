"""`/v1/intents`: classify, list, add and remove examples."""

from __future__ import annotations

from typing import Literal, NoReturn

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from turnloom.errors import TurnloomError
from turnloom.intents.examples import UnknownIntentError
from turnloom.service.errors import RefusedError
from turnloom.service.live_intents import LiveIntents
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import (
    ERRORS,
    Asked,
    Name,
    Text,
    Turns,
    Using,
    change,
    check_texts,
    example,
    in_thread,
    json_answer,
    needs,
    not_served,
    refuse_personal,
    turns_of,
)

router = APIRouter(tags=["intents"], responses=ERRORS)


class ClassifyRequest(Asked):
    """Messages to classify.

    Attributes:
        messages: Each a text, or the turns of a conversation with the message last.
        examples: How many of the nearest examples to return.
    """

    model_config = example(messages=["I lost my card", ["Hi", "How can I help?", "it was stolen"]])

    messages: list[Text | Turns] = Field(min_length=1)
    examples: int = Field(3, ge=0, le=20)


class IntentCandidate(BaseModel):
    """An intent and its probability, given that the message is in scope."""

    intent: str
    probability: float


class NearExample(BaseModel):
    """An example that is similar to the message."""

    text: str
    intents: list[str]
    similarity: float


class MessageAnswer(BaseModel):
    """What to do with a message, and why.

    Attributes:
        decision: `accept` the intents, `ask` which of the first two candidates is meant, or `out_of_scope`.
        intents: The accepted intents.
        candidates: The most likely intents, whatever the decision.
        familiarity: The similarity to the closest intent.
        rank: The share of in-scope messages that are less familiar.
        nearest: The most similar examples.
    """

    decision: Literal["accept", "ask", "out_of_scope"]
    intents: list[str]
    candidates: list[IntentCandidate]
    familiarity: float
    rank: float
    nearest: list[NearExample]


class ClassifyResponse(BaseModel):
    """One answer per message, in the same order."""

    answers: list[MessageAnswer]


class IntentSummary(BaseModel):
    """An intent and what it was learned from.

    Attributes:
        intent: Its name.
        examples: Its number of examples.
        believed: How many messages of the pool are believed to have it; 0 if no pool is used.
    """

    intent: str
    examples: int
    believed: int


class PoolSummary(BaseModel):
    """What a pool of unlabelled messages did when the intents were fitted.

    Attributes:
        messages: How many distinct messages it has.
        believed: How many clearly have one of the intents.
        trusted: Whether it is used.
    """

    messages: int
    believed: int
    trusted: bool


class IntentList(BaseModel):
    """All intents, and what the pool did that they were fitted with, if any."""

    method: str
    pool: PoolSummary | None
    intents: list[IntentSummary]


class IntentExamples(BaseModel):
    """The examples of an intent, each as a list of turns."""

    intent: str
    examples: list[list[str]]


class LabelledExample(Asked):
    """A message and its intent or intents, or an intent alone.

    Attributes:
        message: A text, or the turns of a conversation with the message last. Without one, the intent is known by its
            name until it has examples.
        intent: Its intent, or several where messages may have several.
        description: What the intent is called, if the name says too little.
    """

    message: Text | Turns | None = None
    intent: Name | list[Name] = Field(min_length=1)
    description: Text | None = None


class AddExamples(Asked):
    """Examples to add."""

    model_config = example(examples=[{"message": "my card is gone", "intent": "lost card"}])

    examples: list[LabelledExample] = Field(min_length=1)


class RemoveExamples(Asked):
    """Examples or whole intents to remove."""

    model_config = example(messages=["my card is gone"], intents=[])

    messages: list[Text | Turns] = Field(default_factory=list)
    intents: list[Name] = Field(default_factory=list)


class Changed(BaseModel):
    """The result of a change. It is saved, and every worker uses it from now on.

    Attributes:
        examples: The new number of examples (after adding), or how many were removed.
    """

    examples: int


def _intents(using: Resources) -> LiveIntents:
    if using.intents is None:
        raise not_served(using, "intents")
    return using.intents


@router.post("/v1/intents", response_model=ClassifyResponse, dependencies=[needs("intents")])
async def classify(asked: ClassifyRequest, using: Using) -> Response:
    """Classify messages: accept intents, ask between two, or out of scope."""
    intents = _intents(using)
    check_texts(using.limits, asked.messages, "messages")
    messages = [turns_of(message) for message in asked.messages]
    answers = await in_thread(intents.answer, messages, asked.examples)
    return json_answer({"answers": [answer.as_dict() for answer in answers]})


@router.get("/v1/intents", response_model=IntentList, dependencies=[needs("intents")])
async def listed(using: Using) -> Response:
    """List all intents with what they were learned from."""
    intents = _intents(using)
    found, pool = await in_thread(lambda: (intents.listed(), intents.pool()))
    believed = pool.strengthened if pool is not None and pool.trusted else {}
    summary = [{"intent": name, "examples": count, "believed": believed.get(name, 0)} for name, count in found.items()]
    did = pool and {"messages": pool.messages, "believed": pool.believed, "trusted": pool.trusted}
    return json_answer({"method": intents.method, "pool": did, "intents": summary})


@router.get("/v1/intents/examples", response_model=IntentExamples, dependencies=[needs("intents")])
async def examples(intent: str, using: Using) -> Response:
    """List the examples of one intent."""
    found = await in_thread(_intents(using).examples, intent)
    if found is None:
        raise RefusedError(404, "no_such_intent", "This intent is not known.", param="intent")
    return json_answer({"intent": intent, "examples": found})


@router.post("/v1/intents/examples", response_model=Changed, dependencies=[needs("intents:write")])
async def add(asked: AddExamples, using: Using, request: Request) -> Response:
    """Add examples, also of new intents, or intents by their name alone.

    A success response means that they are saved and every worker uses them. Personal data is replaced by placeholders
    first, unless the service is configured to keep it.
    """
    intents = _intents(using)
    check_texts(using.limits, [one.message or one.description or one.intent for one in asked.examples], "examples")
    check_texts(using.limits, [one.description for one in asked.examples if one.description], "examples")
    labelled = [(turns_of(one.message), turns_of(one.intent)) for one in asked.examples if one.message is not None]
    names = {
        name: one.description or ""
        for one in asked.examples
        if one.message is None or one.description
        for name in turns_of(one.intent)
    }
    if not intents.multi_label and any(len(names) > 1 for _, names in labelled):
        raise RefusedError(422, "several_intents", "A message has one intent here.", param="examples")
    named = {name for _, labels in labelled for name in labels} | set(names)
    await refuse_personal(request, named - set(await in_thread(intents.listed)), "examples")
    what = {"examples": len(labelled), "intents": sorted(named)}
    try:
        total = await change(request, using, "intents.add", what, intents.add, labelled, names)
        return json_answer({"examples": total})
    except TurnloomError as error:
        _refuse(error)


@router.post("/v1/intents/examples/remove", response_model=Changed, dependencies=[needs("intents:write")])
async def remove(asked: RemoveExamples, using: Using, request: Request) -> Response:
    """Remove examples or whole intents. At least one example must remain."""
    intents = _intents(using)
    check_texts(using.limits, [*asked.messages, *asked.intents], "messages")
    messages = [turns_of(message) for message in asked.messages]
    # Names that are no intent's could be anything.
    known = await in_thread(intents.listed)
    what = {"examples": len(messages), "intents": sorted(set(asked.intents) & set(known))}
    try:
        removed = await change(request, using, "intents.remove", what, intents.remove, messages, asked.intents)
        return json_answer({"examples": removed})
    except TurnloomError as error:
        _refuse(error)


def _refuse(error: TurnloomError) -> NoReturn:
    """Pass on the error message: it contains intent names and rules, no paths."""
    unknown = isinstance(error, UnknownIntentError)
    status, code = (404, "no_such_intent") if unknown else (409, "impossible_change")
    raise RefusedError(status, code, f"{error.problem}: {error.fix}.") from error
