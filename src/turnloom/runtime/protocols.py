"""Protocols for models: the few methods that the rest of Turnloom needs, and helpers for their vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from pathlib import Path

    import torch

BF16 = "-bf16"
"""What the fingerprint of a model ends with if it computes in bfloat16."""
Vectors = npt.NDArray[np.float32]
Context = Sequence[str]
"""The turns of a conversation so far, oldest first."""
Progress = Callable[[str, float, str], None]
"""Called with a step, the share of it that is done, and a note."""


def unit_rows(vectors: npt.NDArray[Any], precision: type[np.floating[Any]] = np.float32) -> npt.NDArray[Any]:
    """Scale rows to unit length, so that cosine and dot product are the same; a row of zeros stays zero.

    Example:
        >>> unit_rows(np.array([[3, 4], [0, 0]])).round(1).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(vectors, precision)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), precision)


class Model(Protocol):
    """A model's name, fingerprint and languages."""

    @property
    def name(self) -> str:
        """The name to show in tables."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identifies the model: it changes whenever the output may, and embeddings are cached by it."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The languages it declares; empty if it declares none."""
        ...


def source_of(model: Model) -> str | None:
    """Return the fingerprint of the model that this export can replace; None if there is none."""
    source: str | None = getattr(model, "source", None)
    return source


def turn_encoder(encoder: Any) -> Encoder:
    """Return the turn encoder of a conversation encoder; any other model is returned as it is."""
    below: Encoder = getattr(encoder, "turns", encoder)
    return below


def has_separate_heads(model: Model) -> bool:
    """Whether a model computes all outputs from meaning vectors, with `apply_head(vectors, role)`."""
    return bool(getattr(model, "separate_heads", False))


def in_full_precision(fingerprint: str) -> str:
    """Return the fingerprint that a model computing in bfloat16 has without it."""
    return fingerprint.removesuffix(BF16)


def is_made_for(model: Model, fingerprint: str) -> bool:
    """Whether intents and replies of the model with this fingerprint work with this one: the same model or its export.

    An export in full precision decides like its model. One in 8 bits doesn't always, and needs its own intents and
    replies (`studies/onboarding/int8.py`).
    """
    return fingerprint in (model.fingerprint, source_of(model))


def wrong_model(folder: Path, name: str, fingerprint: str, model: Model, fix: str) -> TurnloomError:
    """Return the error for mixing the vectors of two models."""
    return TurnloomError(
        f"{folder} holds vectors of {name} ({fingerprint[:8]}), not of {model.name} ({model.fingerprint[:8]})", fix
    )


@runtime_checkable
class Encoder(Model, Protocol):
    """Turns texts into embeddings: `encode` by meaning, `encode_query` for contexts, `encode_document` for replies.

    For a model without heads for contexts and replies, all three outputs are in the same space.
    """

    @property
    def has_heads(self) -> bool:
        """Whether the model has separate outputs for contexts and replies."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning."""
        ...

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts."""
        ...

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies."""
        ...

    def format_context(self, context: Context) -> str:
        """Return a context as the text that the model reads."""
        ...


@runtime_checkable
class Scorer(Model, Protocol):
    """Scores replies to contexts directly, without vectors: a cross-encoder or BM25."""

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each reply fits; higher is better."""
        ...


@runtime_checkable
class TrainableEncoder(Protocol):
    """An encoder whose copy can be fine-tuned by a benchmark task."""

    def copy(self, max_length: int | None = None, cut: Literal["front", "end"] = "end") -> TrainableEncoder:
        """Return an independent encoder with the same weights.

        Args:
            max_length: The maximum number of tokens to read; by default unchanged.
            cut: Which end of a longer text to cut.
        """
        ...

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """Return the trainable weights."""
        ...

    def embed(self, texts: Sequence[str]) -> torch.Tensor:
        """Return vectors with gradients, as in training, with dropout."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return vectors without gradients."""
        ...
