"""An encoder that reads stored vectors first: no text is encoded twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.protocols import (
    Context,
    Encoder,
    Vectors,
    has_separate_heads,
    in_full_precision,
    is_made_for,
    source_of,
    turn_encoder,
)
from turnloom.vectors.table import VectorTable


class StoredEncoder:
    """An encoder that takes meaning vectors from a vector table, and encodes only texts that the table lacks.

    Args:
        encoder: The encoder that made the table; it encodes missing texts.
        table: The vector table.

    Raises:
        TurnloomError: If the table's vectors are another model's.
    """

    def __init__(self, encoder: Encoder, table: VectorTable) -> None:
        # Vectors made in bfloat16 differ slightly, but are good enough for the same model in full precision.
        made_by = table.manifest.fingerprint
        if not (is_made_for(encoder, made_by) or is_made_for(encoder, in_full_precision(made_by))):
            raise TurnloomError(
                f"{table.folder} holds vectors of {table.manifest.model}, not of {encoder.name}",
                "use that model, or make new vectors with: turnloom vectors",
            )
        self.encoder, self.table = encoder, table
        self.name, self.fingerprint, self.languages = encoder.name, encoder.fingerprint, encoder.languages
        self.source = source_of(encoder)
        self.encoded = 0

    @property
    def has_heads(self) -> bool:
        """Whether the model has separate outputs for contexts and replies."""
        return self.encoder.has_heads

    def format_context(self, context: Context) -> str:
        """Return a context as the text that the model reads."""
        return self.encoder.format_context(context)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning: stored ones in half precision, others from the encoder."""

        def encode(missing: Sequence[str]) -> Vectors:
            self.encoded += len(missing)
            return self.encoder.encode(missing)

        return read_or_encode(self.table, texts, encode)

    @property
    def separate_heads(self) -> bool:
        """Whether all outputs can be computed from stored vectors."""
        return has_separate_heads(self.encoder) or self._has_one_role

    @property
    def _has_one_role(self) -> bool:
        return not self.has_heads and not hasattr(self.encoder, "apply_head")

    def apply_head(self, vectors: Vectors, role: Literal["query", "document"]) -> Vectors:
        """Compute the vectors of a role from meaning vectors."""
        head: Any = self.encoder
        return vectors if self._has_one_role else cast("Vectors", head.apply_head(vectors, role))

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts: of single turns from stored vectors, of joined turns by encoding them."""
        if self.separate_heads:
            return self.apply_head(self.encode([self.format_context(context) for context in contexts]), "query")
        self.encoded += len(contexts)
        return self.encoder.encode_query(contexts)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies."""
        if self.separate_heads:
            return self.apply_head(self.encode(replies), "document")
        self.encoded += len(replies)
        return self.encoder.encode_document(replies)


def read_or_encode(table: VectorTable, texts: Sequence[str], encode: Callable[[Sequence[str]], Vectors]) -> Vectors:
    """Return the vectors of texts: stored ones, and those of `encode` for texts that the table lacks."""
    rows = table.rows(list(texts))
    known, missing = rows >= 0, np.flatnonzero(rows < 0)
    made = encode([texts[place] for place in missing.tolist()]) if len(missing) else None
    if made is not None and not known.any():
        return made
    vectors = np.empty((len(texts), table.manifest.width), np.float32)
    vectors[known] = table.vectors[rows[known]]
    if made is not None:
        vectors[missing] = made
    return vectors


def stored(encoder: Encoder, folder: str | Path | None) -> Encoder:
    """Return the encoder, reading a folder's vector table first if one is named.

    Raises:
        TurnloomError: If the folder contains no vector table of this encoder.
    """
    if folder is None:
        return encoder
    turns = StoredEncoder(turn_encoder(encoder), VectorTable(folder))
    return encoder.over(turns) if isinstance(encoder, ConversationEncoder) else turns
