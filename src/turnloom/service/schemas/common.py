"""What several resources share."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = ["Answered", "Asked", "ErrorBody", "ErrorShape", "Name", "Text", "Turns"]


def _encodable(text: str) -> str:
    """JSON can hold halves of characters, which no model and no file can."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the text is no valid Unicode") from None
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("the text is blank")
    return text


Text = Annotated[str, AfterValidator(_encodable), AfterValidator(_not_blank), Field(min_length=1)]
Name = Annotated[str, AfterValidator(_encodable), AfterValidator(_not_blank), Field(min_length=1, max_length=200)]
Turns = Annotated[list[Text], Field(min_length=1)]


class Asked(BaseModel):
    """A request; what it does not know is an error, so that no typing mistake passes unnoticed."""

    model_config = ConfigDict(extra="forbid")


class Answered(BaseModel):
    """An answer."""


class ErrorBody(Answered):
    """What went wrong.

    Attributes:
        message: For people.
        type: The kind of error.
        code: For programs.
        param: Which part of the request is wrong.
    """

    message: str
    type: str
    code: str
    param: str | None


class ErrorShape(Answered):
    """The one shape of errors."""

    error: ErrorBody
