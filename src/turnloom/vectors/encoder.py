"""An encoder that looks into a vector table first: what was encoded once is not encoded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Context, Encoder, Vectors, is_made_for, source_of
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
                "use that model, with --bf16 if they were made with it, or make new ones with: turnloom vectors",
            )
        self.encoder, self.table = encoder, table
        self.name, self.fingerprint, self.languages = encoder.name, encoder.fingerprint, encoder.languages
        self.source = source_of(encoder)
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

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Vectors for contexts; those of one turn are made of stored ones, joined turns are encoded."""
        return self._by_head([self.format_context(context) for context in contexts], "query")

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies."""
        return self._by_head(replies, "document")

    def _by_head(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        if not self.has_heads:
            return self.encode(texts)

        def encode(missing: Sequence[str]) -> Vectors:
            return (
                self.encoder.encode_query([[text] for text in missing])
                if role == "query"
                else self.encoder.encode_document(missing)
            )

        if not getattr(self.encoder, "separate_heads", False):
            return encode(texts)
        head: Any = self.encoder
        return self._stored(texts, encode, lambda vectors: head.apply_head(vectors, role))

    def _stored(
        self, texts: Sequence[str], encode: Callable[[Sequence[str]], Vectors], head: Callable[[Vectors], Vectors]
    ) -> Vectors:
        def counted(missing: Sequence[str]) -> Vectors:
            self.encoded += len(missing)
            return encode(missing)

        return read_or_encode(self.table, texts, counted, head)


def read_or_encode(
    table: VectorTable,
    texts: Sequence[str],
    encode: Callable[[Sequence[str]], Vectors],
    head: Callable[[Vectors], Vectors] = lambda vectors: vectors,
) -> Vectors:
    """Vectors of texts: stored ones through the head, those that the table lacks as `encode` makes them."""
    rows = table.rows(list(texts))
    known, missing = rows >= 0, np.flatnonzero(rows < 0)
    made = encode([texts[place] for place in missing.tolist()]) if len(missing) else None
    if made is not None and not known.any():
        return made
    found = head(table.vectors[rows[known]].astype(np.float32))
    if made is None:
        return found
    vectors = np.empty((len(texts), made.shape[1]), np.float32)
    vectors[missing], vectors[known] = made, found
    return vectors


def stored(encoder: Encoder, folder: str | Path | None) -> Encoder:
    """The encoder, which looks into the vector table of a folder first if there is one.

    Raises:
        TurnloomError: If the folder holds no vector table of this encoder.
    """
    return encoder if folder is None else StoredEncoder(encoder, VectorTable(folder))
