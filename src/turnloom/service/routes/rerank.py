"""`/rerank` in text-embeddings-inference's shape, `/v1/rerank` in Cohere's."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from turnloom.service.errors import RefusedError
from turnloom.service.models import LONGEST, conversation_tokens, text_tokens
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import (
    ERRORS,
    Asked,
    Text,
    Turns,
    Using,
    charge_tokens,
    check_texts,
    example,
    json_answer,
    needs,
    turns_of,
)

router = APIRouter(tags=["rerank"], responses=ERRORS)


class TeiRequest(Asked):
    """Texts to rank.

    Attributes:
        query: A message, or the turns of a conversation.
        texts: The candidates.
        raw_scores: Return the network's raw output instead of scores from 0 to 1.
        return_text: Return the texts too.
        truncate: Accepted for compatibility; long texts are always truncated.
        truncation_direction: Accepted for compatibility; a conversation loses its oldest turns, a text its end.
    """

    model_config = example(query="I lost my card", texts=["I block it now.", "Hello!"])

    query: Text | Turns
    texts: list[Text] = Field(min_length=1)
    raw_scores: bool = False
    return_text: bool = False
    truncate: bool | None = None
    truncation_direction: str | None = Field(None, max_length=10)


class TeiResult(BaseModel):
    """A text's index in the request, and its score."""

    index: int
    score: float
    text: str | None = None


class CohereDocument(Asked):
    """A document as an object."""

    text: Text


class CohereRequest(Asked):
    """Documents to rank.

    Attributes:
        model: The re-ranker's name, if given.
        query: A message, or the turns of a conversation.
        documents: The candidates.
        top_n: How many of the best to return.
        return_documents: Return the documents too.
        max_chunks_per_doc: Accepted for compatibility; documents are not split into chunks.
    """

    model_config = example(query="I lost my card", documents=["I block it now.", "Hello!"], top_n=1)

    model: str | None = Field(None, max_length=200)
    query: Text | Turns
    documents: list[Text | CohereDocument] = Field(min_length=1)
    top_n: int | None = Field(None, ge=1)
    return_documents: bool = False
    max_chunks_per_doc: int | None = None


class CohereResult(BaseModel):
    """A document's index in the request, and its score from 0 to 1."""

    index: int
    relevance_score: float
    document: dict[str, str] | None = None


class CohereResponse(BaseModel):
    """Results, best first."""

    id: str
    results: list[CohereResult]


async def _ranked(
    using: Resources, query: str | Sequence[str], texts: Sequence[str], *, param: str, raw: bool
) -> list[tuple[int, float]]:
    """Return the indices of the texts and their scores, best first."""
    check_texts(using.limits, [query], "query", charged=False)
    check_texts(using.limits, texts, param, charged=False)
    shared = conversation_tokens(turns_of(query))  # Read again with each text.
    charge_tokens(sum(min(shared + text_tokens(text), LONGEST) for text in texts), using.limits.tokens, param)
    if using.scorer is None:
        raise RefusedError(404, "not_served", "No re-ranker is served.")
    scores = await using.scorer.scores(turns_of(query), texts)
    if raw and using.scorer.bounded:
        inside = np.clip(scores, 1e-12, 1 - 1e-12)
        scores = np.log(inside) - np.log1p(-inside)
    elif not raw and not using.scorer.bounded:
        scores = 0.5 * (1 + np.tanh(scores / 2))
    return [(index, float(scores[index])) for index in np.argsort(-scores, kind="stable").tolist()]


@router.post("/rerank", response_model=list[TeiResult], dependencies=[needs("rerank")])
async def rerank(asked: TeiRequest, using: Using) -> Response:
    """Rank texts by how well they answer a message or a conversation."""
    results: list[dict[str, Any]] = []
    for index, score in await _ranked(using, asked.query, asked.texts, param="texts", raw=asked.raw_scores):
        text = {"text": asked.texts[index]} if asked.return_text else {}
        results.append({"index": index, "score": score, **text})
    return json_answer(results)


@router.post("/v1/rerank", response_model=CohereResponse, dependencies=[needs("rerank")])
async def rerank_documents(asked: CohereRequest, using: Using) -> Response:
    """Rank documents by how well they answer a message or a conversation."""
    if using.scorer is not None and asked.model not in (None, using.scorer.name):
        raise RefusedError(404, "model_not_found", "This model is not served; see /v1/models.", param="model")
    texts = [document if isinstance(document, str) else document.text for document in asked.documents]
    ranked = await _ranked(using, asked.query, texts, param="documents", raw=False)
    results: list[dict[str, Any]] = []
    for index, score in ranked[: asked.top_n]:
        document = {"document": {"text": texts[index]}} if asked.return_documents else {}
        results.append({"index": index, "relevance_score": score, **document})
    return json_answer({"id": uuid.uuid4().hex, "results": results})
