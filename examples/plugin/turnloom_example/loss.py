"""A loss: any module that a trainer of sentence-transformers takes. Its keywords are what a recipe may say."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


class MarginLoss(nn.Module):
    """The true reply is nearer to its context than any other reply of the batch, by a margin."""

    def __init__(self, model: Any, *, margin: float = 0.2) -> None:
        super().__init__()
        self.model = model  # Under this name: what stands beside it is a head, and learns at the head's rate.
        self.margin = margin

    def forward(self, sentence_features: Iterable[dict[str, Any]], labels: Tensor | None = None) -> Tensor:
        vectors = [self.model(dict(column))["sentence_embedding"] for column in sentence_features]
        contexts, replies = (nn.functional.normalize(side.float(), dim=1) for side in vectors)
        likeness = contexts @ replies.T
        short_by = self.margin - likeness.diagonal()[:, None] + likeness
        others = ~torch.eye(len(likeness), dtype=torch.bool, device=likeness.device)
        return short_by[others].clamp(min=0).mean()
