"""Scorers: a context and replies to how well each reply fits, without vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turnwise.runtime.context_format import ContextFormat, read_context_format
from turnwise.runtime.encoder import Context
from turnwise.runtime.fingerprint import folder_fingerprint

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

__all__ = ["CrossEncoderScorer", "is_cross_encoder", "load_scorer"]


def is_cross_encoder(folder: Path) -> bool:
    """Whether a model's folder holds a network that scores pairs."""
    import json

    path = folder / "config.json"
    if not path.exists():
        return False
    named = json.loads(path.read_text(encoding="utf-8")).get("architectures") or []
    return any(name.endswith("ForSequenceClassification") for name in named)


class CrossEncoderScorer:
    """A sentence-transformers CrossEncoder, with its folder's context format.

    Args:
        model: The network.
        name: What to call it.
        fingerprint: What identifies its weights.
        languages: The languages it declares.
        context_format: How contexts become text.
        batch_size: Pairs at a time.
    """

    def __init__(
        self,
        model: CrossEncoder,
        *,
        name: str,
        fingerprint: str,
        languages: frozenset[str] = frozenset(),
        context_format: ContextFormat | None = None,
        batch_size: int = 32,
    ) -> None:
        self.model = model
        self.name = name
        self.fingerprint = fingerprint
        self.languages = languages
        self._format = context_format or ContextFormat()
        self._batch_size = batch_size

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """The network's output for each reply; room is left for the longest of them."""
        tokenizer: Any = self.model.tokenizer

        def length(text: str) -> int:
            return len(tokenizer.tokenize(text))

        room = (self.model.max_seq_length or 512) - max(map(length, replies), default=0) - 1
        text = self._format.apply(context, length, max(room, 8), tokenizer.sep_token)
        pairs = [(text, reply) for reply in replies]
        return np.asarray(
            self.model.predict(pairs, batch_size=self._batch_size, show_progress_bar=False), np.float64
        ).reshape(len(replies))


def load_scorer(folder: Path, *, batch_size: int = 32) -> CrossEncoderScorer:
    """A scorer from a CrossEncoder's folder; only safetensors are read, and no code of a model is ever run."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(
        str(folder),
        device="cpu",
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs={"use_safetensors": True},
    )
    return CrossEncoderScorer(
        model,
        name=folder.resolve().name,
        fingerprint=folder_fingerprint(folder),
        context_format=read_context_format(folder),
        batch_size=batch_size,
    )
