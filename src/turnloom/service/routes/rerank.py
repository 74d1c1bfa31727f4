"""`/rerank` (text-embeddings-inference) and `/v1/rerank` (Cohere)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Request, Response

from turnloom.service.errors import RefusedError
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import ERRORS, Using, check_texts, json_answer, needs, service_of, turns_of
from turnloom.service.schemas.rerank import CohereRequest, CohereResponse, TeiRequest, TeiResult

__all__ = ["router"]

router = APIRouter(tags=["rerank"], responses=ERRORS)
Scores = npt.NDArray[np.float64]


async def _scores(
    request: Request, using: Resources, query: str | Sequence[str], texts: Sequence[str], *, param: str, raw: bool
) -> Scores:
    limits = service_of(request).config.limits
    check_texts(limits, [query], "query")
    check_texts(limits, texts, param)
    if using.scorer is None:
        raise RefusedError(404, "not_served", "No re-ranker is served.")
    scores = await using.scorer.scores(turns_of(query), texts)
    if raw and using.scorer.bounded:
        inside = np.clip(scores, 1e-12, 1 - 1e-12)
        return np.asarray(np.log(inside) - np.log1p(-inside))
    return scores if raw or using.scorer.bounded else np.asarray(0.5 * (1 + np.tanh(scores / 2)))


@router.post("/rerank", response_model=list[TeiResult], dependencies=[needs("rerank")])
async def rerank(asked: TeiRequest, request: Request, using: Using) -> Response:
    """Put texts in order of how well they answer a message or a conversation."""
    scores = await _scores(request, using, asked.query, asked.texts, param="texts", raw=asked.raw_scores)
    results: list[dict[str, Any]] = []
    for place in np.argsort(-scores, kind="stable").tolist():
        entry: dict[str, Any] = {"index": place, "score": float(scores[place])}
        results.append(entry | ({"text": asked.texts[place]} if asked.return_text else {}))
    return json_answer(results)


@router.post("/v1/rerank", response_model=CohereResponse, dependencies=[needs("rerank")])
async def rerank_documents(asked: CohereRequest, request: Request, using: Using) -> Response:
    """Put documents in order of how well they answer a message or a conversation."""
    if using.scorer is not None and asked.model not in (None, using.scorer.name):
        raise RefusedError(404, "model_not_found", "This model is not served; see /v1/models.", param="model")
    texts = [document if isinstance(document, str) else document.text for document in asked.documents]
    scores = await _scores(request, using, asked.query, texts, param="documents", raw=False)
    results: list[dict[str, Any]] = []
    for place in np.argsort(-scores, kind="stable").tolist()[: asked.top_n]:
        entry: dict[str, Any] = {"index": place, "relevance_score": float(scores[place])}
        results.append(entry | ({"document": {"text": texts[place]}} if asked.return_documents else {}))
    return json_answer({"id": uuid.uuid4().hex, "results": results})
