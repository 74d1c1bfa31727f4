"""Heads: what a loss puts between the encoder and the similarity."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import torch
from pydantic import GetPydanticSchema
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.loss import like_model

__all__ = ["AnyHead", "ContextReplyHeads", "Head", "build_head", "linear_head", "mlp_head"]

Head = Literal["mlp", "linear", "context-reply", "none"]
AnyHead = Annotated[nn.Module | Head | None, GetPydanticSchema(lambda _, handler: handler(Head))]
"""In Python a module too; a recipe can only name one."""


def mlp_head(width: int, out: int = 128) -> nn.Module:
    """DSE's contrastive head (Appendix A.1): two layers with a ReLU between them, without biases."""
    return nn.Sequential(nn.Linear(width, width, bias=False), nn.ReLU(), nn.Linear(width, out, bias=False))


def linear_head(width: int) -> nn.Module:
    """WMDC's head (Appendix D): one layer that keeps the width."""
    return nn.Linear(width, width)


def _identity_mlp(width: int) -> nn.Module:
    """Two layers that give back what they get, with room to learn: x = relu(x) - relu(-x).

    Two thirds of the hidden units carry the input, one third begins at random and unused. Unlike a residual network,
    it is made of plain layers, which every installation of sentence-transformers can load.
    """
    inner, outer = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
    with torch.no_grad():
        one = torch.eye(width)
        inner.weight[: 2 * width] = torch.cat([one, -one])
        inner.bias.zero_()
        outer.weight.zero_()
        outer.weight[:, : 2 * width] = torch.cat([one, -one], dim=1)
        outer.bias.zero_()
    return nn.Sequential(inner, nn.ReLU(), outer)


class ContextReplyHeads(nn.Module):
    """One head for contexts, another for replies; both begin as the identity, and both are meant to be kept.

    What fits as a reply is not what means the same: with its own head for each side, a shared encoder need not
    choose. After training, `context` belongs to `encode_query` and `reply` to `encode_document`.

    Args:
        width: Of the encoder's vectors, and of what the heads give.

    Attributes:
        context: The head of the first column.
        reply: The head of all other columns.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.context: nn.Module = _identity_mlp(width)
        self.reply: nn.Module = _identity_mlp(width)

    def forward(self, vectors: Tensor, column: int) -> Tensor:
        """Apply the head of a column: 0 holds the contexts, the others hold replies."""
        return (self.context if column == 0 else self.reply)(vectors)  # type: ignore[no-any-return]


def build_head(head: AnyHead, model: Any) -> nn.Module | None:
    """The head of this name, fitting a model; a module is taken as it is."""
    if head is None or head == "none" or isinstance(head, nn.Module):
        return head if isinstance(head, nn.Module) else None
    makers: dict[str, Any] = {"mlp": mlp_head, "linear": linear_head, "context-reply": ContextReplyHeads}
    if head not in makers:
        raise TurnloomError(f"there is no head {head!r}", f"choose one of {', '.join([*makers, 'none'])}")
    return like_model(makers[head](model.get_embedding_dimension()), model)
