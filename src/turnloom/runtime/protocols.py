"""What the rest of Turnloom asks of a model, and the vectors that it gives: no more than a task needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from pathlib import Path

    import torch

Vectors = npt.NDArray[np.float32]
Context = Sequence[str]
"""The turns of a conversation so far, the oldest first."""
Progress = Callable[[str, float, str], None]
"""Called with a step, the part of it that is done, and a note."""


def unit_rows(vectors: npt.NDArray[Any], precision: type[np.floating[Any]] = np.float32) -> npt.NDArray[Any]:
    """Rows of length one, for which cosine and dot product are the same; a row of zeros stays one.

    Example:
        >>> unit_rows(np.array([[3, 4], [0, 0]])).round(1).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(vectors, precision)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), precision)


class Model(Protocol):
    """What identifies a model."""

    @property
    def name(self) -> str:
        """What to call it in a table."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever its output may: embeddings are cached by it."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """The languages it declares; none means that it does not say."""
        ...


def source_of(model: Model) -> str | None:
    """The fingerprint of the model that this one was exported from and can stand for; None if there is none."""
    source: str | None = getattr(model, "source", None)
    return source


def turn_encoder(encoder: Encoder) -> Encoder:
    """The encoder of single turns below a conversation encoder; any other encoder itself."""
    below: Encoder = getattr(encoder, "turns", encoder)
    return below


def has_separate_heads(model: Model) -> bool:
    """Whether a model makes the vectors of all roles of those for meaning, with `apply_head(vectors, role)`."""
    return bool(getattr(model, "separate_heads", False))


def is_made_for(model: Model, fingerprint: str) -> bool:
    """Whether intents and replies of the model with this fingerprint fit this one: the model itself or its export.

    An export in full precision decides as its model does; one in 8 bits does not always, and needs its own
    (`studies/onboarding/int8.py`).
    """
    return fingerprint in (model.fingerprint, source_of(model))


def wrong_model(folder: Path, name: str, fingerprint: str, model: Model, fix: str) -> TurnloomError:
    """What to raise when vectors of two models would meet."""
    return TurnloomError(
        f"{folder} holds vectors of {name} ({fingerprint[:8]}), not of {model.name} ({model.fingerprint[:8]})", fix
    )


@runtime_checkable
class Encoder(Model, Protocol):
    """Texts to vectors: `encode` for what a text means, the other two for what it calls for and what it answers.

    A model without a head for contexts and one for replies gives the same space three times.
    """

    @property
    def has_heads(self) -> bool:
        """Whether contexts and replies have spaces of their own."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors for meaning."""
        ...

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Vectors for contexts."""
        ...

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies."""
        ...

    def format_context(self, context: Context) -> str:
        """A context as the text that the model reads."""
        ...


@runtime_checkable
class Scorer(Model, Protocol):
    """Scores replies to contexts directly, without vectors: a cross-encoder or BM25."""

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """How well each reply fits; higher is better."""
        ...


@runtime_checkable
class TrainableEncoder(Protocol):
    """An encoder whose copy can be fine-tuned by a benchmark task."""

    def copy(self, max_length: int | None = None, cut: Literal["front", "end"] = "end") -> TrainableEncoder:
        """An encoder of its own with the same weights.

        Args:
            max_length: At most so many tokens of a text are read; as many as before if not given.
            cut: Where a longer text is cut.
        """
        ...

    def parameters(self) -> Sequence[torch.nn.Parameter]:
        """What may be trained."""
        ...

    def embed(self, texts: Sequence[str]) -> torch.Tensor:
        """Vectors with gradients, as in training: dropout is on."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors without."""
        ...
