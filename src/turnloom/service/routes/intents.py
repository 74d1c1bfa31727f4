"""`/v1/intents`: classify, list, add and remove examples."""

from __future__ import annotations

from typing import Literal, NoReturn

from fastapi import APIRouter, Response
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
    check_texts,
    example,
    in_thread,
    json_answer,
    needs,
    turns_of,
)

router = APIRouter(tags=["intents"], responses=ERRORS)


class ClassifyRequest(Asked):
    """Messages to understand.

    Attributes:
        messages: Each a text, or the turns of a conversation with the message last.
        examples: How many of the nearest examples are told.
    """

    model_config = example(messages=["I lost my card", ["Hi", "How can I help?", "it was stolen"]])

    messages: list[Text | Turns] = Field(min_length=1)
    examples: int = Field(3, ge=0, le=20)


class IntentCandidate(BaseModel):
    """An intent and its probability, given that the message is in scope."""

    intent: str
    probability: float


class NearExample(BaseModel):
    """An example near the message."""

    text: str
    intents: list[str]
    similarity: float


class MessageAnswer(BaseModel):
    """What to do with a message, and why.

    Attributes:
        decision: Accept the intents, ask which of the first two candidates is meant, or it is out of scope.
        intents: The accepted ones.
        candidates: The likeliest, whatever the decision.
        familiarity: The best similarity to an intent.
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
    """An answer a message, in their order."""

    answers: list[MessageAnswer]


class IntentSummary(BaseModel):
    """An intent and how many examples it has."""

    intent: str
    examples: int


class IntentList(BaseModel):
    """All intents."""

    method: str
    intents: list[IntentSummary]


class IntentExamples(BaseModel):
    """The examples of an intent, each as its turns."""

    intent: str
    examples: list[list[str]]


class LabelledExample(Asked):
    """A message and its intent, or intents.

    Attributes:
        message: A text, or the turns of a conversation with the message last.
        intent: Its intent, or several where messages may have several.
    """

    message: Text | Turns
    intent: Name | list[Name] = Field(min_length=1)


class AddExamples(Asked):
    """Examples to learn from at once."""

    model_config = example(examples=[{"message": "my card is gone", "intent": "lost card"}])

    examples: list[LabelledExample] = Field(min_length=1)


class RemoveExamples(Asked):
    """Examples, or whole intents, to forget."""

    model_config = example(messages=["my card is gone"], intents=[])

    messages: list[Text | Turns] = Field(default_factory=list)
    intents: list[Name] = Field(default_factory=list)


class Changed(BaseModel):
    """What a change came to: it is on disk, and every worker answers by it from now on.

    Attributes:
        examples: How many examples there are now (after adding), or went (after removing).
    """

    examples: int


def _intents(using: Resources) -> LiveIntents:
    if using.intents is None:
        raise RefusedError(404, "not_served", "No intents are served.")
    return using.intents


@router.post("/v1/intents", response_model=ClassifyResponse, dependencies=[needs("intents")])
async def classify(asked: ClassifyRequest, using: Using) -> Response:
    """What each message wants: accepted intents, a question between two, or out of scope."""
    intents = _intents(using)
    check_texts(using.limits, asked.messages, "messages")
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
async def add(asked: AddExamples, using: Using) -> Response:
    """Learn from examples, of new intents too. They are on disk when this answers, and every worker uses them."""
    intents = _intents(using)
    check_texts(using.limits, [example.message for example in asked.examples], "examples")
    labelled = [(turns_of(example.message), turns_of(example.intent)) for example in asked.examples]
    if not intents.multi_label and any(len(names) > 1 for _, names in labelled):
        raise RefusedError(422, "several_intents", "A message has one intent here.", param="examples")
    try:
        return json_answer({"examples": await in_thread(intents.add, labelled)})
    except TurnloomError as error:
        _refuse(error)


@router.post("/v1/intents/examples/remove", response_model=Changed, dependencies=[needs("intents:write")])
async def remove(asked: RemoveExamples, using: Using) -> Response:
    """Forget examples, or whole intents. At least one example must stay."""
    intents = _intents(using)
    check_texts(using.limits, [*asked.messages, *asked.intents], "messages")
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
