"""From a recipe's words to a loss."""

from __future__ import annotations

from typing import Any, cast

from torch import nn

from turnwise import objectives
from turnwise.training import recipe as words

__all__ = ["added_parameters", "build_losses", "trained_heads"]


def build_losses(model: Any, stage: words.Stage, groups: list[str]) -> dict[str, nn.Module]:
    """A loss for each group of the stage's view, each with a head of its own.

    A context head and a reply head are shared by all groups: they are kept, and later nobody says which group a context
    belongs to.
    """
    kept = None
    if getattr(stage.objective, "head", None) == "context-reply":
        kept = objectives.ContextReplyHeads(model.get_embedding_dimension())
    return {group: _build(model, stage, kept) for group in groups}


def _build(model: Any, stage: words.Stage, kept: nn.Module | None) -> nn.Module:
    wanted = stage.objective
    options: dict[str, Any] = wanted.model_dump(exclude={"kind", "masked_language_weight"})
    if not isinstance(wanted, (words.MatchingGuided, words.Siamese, words.Manipulation)):
        options["mini_batch_size"] = stage.mini_batch_size
    if kept is not None:
        options["head"] = kept
    loss = cast("nn.Module", _LOSSES[wanted.kind](model, **options))
    weight = wanted.masked_language_weight if isinstance(wanted, words.ResponseContrast) else 0
    if not weight:
        return loss
    masked = objectives.MaskedLanguage(model, columns=[0], mini_batch_size=stage.mini_batch_size)
    return objectives.Sum((loss, 1.0), (masked, weight))


_LOSSES: dict[str, Any] = {
    "hard_negative": objectives.HardNegativeContrast,
    "nt_xent": objectives.NTXent,
    "inverse_frequency": objectives.InverseFrequencyContrast,
    "response_contrast": objectives.ResponseContrast,
    "masked_language": objectives.MaskedLanguage,
    "matching_guided": objectives.MatchingGuided,
    "siamese": objectives.Siamese,
    "manipulation": objectives.UtteranceManipulation,
}


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


def trained_heads(losses: dict[str, nn.Module]) -> objectives.ContextReplyHeads | None:
    """The context head and the reply head of the losses, if they have them."""
    heads = (getattr(loss, "head", None) for loss in losses.values())
    return next((head for head in heads if isinstance(head, objectives.ContextReplyHeads)), None)
