"""An encoder made of any object with an `encode` method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from turnloom.runtime.protocols import Context, Vectors


class ObjectEncoder:
    """Any object with an `encode` method; `encode_query` and `encode_document` are used if it has them."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.name: str = getattr(model, "name", None) or type(model).__name__
        self.fingerprint: str = getattr(model, "fingerprint", f"{self.name}-{id(model)}")
        self.languages = frozenset(getattr(model, "languages", ()))
        self.has_heads = hasattr(model, "encode_query") and hasattr(model, "encode_document")

    def format_context(self, context: Context) -> str:
        """Join the turns, one per line, unless the object has its own format."""
        own = getattr(self._model, "format_context", None)
        return own(context) if own else "\n".join(context)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning."""
        return np.asarray(self._model.encode(list(texts)), np.float32)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts."""
        encode = self._model.encode_query if self.has_heads else self._model.encode
        return np.asarray(encode([self.format_context(context) for context in contexts]), np.float32)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies."""
        encode = self._model.encode_document if self.has_heads else self._model.encode
        return np.asarray(encode(list(replies)), np.float32)
