"""From a recipe's words to a loss."""

from __future__ import annotations

from typing import Any

from torch import nn

from turnloom import objectives
from turnloom.errors import TurnloomError
from turnloom.training.objective_options import ObjectiveOptions
from turnloom.training.recipe import Part

__all__ = ["added_parameters", "build_losses", "context_reply_heads", "trained_heads"]


def build_losses(
    model: Any,
    groups: dict[str, Part],
    mini_batch_size: int | None,
    heads: objectives.ContextReplyHeads | None = None,
) -> dict[str, nn.Module]:
    """A loss for each group of each view, each with a head of its own.

    A context head and a reply head are shared by all groups: they are kept, and later nobody says which group a context
    belongs to.
    """
    kept = heads
    if kept is None and any(getattr(part.objective, "head", None) == "context-reply" for part in groups.values()):
        kept = objectives.ContextReplyHeads(model.get_embedding_dimension())
    return {group: _build(model, part.objective, kept, mini_batch_size) for group, part in groups.items()}


def _build(model: Any, wanted: ObjectiveOptions, kept: nn.Module | None, mini_batch_size: int | None) -> nn.Module:
    options: dict[str, Any] = wanted.model_dump(exclude={"kind"})
    if not wanted.whole_batch:
        options["mini_batch_size"] = mini_batch_size
    elif mini_batch_size is not None:
        raise TurnloomError(f"{wanted.kind} takes a batch as a whole", "leave mini_batch_size out of the recipe")
    if options.get("head") == "context-reply":
        options["head"] = kept
    loss: nn.Module = wanted.loss(model, **options)
    return loss


def added_parameters(losses: dict[str, nn.Module]) -> dict[str, Any]:
    """What the losses train beside the encoder, by name: heads and decoders."""
    found: dict[str, Any] = {}
    known: set[int] = set()
    for group, loss in losses.items():
        for name, parameter in loss.named_parameters():
            # Everything of the encoder stands under the attribute `model`, at whatever depth; heads may be shared.
            if "model" not in name.split(".") and id(parameter) not in known:
                known.add(id(parameter))
                found[f"{group}.{name}"] = parameter
    return found


def trained_heads(losses: dict[str, nn.Module]) -> dict[str, nn.Module]:
    """The heads of the losses that can be kept, by the route they serve; none if there are none."""
    heads = context_reply_heads(losses)
    if heads is not None:
        return {"query": heads.context, "document": heads.reply}
    for loss in losses.values():
        layer = getattr(loss, "template_layer", None)
        if isinstance(layer, nn.Module) and not isinstance(layer, nn.Identity):
            return {"template": layer}
    return {}


def context_reply_heads(losses: dict[str, nn.Module]) -> objectives.ContextReplyHeads | None:
    """The head for contexts and the one for replies, which all losses that have them share."""
    heads = (getattr(loss, "head", None) for loss in losses.values())
    return next((head for head in heads if isinstance(head, objectives.ContextReplyHeads)), None)
