"""`/v1/embeddings`, as OpenAI shapes it."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from turnloom.service.schemas.common import Answered, Asked, Text, Turns

__all__ = ["Embedding", "EmbeddingRequest", "EmbeddingResponse", "Usage"]


class EmbeddingRequest(Asked):
    """Texts to turn into vectors.

    Attributes:
        input: A text or several; with `input_type` "query" also conversations, each a list of turns.
        model: The served model's name.
        input_type: Which head: "query" for what calls for a reply, "document" for a reply, none for what a text means.
        encoding_format: Numbers, or their 32-bit little-endian bytes in base64.
        dimensions: Must be the model's own, if given.
        user: Ignored; OpenAI's clients may send it.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"input": ["I lost my card"], "model": "my-model", "input_type": "query"}]},
    )

    input: Text | list[Text] | list[Turns]
    model: str = Field(max_length=200)
    input_type: Literal["query", "document"] | None = None
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, ge=1)
    user: str | None = Field(None, max_length=1_000)


class Embedding(Answered):
    """One vector."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class Usage(Answered):
    """How many tokens the model read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingResponse(Answered):
    """Vectors in the order of the texts."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: Usage
