"""Use models written for MTEB 2 as encoders; MTEB itself need not be installed."""

from __future__ import annotations

import inspect
import sys
import uuid
from collections.abc import Sequence
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np

from turnloom.runtime.model_folder import weights_fingerprint
from turnloom.runtime.protocols import Context, Vectors

TWO_LETTERS = {"eng": "en", "zho": "zh", "cmn": "zh", "deu": "de", "fra": "fr", "spa": "es"}
"""MTEB uses three-letter language codes, model cards and the catalog two-letter codes."""


class _PromptType(str, Enum):
    """A copy of MTEB's `PromptType`, for machines without MTEB."""

    query = "query"
    document = "document"


def is_mteb_model(model: Any) -> bool:
    """Whether a model's `encode` takes batches and a task, as in MTEB 2, rather than a list of texts."""
    try:
        wanted = set(inspect.signature(model.encode).parameters)
    except (AttributeError, TypeError, ValueError):
        return False
    return {"task_metadata", "hf_split", "hf_subset"} <= wanted


def _task(kind: str) -> Any:
    """Return the task's metadata, from which a model may choose a prompt."""
    said = {"name": "Turnloom", "type": kind, "modalities": ["text"], "eval_langs": ["eng-Latn"], "main_score": "score"}
    metadata = sys.modules.get("mteb.abstasks.task_metadata")
    if metadata is None:
        return SimpleNamespace(**said, prompt=None, languages=["eng"])
    described = {"description": "Dialogue text.", "dataset": {"path": "turnloom", "revision": "1"}}
    return metadata.TaskMetadata(**said, **described)


class MtebEncoder:
    """A model of MTEB's `EncoderProtocol`: contexts are its queries, replies its documents.

    Args:
        model: The model. If it has prompts, contexts and replies count as separate outputs.
        batch_size: The number of texts per batch.
    """

    def __init__(self, model: Any, batch_size: int = 64) -> None:
        self._model = model
        self._batch_size = batch_size
        prompts = getattr(model, "model_prompts", None)
        meta = getattr(model, "mteb_model_meta", None)
        named = getattr(meta, "name", None)
        # MTEB names a nameless model "no_model_name/available".
        self.name: str = type(model).__name__ if not named or "no_model_name" in named else named.rpartition("/")[2]
        inner = getattr(model, "model", None)
        # A revision doesn't cover later changes to the weights; without weights to hash, embeddings are not shared.
        self.fingerprint = (
            weights_fingerprint(inner, "mteb", repr(prompts))
            if hasattr(inner, "state_dict")
            else f"mteb-{uuid.uuid4().hex}"
        )
        spoken = [language.partition("-")[0] for language in getattr(meta, "languages", None) or ()]
        self.languages = frozenset(TWO_LETTERS.get(language, language) for language in spoken)
        self.has_heads = bool(prompts)

    def format_context(self, context: Context) -> str:
        """Join the turns, one per line."""
        return "\n".join(context)

    def _encode(self, texts: Sequence[str], kind: str, side: str | None = None) -> Vectors:
        from datasets import Dataset
        from torch.utils.data import DataLoader

        types = getattr(sys.modules.get("mteb.types"), "PromptType", _PromptType)
        data: Any = Dataset.from_dict({"text": list(texts)})
        vectors = self._model.encode(
            DataLoader(data, batch_size=self._batch_size),
            task_metadata=_task(kind),
            hf_split="test",
            hf_subset="default",
            prompt_type=types(side) if side else None,
            batch_size=self._batch_size,
            show_progress_bar=False,
        )
        return np.asarray(vectors, np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning; the model gets a similarity task."""
        return self._encode(texts, "STS")

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts, as queries."""
        return self._encode([self.format_context(context) for context in contexts], "Retrieval", "query")

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies, as documents."""
        return self._encode(replies, "Retrieval", "document")
