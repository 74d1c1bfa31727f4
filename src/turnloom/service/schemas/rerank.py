"""`/rerank` as text-embeddings-inference shapes it, `/v1/rerank` as Cohere does."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from turnloom.service.schemas.common import Answered, Asked, Text, Turns

__all__ = [
    "CohereDocument",
    "CohereRequest",
    "CohereResponse",
    "CohereResult",
    "TeiRequest",
    "TeiResult",
]


class TeiRequest(Asked):
    """Texts to put in order.

    Attributes:
        query: A message, or the turns of a conversation.
        texts: The candidates.
        raw_scores: The network's own output instead of scores from 0 to 1.
        return_text: Give the texts back too.
        truncate: Accepted as text-embeddings-inference's clients send it; long texts are always cut.
        truncation_direction: Accepted likewise; a conversation loses its oldest turns, a text its end.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"query": "I lost my card", "texts": ["I block it now.", "Hello!"]}]},
    )

    query: Text | Turns
    texts: list[Text] = Field(min_length=1)
    raw_scores: bool = False
    return_text: bool = False
    truncate: bool | None = None
    truncation_direction: str | None = Field(None, max_length=10)


class TeiResult(Answered):
    """A text's place in the request and its score."""

    index: int
    score: float
    text: str | None = None


class CohereDocument(Asked):
    """A document as an object."""

    text: Text


class CohereRequest(Asked):
    """Documents to put in order.

    Attributes:
        model: The re-ranker's name, if given.
        query: A message, or the turns of a conversation.
        documents: The candidates.
        top_n: Only so many of the best.
        return_documents: Give the documents back too.
        max_chunks_per_doc: Accepted as Cohere's clients send it; documents are not cut into chunks.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"query": "I lost my card", "documents": ["I block it now.", "Hello!"], "top_n": 1}]
        },
    )

    model: str | None = Field(None, max_length=200)
    query: Text | Turns
    documents: list[Text | CohereDocument] = Field(min_length=1)
    top_n: int | None = Field(None, ge=1)
    return_documents: bool = False
    max_chunks_per_doc: int | None = None


class CohereResult(Answered):
    """A document's place in the request and its score from 0 to 1."""

    index: int
    relevance_score: float
    document: dict[str, str] | None = None


class CohereResponse(Answered):
    """The best first."""

    id: str
    results: list[CohereResult]
