"""`/v1/feedback`: what people said of suggested replies and detected intents."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, model_validator

from turnloom.corpus.labelled import OUT_OF_SCOPE
from turnloom.feedback import IntentFeedback, ReplyFeedback, Said
from turnloom.service.errors import RefusedError
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

router = APIRouter(tags=["feedback"], responses=ERRORS)


class _Given(Asked):
    """Where feedback was given."""

    conversation: Name | None = None
    source: Name = "service"
    speaker: Name | None = None


class AboutReply(_Given):
    """What an agent did with a suggested reply.

    Attributes:
        about: `reply`.
        answer: Whether they used it.
        text: The reply, as it was suggested.
        conversation: The conversation's id; the feedback is erased together with it.
        source: The log that the conversation belongs to.
        speaker: The id of the person who was answered; the feedback is erased together with theirs.
    """

    about: Literal["reply"]
    answer: Literal["accepted", "rejected"]
    text: Text

    def said(self) -> Said:
        """Return it as it is kept."""
        return ReplyFeedback(**self.model_dump())


class AboutIntent(_Given):
    """What someone said of a message's intent.

    Attributes:
        about: `intent`.
        answer: Whether it was right, wrong, or wrong and they know the right one.
        message: A text, or the turns of a conversation with the message last.
        intent: What it was taken for; `out_of_scope` if for none.
        correct: If it was corrected, the right one, or `out_of_scope`.
        conversation: The conversation's id; the feedback is erased together with it.
        source: The log that the conversation belongs to.
        speaker: The id of the person who was answered; the feedback is erased together with theirs.
    """

    about: Literal["intent"]
    answer: Literal["accepted", "rejected", "corrected"]
    message: Text | Turns
    intent: Name
    correct: Name | None = None

    @model_validator(mode="after")
    def _says_what_is_right(self) -> AboutIntent:
        if (self.correct is not None) != (self.answer == "corrected"):
            raise ValueError("'correct' goes with the answer 'corrected', and only with it")
        return self

    def said(self) -> Said:
        """Return it as it is kept."""
        return IntentFeedback(turns=tuple(turns_of(self.message)), **self.model_dump(exclude={"message"}))


class AddFeedback(Asked):
    """Feedback to keep."""

    model_config = example(
        feedback=[
            {"about": "reply", "answer": "rejected", "text": "I block it now."},
            {
                "about": "intent",
                "answer": "corrected",
                "message": "my card is gone",
                "intent": "balance",
                "correct": "lost card",
            },
        ]
    )

    feedback: list[Annotated[AboutReply | AboutIntent, Field(discriminator="about")]] = Field(min_length=1)


class Kept(BaseModel):
    """The feedback is saved.

    Attributes:
        kept: How much this request added.
    """

    kept: int


@router.post("/v1/feedback", response_model=Kept, dependencies=[needs("feedback")])
async def add(asked: AddFeedback, using: Using, request: Request) -> Response:
    """Say which suggested replies were used, and which intents were right.

    A success response means that it is saved. Rejected replies are suggested less from now on, and accepted ones more;
    what was said of intents counts when they are fitted again with `--feedback`. Personal data is replaced by
    placeholders first, unless the service is configured to keep it.
    """
    texts = [one.text if isinstance(one, AboutReply) else one.message for one in asked.feedback]
    check_texts(using.limits, texts, "feedback", charged=False)
    await _check_intents([one for one in asked.feedback if isinstance(one, AboutIntent)], using)
    if using.replies is None and any(isinstance(one, AboutReply) for one in asked.feedback):
        raise not_served(using, "replies")
    await refuse_personal(request, {one.source for one in asked.feedback}, "feedback")
    counts = Counter(f"{one.about} {one.answer}" for one in asked.feedback)
    said = [one.said() for one in asked.feedback]
    kept = await change(
        request, using, "feedback.add", {"feedback": dict(sorted(counts.items()))}, using.feedback.add, said
    )
    return json_answer({"kept": kept})


async def _check_intents(given: list[AboutIntent], using: Resources) -> None:
    """Refuse feedback on intents that there are not: fitting would make new ones of them."""
    if not given:
        return
    if using.intents is None:
        raise not_served(using, "intents")
    known = {*await in_thread(using.intents.listed), OUT_OF_SCOPE}
    if not {name for one in given for name in (one.intent, one.correct or one.intent)} <= known:
        raise RefusedError(404, "no_such_intent", "One of these intents is not known.", param="feedback")
