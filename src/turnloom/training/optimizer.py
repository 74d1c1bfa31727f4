"""Muon for the matrices of the encoder's layers, AdamW for everything else."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import nn

from turnloom.errors import TurnloomError

MOMENTUM = 0.95


def layer_matrices(network: nn.Module) -> set[int]:
    """Return the identities of the matrices that Muon is for: those of layers, not those that hold a row per word."""
    tables = {
        id(parameter)
        for module in network.modules()
        if isinstance(module, nn.Embedding)
        for parameter in module.parameters()
    }
    return {id(weight) for weight in network.parameters() if weight.ndim == 2 and id(weight) not in tables}


class MuonAndAdamW(torch.optim.Optimizer):
    """Takes over the groups of an AdamW, and moves the chosen matrices of each to Muon.

    Muon (Jordan et al. 2024) makes the step of a matrix orthogonal, so that rare directions move as far as frequent
    ones. Steps are scaled to the size of AdamW's, so that a learning rate means the same for both.

    Args:
        adamw: An optimizer that has not made a step yet.
        matrices: The identities (`id`) of the parameters for Muon.

    Raises:
        TurnloomError: If the installed PyTorch has no Muon.
    """

    def __init__(self, adamw: torch.optim.AdamW, matrices: Collection[int]) -> None:
        if not hasattr(torch.optim, "Muon"):
            raise TurnloomError(f"PyTorch {torch.__version__} has no Muon", "install torch 2.9 or later, or take adamw")
        with_muon, with_adamw = [], []
        for group in adamw.param_groups:
            chosen = [weight for weight in group["params"] if id(weight) in matrices]
            others = [weight for weight in group["params"] if id(weight) not in matrices]
            settings = {"lr": group["lr"], "weight_decay": group["weight_decay"]}
            with_muon += [{"params": chosen, **settings}] if chosen else []
            with_adamw += [{**group, "params": others}] if others else []
        muon = torch.optim.Muon(with_muon, momentum=MOMENTUM, adjust_lr_fn="match_rms_adamw")
        self._parts: list[torch.optim.Optimizer] = [muon]
        self._parts += [torch.optim.AdamW(with_adamw)] if with_adamw else []
        super().__init__([{"params": group["params"]} for group in adamw.param_groups], {})
        self._share_groups()

    def _share_groups(self) -> None:
        """Show the parts' own groups, so that a schedule sets their rates."""
        self.param_groups = [group for part in self._parts for group in part.param_groups]

    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Make one step."""
        loss = closure() if closure is not None else None
        for part in self._parts:
            part.step()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """Return the state of both optimizers."""
        return {"parts": [part.state_dict() for part in self._parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state of both optimizers."""
        for part, state in zip(self._parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self._share_groups()
