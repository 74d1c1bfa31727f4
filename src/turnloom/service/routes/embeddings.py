"""`/v1/embeddings` and `/v1/models`, as OpenAI's clients call them."""

from __future__ import annotations

import base64
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from turnloom.service.errors import RefusedError
from turnloom.service.routes.shared import (
    ERRORS,
    Asked,
    Text,
    Turns,
    Using,
    check_texts,
    example,
    json_answer,
    needs,
    turns_of,
)

router = APIRouter(tags=["embeddings"], responses=ERRORS)


class EmbeddingRequest(Asked):
    """Texts to embed.

    Attributes:
        input: One or more texts; with `input_type` "query" also conversations, each a list of turns.
        model: The served model's name.
        input_type: Which output: "query" for a context, "document" for a reply. Omit it to embed meaning.
        encoding_format: "float" for numbers, "base64" for their 32-bit little-endian bytes.
        dimensions: If given, must be the model's dimension.
        user: Ignored; OpenAI's clients may send it.
    """

    model_config = example(input=["I lost my card"], model="my-model", input_type="query")

    input: Text | list[Text] | list[Turns]
    model: str = Field(max_length=200)
    input_type: Literal["query", "document"] | None = None
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, ge=1)
    user: str | None = Field(None, max_length=1_000)


class Embedding(BaseModel):
    """One vector."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """The number of tokens that the model read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingResponse(BaseModel):
    """Vectors in the order of the texts."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: Usage


def _items(asked: EmbeddingRequest) -> tuple[str, list[Any]]:
    """Return the requested output and its items."""
    items = [asked.input] if isinstance(asked.input, str) else list(asked.input)
    if not items:
        raise RefusedError(422, "no_input", "There is nothing to embed.", param="input")
    if asked.input_type == "query":
        return "query", [turns_of(item) for item in items]
    if not all(isinstance(item, str) for item in items):
        raise RefusedError(422, "conversation", "Only queries can be conversations.", param="input_type")
    return asked.input_type or "meaning", items


@router.post("/v1/embeddings", response_model=EmbeddingResponse, dependencies=[needs("embeddings")])
async def embed(asked: EmbeddingRequest, using: Using) -> Response:
    """Embed texts by meaning, or by `input_type` as queries or documents."""
    output, items = _items(asked)
    check_texts(using.limits, items, "input")
    encoder = using.encoder
    if asked.model != encoder.name:
        raise RefusedError(404, "model_not_found", "This model is not served; see /v1/models.", param="model")
    if asked.dimensions not in (None, encoder.dimension):
        raise RefusedError(422, "dimensions", f"The model has {encoder.dimension} dimensions.", param="dimensions")
    vectors, tokens = await encoder.vectors(output, items)
    rows: list[Any] = list(np.ascontiguousarray(vectors, "<f4"))
    if asked.encoding_format == "base64":
        rows = [base64.b64encode(row.tobytes()).decode() for row in rows]
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return json_answer({"object": "list", "data": data, "model": encoder.name, "usage": usage})


@router.get("/v1/models", dependencies=[needs("embeddings")])
async def models(using: Using) -> Response:
    """List the served models."""
    names = [using.encoder.name, *([using.scorer.name] if using.scorer else [])]
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "turnloom"} for name in names]
    return json_answer({"object": "list", "data": data})
