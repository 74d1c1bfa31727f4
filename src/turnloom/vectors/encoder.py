"""An encoder that looks into a vector table first: what was encoded once is not encoded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Context, Encoder, Vectors, is_made_for
from turnloom.vectors.table import VectorTable


class StoredEncoder:
    """An encoder whose vectors for meaning come from a vector table where it has them.

    Args:
        encoder: The encoder that made the table; it encodes what is missing.
        table: The vector table.

    Raises:
        TurnloomError: If the table's vectors are another model's.
    """

    def __init__(self, encoder: Encoder, table: VectorTable) -> None:
        if not is_made_for(encoder, table.manifest.fingerprint):
            raise TurnloomError(
                f"{table.folder} holds vectors of {table.manifest.model}, not of {encoder.name}",
                f"make them with: turnloom vectors TABLE --model {encoder.name} --out FOLDER",
            )
        self.encoder, self.table = encoder, table
        self.name, self.fingerprint, self.languages = encoder.name, encoder.fingerprint, encoder.languages
        self.encoded = 0

    @property
    def has_heads(self) -> bool:
        """Whether contexts and replies have spaces of their own."""
        return self.encoder.has_heads

    def format_context(self, context: Context) -> str:
        """A context as the text that the model reads."""
        return self.encoder.format_context(context)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors for meaning: stored ones in half precision, others as the encoder makes them."""
        return self._stored(texts, self.encoder.encode, lambda vectors: vectors)

    def _stored(
        self, texts: Sequence[str], encode: Callable[[Sequence[str]], Vectors], head: Callable[[Vectors], Vectors]
    ) -> Vectors:
        rows = self.table.rows(list(texts))
        missing = np.flatnonzero(rows < 0)
        self.encoded += len(missing)
        found = head(self.table.vectors[rows[rows >= 0]].astype(np.float32))
        if not len(missing):
            return found
        made = encode([texts[place] for place in missing.tolist()])
        vectors = np.empty((len(texts), made.shape[1]), np.float32)
        vectors[missing] = made
        if len(found):
            vectors[rows >= 0] = found
        return vectors

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Vectors for contexts."""
        return self.encoder.encode_query(contexts)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies."""
        heads = getattr(self.encoder, "apply_head", None)
        if not self.has_heads:
            return self.encode(replies)
        if heads is None:
            return self.encoder.encode_document(replies)
        return self._stored(replies, self.encoder.encode_document, lambda vectors: heads(vectors, "document"))
