"""Turnloom's own objective: learns what comes next and what means the same, in separate spaces over one encoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import torch
from pydantic import GetPydanticSchema
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features, FrozenBase, pairwise_pull, sentence_vectors, text_keys
from turnloom.objectives.hard_negative import HardNegativeContrast
from turnloom.objectives.inverse_frequency import InverseFrequencyContrast
from turnloom.objectives.loss import ContextReplyHeads, Loss, Mask, Temperature, Weight

OwnHeads = Annotated[
    ContextReplyHeads | Literal["context-reply"] | None,
    GetPydanticSchema(lambda _, handler: handler(Literal["context-reply"])),
]


def scaled_gradient(vectors: Tensor, factor: float) -> Tensor:
    """Return the same vectors, with their gradient multiplied by a factor; 0 stops it."""
    fixed = vectors.detach()
    return fixed + factor * (vectors - fixed) if factor else fixed


class ReplyAndMeaning(Loss):
    """Replies in the space of two kept heads, meaning in the encoder's own, and a pull towards the base model.

    Formula:
        `L = fit + meaning * L_DSE + pull * L_pull`:

        - `fit`: WMDC's loss (symmetric NT-Xent times inverse response frequency) between the context head of contexts
          and the reply head of replies. Its gradient reaches the encoder multiplied by `reply_gradient`.
        - `L_DSE`: DSE's loss through an MLP that is dropped after training.
        - `L_pull`: the mean over pairs of replies of `(cos_now - cos_base)^2`, against a frozen copy of the encoder at
          the time the loss was created.

    Inputs:
        Columns (context, reply) and `label`: how often the reply occurs in the whole training set, at least 1.

    When to use:
        To make one encoder serve intents and replies. Each side is encoded once for all terms.

    Relations to other losses:
        With `meaning=0`, `pull=0` and `reply_gradient=1` it is `InverseFrequencyContrast` with "context-reply" heads.

    Args:
        model: The SentenceTransformer to train.
        temperature: The temperature of both contrastive terms.
        reply_gradient: The share of the gradient of `fit` that reaches the encoder; 0 trains only the heads.
        meaning: The weight of DSE's loss; 0 turns it off.
        pull: The weight of the pull; 0 turns it off and keeps no copy.
        head: The two heads, if shared with another loss.
        mask, mini_batch_size: As for `Contrast`.
    """

    kind = "reply_and_meaning"
    wants_frequencies = True
    reference = HardNegativeContrast.reference + InverseFrequencyContrast.reference

    def __init__(
        self,
        model: Any,
        *,
        temperature: Temperature = 0.05,
        reply_gradient: Weight = 1.0,
        meaning: Weight = 0.0,
        pull: Weight = 0.0,
        head: OwnHeads = "context-reply",
        mask: Mask = "text",
        mini_batch_size: int | None = None,
    ) -> None:
        super().__init__()
        if min(reply_gradient, meaning, pull) < 0:
            raise TurnloomError("a part of the loss has a negative weight", "give weights from 0")
        self.model = model
        self.weights = {"reply_gradient": reply_gradient, "meaning": meaning, "pull": pull}
        self.mask = mask
        self.mini_batch_size = mini_batch_size
        fit = InverseFrequencyContrast(model, temperature=temperature, head=head or "context-reply", mask=mask)
        self.head = fit.head
        parts: dict[str, nn.Module] = {"fit": fit}
        if meaning:
            parts["meaning"] = HardNegativeContrast(model, temperature=temperature, mask=mask)
        self.losses = nn.ModuleDict(parts)
        self._base = FrozenBase(model) if pull else None

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch, as a trainer calls it."""
        columns = list(sentence_features)
        if len(columns) != 2:
            raise TurnloomError("replies and meaning are learned from two columns", "give contexts and replies")
        keys = [text_keys(column) for column in columns] if self.mask == "text" else None
        vectors = [sentence_vectors(self.model, column, self.mini_batch_size) for column in columns]
        fit: Any = self.losses["fit"]
        scaled = [scaled_gradient(side, self.weights["reply_gradient"]) for side in vectors]
        terms = [fit.contrast(fit.through_head(scaled), keys=keys, weights=fit.pair_weights(labels))]
        if self.weights["meaning"]:
            part: Any = self.losses["meaning"]
            terms.append(self.weights["meaning"] * part.contrast(part.through_head(vectors), keys=keys))
        if self._base is not None:
            terms.append(self.weights["pull"] * pairwise_pull(vectors[1], self._base.vectors(columns[1])))
        return torch.stack(terms).sum()

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings for the model card."""
        return {**self.weights, "mask": self.mask, "temperature": self.losses["fit"].temperature}
