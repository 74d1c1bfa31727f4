"""Paraphrases: noisy pairs, trusted only where the base model agrees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, FrozenBase, pairwise_pull
from turnloom.objectives.contrast import Contrast
from turnloom.objectives.loss import Weight


class Paraphrases(Contrast):
    """NT-Xent between turns that got the same reply, restricted to pairs that the base model finds related.

    Formula:
        `L = sum_i w_i * l_i / sum_i w_i + pull * L_pull` with NT-Xent's symmetric terms `l_i` in the encoder's own
        space, `w_i = 1` where the base model's cosine of pair i is at least `agreement`, else 0, and `L_pull` the mean
        over all pairs of texts of the batch of `(cos_now - cos_base)^2`. If there is no such pair, the first term is 0.

    Inputs:
        Columns (context, reply): two turns whose replies were the same, from the view `shared_replies`.

    When to use:
        To learn meaning, next to an objective that learns what comes next. "Find me a bus" and "Get me a bus
        reservation" got the same reply, but so did "I want to watch a movie" and "Are there flights": pairs that the
        base model finds unrelated are more often wrong than right.

    Relations to other losses:
        With `agreement=-1` and `pull=0` it is `NTXent` with form "symmetric".

    Args:
        model: The SentenceTransformer to train; a copy of its current state is the base model.
        agreement: The minimum cosine of the base model for a pair to count.
        pull: The weight of the pull towards the base model; 0 turns it off.
        options: Options of `Contrast`, such as temperature, mask and mini_batch_size.
    """

    kind = "paraphrases"
    settings = (*Contrast.settings, "agreement", "pull")

    def __init__(
        self,
        model: Any,
        *,
        agreement: Annotated[float, Field(ge=-1, le=1)] = 0.4,
        pull: Weight = 0.0,
        **options: Any,
    ) -> None:
        super().__init__(model, form="symmetric", normalize_weights=True, **options)
        if pull < 0:
            raise TurnloomError("the pull has a negative weight", "give a weight from 0")
        self.agreement = agreement
        self.pull = pull
        self._base = FrozenBase(model)

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch, as a trainer calls it."""
        columns = list(sentence_features)
        keys = self.keys(columns, labels)
        before = [self._base.vectors(column) for column in columns]
        vectors = self.embed(columns)
        agreed = nn.functional.cosine_similarity(before[0].float(), before[1].float()) >= self.agreement
        loss = self.contrast(vectors, keys=keys, weights=agreed.float())
        if self.pull:
            loss = loss + self.pull * pairwise_pull(torch.cat(vectors), torch.cat(before))
        return loss
