"""Models in the form of MTEB 2, seen as encoders; MTEB itself need not be installed."""

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
"""MTEB names languages by three letters, model cards and the catalog by two."""


class _PromptType(str, Enum):
    """As MTEB's own, for models that come without it."""

    query = "query"
    document = "document"


def is_mteb_model(model: Any) -> bool:
    """Whether a model's `encode` wants batches and to be told what for, as in MTEB 2, and not a list of texts."""
    try:
        wanted = set(inspect.signature(model.encode).parameters)
    except (AttributeError, TypeError, ValueError):
        return False
    return {"task_metadata", "hf_split", "hf_subset"} <= wanted


def _task(kind: str) -> Any:
    """What a model is told of the task, from which it may choose a prompt."""
    said = {"name": "Turnloom", "type": kind, "modalities": ["text"], "eval_langs": ["eng-Latn"], "main_score": "score"}
    metadata = sys.modules.get("mteb.abstasks.task_metadata")
    if metadata is None:
        return SimpleNamespace(**said, prompt=None, languages=["eng"])
    described = {"description": "Dialogue text.", "dataset": {"path": "turnloom", "revision": "1"}}
    return metadata.TaskMetadata(**said, **described)


class MtebEncoder:
    """A model of MTEB's `EncoderProtocol`: contexts are its queries, replies its documents.

    Args:
        model: The model. If it has prompts, contexts and replies count as spaces of their own.
        batch_size: Texts at a time.
    """

    def __init__(self, model: Any, batch_size: int = 64) -> None:
        self._model = model
        self._batch_size = batch_size
        prompts = getattr(model, "model_prompts", None)
        meta = getattr(model, "mteb_model_meta", None)
        named = getattr(meta, "name", None)
        # MTEB calls what has no name "no_model_name/available".
        self.name: str = type(model).__name__ if not named or "no_model_name" in named else named.rpartition("/")[2]
        inner = getattr(model, "model", None)
        # A revision says nothing of weights that were changed since: without weights to look at, nothing is shared.
        self.fingerprint = (
            weights_fingerprint(inner, "mteb", repr(prompts))
            if hasattr(inner, "state_dict")
            else f"mteb-{uuid.uuid4().hex}"
        )
        spoken = [language.partition("-")[0] for language in getattr(meta, "languages", None) or ()]
        self.languages = frozenset(TWO_LETTERS.get(language, language) for language in spoken)
        self.has_heads = bool(prompts)

    def format_context(self, context: Context) -> str:
        """The turns, one a line."""
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
        """Vectors for meaning: the task is said to be one of similarity."""
        return self._encode(texts, "STS")

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Vectors for contexts, as queries."""
        return self._encode([self.format_context(context) for context in contexts], "Retrieval", "query")

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies, as documents."""
        return self._encode(replies, "Retrieval", "document")
