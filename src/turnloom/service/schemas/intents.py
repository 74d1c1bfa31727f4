"""`/v1/intents`."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from turnloom.service.schemas.common import Answered, Asked, Name, Text, Turns

__all__ = [
    "AddExamples",
    "Changed",
    "ClassifyRequest",
    "ClassifyResponse",
    "IntentCandidate",
    "IntentExamples",
    "IntentList",
    "IntentSummary",
    "LabelledExample",
    "MessageAnswer",
    "NearExample",
    "RemoveExamples",
]


class ClassifyRequest(Asked):
    """Messages to understand.

    Attributes:
        messages: Each a text, or the turns of a conversation with the message last.
        examples: How many of the nearest examples are told.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"messages": ["I lost my card", ["Hi", "How can I help?", "it was stolen"]]}]},
    )

    messages: list[Text | Turns] = Field(min_length=1)
    examples: int = Field(3, ge=0, le=20)


class IntentCandidate(Answered):
    """An intent and its probability, given that the message is in scope."""

    intent: str
    probability: float


class NearExample(Answered):
    """An example near the message."""

    text: str
    intents: list[str]
    similarity: float


class MessageAnswer(Answered):
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


class ClassifyResponse(Answered):
    """An answer a message, in their order."""

    answers: list[MessageAnswer]


class IntentSummary(Answered):
    """An intent and how many examples it has."""

    intent: str
    examples: int


class IntentList(Answered):
    """All intents."""

    method: str
    intents: list[IntentSummary]


class IntentExamples(Answered):
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

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"examples": [{"message": "my card is gone", "intent": "lost card"}]}]},
    )

    examples: list[LabelledExample] = Field(min_length=1)


class RemoveExamples(Asked):
    """Examples, or whole intents, to forget."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"messages": ["my card is gone"], "intents": []}]}
    )

    messages: list[Text | Turns] = Field(default_factory=list)
    intents: list[Name] = Field(default_factory=list)


class Changed(Answered):
    """What a change came to: it is on disk, and every worker answers by it from now on.

    Attributes:
        examples: How many examples there are now (after adding), or went (after removing).
    """

    examples: int
