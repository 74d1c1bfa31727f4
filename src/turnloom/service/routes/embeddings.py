"""`/v1/embeddings` and `/v1/models`, as OpenAI's clients call them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response

from turnloom.service.errors import RefusedError
from turnloom.service.routes.shared import ERRORS, Using, check_texts, json_answer, needs, service_of, turns_of
from turnloom.service.schemas.embeddings import EmbeddingRequest, EmbeddingResponse

__all__ = ["router"]

router = APIRouter(tags=["embeddings"], responses=ERRORS)


def _items(asked: EmbeddingRequest) -> tuple[str, list[Any]]:
    """What kind of vectors, and of what."""
    items = [asked.input] if isinstance(asked.input, str) else list(asked.input)
    if not items:
        raise RefusedError(422, "no_input", "There is nothing to embed.", param="input")
    if asked.input_type == "query":
        return "query", [turns_of(item) for item in items]
    if not all(isinstance(item, str) for item in items):
        raise RefusedError(422, "conversation", "Only queries can be conversations.", param="input_type")
    return asked.input_type or "meaning", items


@router.post("/v1/embeddings", response_model=EmbeddingResponse, dependencies=[needs("embeddings")])
async def embed(asked: EmbeddingRequest, request: Request, using: Using) -> Response:
    """Texts to vectors. Each counts as what it means, or by `input_type` as a query or a document."""
    kind, items = _items(asked)
    check_texts(service_of(request).config.limits, items, "input")
    encoder = using.encoder
    if asked.model != encoder.name:
        raise RefusedError(404, "model_not_found", "This model is not served; see /v1/models.", param="model")
    if asked.dimensions not in (None, encoder.dimension):
        raise RefusedError(422, "dimensions", f"The model has {encoder.dimension} dimensions.", param="dimensions")
    vectors, tokens = await encoder.vectors(kind, items)
    rows: list[Any] = list(np.ascontiguousarray(vectors, "<f4"))
    if asked.encoding_format == "base64":
        rows = [base64.b64encode(row.tobytes()).decode() for row in rows]
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return json_answer({"object": "list", "data": data, "model": encoder.name, "usage": usage})


@router.get("/v1/models", dependencies=[needs("embeddings")])
async def models(using: Using) -> Response:
    """The models that are served."""
    names = [using.encoder.name, *([using.scorer.name] if using.scorer else [])]
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "turnloom"} for name in names]
    return json_answer({"object": "list", "data": data})
