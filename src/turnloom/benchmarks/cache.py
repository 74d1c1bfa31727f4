"""Cache embeddings on disk, so that each model encodes each text once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from turnloom.files import replacing
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.protocols import Context, Encoder, Scorer, Vectors, has_separate_heads, source_of, turn_encoder
from turnloom.runtime.reranker import ConversationScorer

SHARD = 4_096
"""Texts to encode before saving: what a killed run can lose."""
_KEY_BYTES = 16
Floats = npt.NDArray[np.float64]


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


class _Store:
    """The vectors of one output of one model, in numbered files."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._rows: dict[bytes, Vectors] = {}
        self._files = 0
        for path in sorted(folder.glob("*.npz")) if folder is not None else ():
            with np.load(path, allow_pickle=False) as saved:
                self._rows.update(zip((row.tobytes() for row in saved["keys"]), saved["vectors"], strict=True))
            self._files = int(path.stem) + 1

    def missing(self, texts: Sequence[str]) -> list[str]:
        return [text for text in dict.fromkeys(texts) if _key(text) not in self._rows]

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        keys = [_key(text) for text in texts]
        self._rows.update(zip(keys, vectors, strict=True))
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        # Another run of the same model may write its vectors here at the same time.
        while (path := self._folder / f"{self._files:06}.npz").exists():
            self._files += 1
        packed = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, _KEY_BYTES)
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, keys=packed, vectors=vectors)
        self._files += 1

    def rows(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._rows[_key(text)] for text in texts])


class CachedEncoder:
    """An encoder (or a scorer) with a cache: it encodes each distinct text once, sorted by length.

    Vectors are kept in `folder` between runs, or in memory only without a folder. `on_texts` is called with the number
    of texts after each batch, for a progress bar.
    """

    def __init__(
        self, encoder: Encoder | Scorer, folder: Path | None = None, on_texts: Callable[[int], None] = lambda _: None
    ) -> None:
        self.name = encoder.name
        self.fingerprint = encoder.fingerprint
        self.source = source_of(encoder)
        self.languages = encoder.languages
        self.has_heads: bool = getattr(encoder, "has_heads", False)
        self.has_conversations = hasattr(encoder, "encode_conversations")
        # A conversation encoder's turns are cached too: consecutive contexts share all turns but one.
        over_turns = (ConversationEncoder, ConversationScorer)
        self.encoder: Any = encoder.over(self) if isinstance(encoder, over_turns) else encoder
        self.turns: Any = turn_encoder(encoder)
        self._on_texts = on_texts
        made_by = dict.fromkeys(("query", "document", "conversation"), encoder.fingerprint)
        made_by["text"] = self.turns.fingerprint
        self._scores: dict[tuple[tuple[str, ...], tuple[str, ...]], Floats] = {}
        self._stores = {kind: _Store(folder / made / kind if folder else None) for kind, made in made_by.items()}

    def _through(self, kind: str, texts: Sequence[str], encode: Callable[[list[str]], Vectors]) -> Vectors:
        store = self._stores[kind]
        # Texts of similar length share a batch with little padding.
        missing = sorted(store.missing(texts), key=len, reverse=True)
        for start in range(0, len(missing), SHARD):
            piece = missing[start : start + SHARD]
            store.add(piece, encode(piece))
            self._on_texts(len(piece))
        return store.rows(texts) if texts else np.zeros((0, 1), np.float32)

    def _through_turns(
        self, kind: str, contexts: Sequence[Context], encode: Callable[[list[list[str]]], Vectors]
    ) -> Vectors:
        joined = ["\x1f".join(context) for context in contexts]
        return self._through(kind, joined, lambda piece: encode([text.split("\x1f") for text in piece]))

    def score(self, context: Context, replies: Sequence[str]) -> Floats:
        """Return a scorer's output for each reply, cached until the process ends."""
        asked = (tuple(context), tuple(replies))
        if asked not in self._scores:
            self._scores[asked] = self.encoder.score(context, replies)
        return self._scores[asked]

    def format_context(self, context: Context) -> str:
        """Return a context as the text that the model reads."""
        return cast("str", self.turns.format_context(context))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning."""
        return self._through("text", texts, self.turns.encode)

    def encode_contexts(self, contexts: Sequence[Context], heads: bool) -> Vectors:
        """Return the embeddings of contexts: with `heads` their own output, otherwise the joined text's meaning."""
        return self.encode_query(contexts) if heads else self.encode([self.format_context(each) for each in contexts])

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts."""
        if has_separate_heads(self.encoder):
            vectors = self.encode([self.format_context(context) for context in contexts])
            return cast("Vectors", self.encoder.apply_head(vectors, "query"))
        return self._through_turns("query", contexts, self.encoder.encode_query)

    def encode_conversations(self, conversations: Sequence[Context]) -> Vectors:
        """Return one vector per conversation, for a model that `has_conversations`."""
        return self._through_turns("conversation", conversations, self.encoder.encode_conversations)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies."""
        if has_separate_heads(self.encoder):
            return cast("Vectors", self.encoder.apply_head(self.encode(replies), "document"))
        return self._through("document", replies, self.encoder.encode_document)


def read_vectors(folder: Path, fingerprint: str, texts: Sequence[str]) -> Vectors | None:
    """Read cached meaning vectors of an earlier run, without the model; None if one is missing."""
    store = _Store(folder / fingerprint / "text")
    return None if store.missing(texts) else store.rows(texts)
