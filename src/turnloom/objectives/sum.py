"""Several objectives as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features
from turnloom.objectives.loss import Loss

__all__ = ["Sum"]


class Sum(Loss):
    """The weighted sum of losses on the same columns.

    Formula:
        `sum_k weight_k loss_k`

    Inputs:
        What each of the losses takes.

    When to use:
        For TOD-BERT, `Sum((ResponseContrast(model), 1.0), (MaskedLanguage(model, columns=(0,)), 1.0))`, or to keep a
        language model's knowledge while contrasting.

    Args:
        parts: Pairs of a loss and its weight; all losses train the same model.
    """

    def __init__(self, *parts: tuple[nn.Module, float]) -> None:
        super().__init__()
        if not parts:
            raise TurnloomError("a sum of no losses", "give pairs of a loss and a weight")
        self.losses: Any = nn.ModuleList([loss for loss, _ in parts])
        self.weights = [float(weight) for _, weight in parts]
        # A trainer looks here to put its wrapped model in, and then into all parts.
        self.model = parts[0][0].model
        if any(loss.model is not self.model for loss in self.losses):
            raise TurnloomError("a sum of losses for different models", "make all of them with the same model")

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """The sum for a batch, as a trainer calls it."""
        columns = list(sentence_features)
        # Models write their outputs into what they are given, so each loss gets its own.
        values = [loss([dict(column) for column in columns], labels) for loss in self.losses]
        return torch.stack([weight * value for weight, value in zip(self.weights, values, strict=True)]).sum()

    def get_config_dict(self) -> dict[str, Any]:
        """The settings of all parts, for the model card."""
        parts = zip(self.losses, self.weights, strict=True)
        return {type(loss).__name__: {"weight": weight, **loss.get_config_dict()} for loss, weight in parts}

    @property
    def citation(self) -> str:
        """The papers of all parts as BibTeX, for the model card."""
        return "".join(loss.citation for loss in self.losses)
