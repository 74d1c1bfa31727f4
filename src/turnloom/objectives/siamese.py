"""The siamese baselines of DialogueCSE: a layer decides whether a reply fits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, text_keys
from turnloom.objectives.gathering import SharedHead
from turnloom.objectives.loss import Loss, like_model


class Siamese(Loss):
    """Encode context and reply with one encoder, and score them with a small network (DialogueCSE, section 5.2.2).

    Formula:
        `-log( exp f(c_i, r_i) / sum_j exp f(c_i, r_j) )` with `f` two layers over `[c, r, |c - r|, c * r]`.

    Inputs:
        Columns (context, reply): one turn of context for SiameseBERT-S, several turns as one text for SiameseBERT-M. No
        labels.

    When to use:
        As the baseline of DialogueCSE. Dropping the layers loses what they learned: the embeddings alone need not be
        close.

    Relations to other losses:
        `NTXent` with form "forward" compares the vectors themselves.

    Where it differs:
        The paper does not describe the matching layer; this one follows Yang et al. (2018) and sentence-transformers'
        classification loss. Negatives are the other replies of the batch, except those with the same text as the true
        one.

    Args:
        model: The SentenceTransformer to train.
        hidden: Units of the first layer.
    """

    kind = "siamese"
    settings = ("hidden",)

    def __init__(self, model: Any, *, hidden: Annotated[int, Field(ge=1)] = 256) -> None:
        super().__init__()
        self.model = model
        self.hidden = hidden
        layers = nn.Linear(4 * model.get_embedding_dimension(), hidden), nn.ReLU(), nn.Linear(hidden, 1)
        self.matching = like_model(nn.Sequential(*layers), model)
        self._shared = SharedHead(self.matching)

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch, as a trainer calls it."""
        del labels
        columns = list(sentence_features)
        if len(columns) != 2:
            raise TurnloomError("a siamese network compares two columns", "give contexts and replies")
        keys = text_keys(columns[1])
        contexts, replies = (self.model(dict(column))["sentence_embedding"] for column in columns)
        with torch.autocast(contexts.device.type, enabled=False):
            kind = next(self.matching.parameters()).dtype
            scores = self.scores(contexts.to(kind), replies.to(kind))
            same = (keys[:, None] == keys[None]) & ~torch.eye(len(keys), dtype=torch.bool, device=keys.device)
            return -scores.masked_fill(same, -torch.inf).log_softmax(1).diagonal().mean()

    def scores(self, contexts: Tensor, replies: Tensor) -> Tensor:
        """Score how well each reply (column) fits each context (row)."""
        size = len(contexts), len(replies), contexts.shape[1]
        one, other = contexts[:, None].expand(size), replies[None].expand(size)
        return self._shared(torch.cat([one, other, (one - other).abs(), one * other], dim=2)).squeeze(2)
