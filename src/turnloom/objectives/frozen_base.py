"""A frozen copy of the encoder as it was before training: what it knew, and how far the trained one has moved."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from turnloom.objectives.columns import Features, bare_model, sentence_vectors
from turnloom.objectives.gathering import gather_rows, world_size

__all__ = ["FrozenBase", "pairwise_pull"]


class FrozenBase:
    """The encoder as it was when the loss was made; no module, so that it is neither trained nor saved.

    Args:
        model: The SentenceTransformer that is going to be trained.
    """

    def __init__(self, model: Any) -> None:
        self._model: Any = copy.deepcopy(bare_model(model)).eval().requires_grad_(False)

    @torch.no_grad()
    def vectors(self, features: Features) -> Tensor:
        """Its vectors of a column of texts."""
        model = self._model.to(features["input_ids"].device)
        return sentence_vectors(model, features, None)


def _cosines(vectors: Tensor) -> Tensor:
    """Between the texts of this process and those of all."""
    unit = nn.functional.normalize(vectors.to(torch.promote_types(vectors.dtype, torch.float32)), dim=1)
    return unit @ gather_rows(unit).T


def pairwise_pull(vectors: Tensor, teacher: Tensor) -> Tensor:
    """How far the cosines between texts have moved from those of a teacher: the mean square over pairs of texts.

    With more than one process, of the texts of all: the mean over processes is that of the whole batch.
    """
    with torch.autocast(vectors.device.type, enabled=False):
        moved = (_cosines(vectors) - _cosines(teacher)).square()
    count = moved.shape[1]
    return moved.sum() * world_size() / max(count * (count - 1), 1)  # A text has not moved from itself.
