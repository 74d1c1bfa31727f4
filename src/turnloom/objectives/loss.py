"""What every loss has, and the types of options that several have."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, get_args

import torch
from pydantic import Field
from torch import Tensor, nn

from turnloom.errors import TurnloomError

__all__ = ["Loss", "Mask", "Temperature", "Weight", "check_choice", "like_model"]

Mask = Literal["text", "none"]
Temperature = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]


class Loss(nn.Module):
    """A loss; its class says what a recipe and a model card need to know of it, its constructor what may be set."""

    kind: ClassVar[str]
    """Its name in recipes, and that of its file."""
    wants_frequencies: ClassVar[bool] = False
    """Whether labels say how frequent each reply is."""
    trains_cross_encoder: ClassVar[bool] = False
    kept_routes: ClassVar[tuple[str, ...]] = ("query", "document")
    """Which outputs of the model its heads become if they are kept."""
    reference: ClassVar[str] = ""
    """The paper as BibTeX."""
    settings: ClassVar[tuple[str, ...]] = ()
    """The attributes that a model card shows."""

    def get_config_dict(self) -> dict[str, Any]:
        """The settings, for the model card."""
        return {name: getattr(self, name) for name in self.settings}

    @property
    def citation(self) -> str:
        """The paper as BibTeX, for the model card."""
        return self.reference


def check_choice(option: str, value: str, choices: Any) -> None:
    """Reject an invalid option value."""
    if value not in get_args(choices):
        raise TurnloomError(f"{option} cannot be {value!r}", f"choose one of {', '.join(get_args(choices))}")


def like_model(layer: nn.Module, model: Any) -> nn.Module:
    """A layer on the model's device and in its precision."""
    like: Tensor = next(model.parameters(), torch.zeros(()))
    return layer.to(device=like.device, dtype=like.dtype)
