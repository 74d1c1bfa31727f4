"""What encoders without layers to fine-tune and without heads have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from turnloom.runtime.context_format import ContextFormat
from turnloom.runtime.protocols import Context, Vectors

MOST_TOKENS = 512


class FrozenEncoder(ABC):
    """An encoder without heads whose weights stay as they are: all three outputs are in the same space.

    Args:
        name: The name to show.
        fingerprint: Identifies the weights.
        languages: The languages it declares.
        context_format: How contexts become text.
    """

    has_heads = False

    def __init__(
        self,
        *,
        name: str,
        fingerprint: str,
        languages: frozenset[str] = frozenset(),
        context_format: ContextFormat | None = None,
    ) -> None:
        self.name, self.fingerprint, self.languages = name, fingerprint, languages
        self._format = context_format or ContextFormat()

    @abstractmethod
    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens of each text the model reads."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning, as unit vectors."""

    def format_context(self, context: Context) -> str:
        """Join the turns, one per line."""
        return self._format.apply(context, lambda text: self.count_tokens([text])[0], MOST_TOKENS)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts, their turns joined."""
        return self.encode([self.format_context(context) for context in contexts])

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies, the same as by meaning."""
        return self.encode(replies)
