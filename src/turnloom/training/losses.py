"""Build the losses of a recipe, and keep their heads in the trained model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Router
from torch import nn

from turnloom import objectives
from turnloom.errors import TurnloomError
from turnloom.objectives import ContextReplyHeads
from turnloom.training.objective_options import ObjectiveOptions
from turnloom.training.recipe import Part


def build_losses(
    model: Any,
    groups: dict[str, Part],
    mini_batch_size: int | None,
    heads: objectives.ContextReplyHeads | None = None,
) -> dict[str, nn.Module]:
    """Return one loss per group of each view, each with its own head.

    All groups share the context head and the reply head: the model keeps these, and at inference a context's group is
    unknown.
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
    """Return the parameters that losses train besides the encoder, by name: heads and decoders."""
    found: dict[str, Any] = {}
    known: set[int] = set()
    for group, loss in losses.items():
        for name, parameter in loss.named_parameters():
            # The encoder's parameters are under the attribute `model`, at any depth; heads may be shared.
            if "model" not in name.split(".") and id(parameter) not in known:
                known.add(id(parameter))
                found[f"{group}.{name}"] = parameter
    return found


def trained_heads(losses: dict[str, nn.Module]) -> dict[str, nn.Module]:
    """Return the losses' heads that can be kept, by route; empty if there are none."""
    heads = context_reply_heads(losses)
    if heads is not None:
        return {"query": heads.context, "document": heads.reply}
    for loss in losses.values():
        layer = getattr(loss, "template_layer", None)
        if isinstance(layer, nn.Module) and not isinstance(layer, nn.Identity):
            return {"template": layer}
    return {}


def context_reply_heads(losses: dict[str, nn.Module]) -> objectives.ContextReplyHeads | None:
    """Return the context head and the reply head, which all losses that have them share."""
    heads = (getattr(loss, "head", None) for loss in losses.values())
    return next((head for head in heads if isinstance(head, objectives.ContextReplyHeads)), None)


def _modules(head: nn.Module) -> list[Any]:
    """Return a head as modules that every installation of sentence-transformers can load."""
    layers = list(head.children()) if isinstance(head, nn.Sequential) else [head]
    found: list[Any] = []
    for place, layer in enumerate(layers):
        if isinstance(layer, nn.Linear):
            after = layers[place + 1] if place + 1 < len(layers) else None
            activation = None if after is None or isinstance(after, nn.Linear) else after
            found.append(
                Dense(
                    layer.in_features,
                    layer.out_features,
                    bias=layer.bias is not None,
                    activation_function=activation,
                    init_weight=layer.weight.data.clone(),
                    init_bias=None if layer.bias is None else layer.bias.data.clone(),
                )
            )
    return [*found, Normalize()]


def kept_heads(model: SentenceTransformer) -> ContextReplyHeads | None:
    """Return the context head and the reply head that a model has kept; None if it has none of this shape."""
    router: Any = next((module for module in model if isinstance(module, Router)), None)
    width = model.get_embedding_dimension()
    if router is None or width is None:
        return None
    heads, routes = ContextReplyHeads(width), dict(router.sub_modules)
    for route, head in (("query", heads.context), ("document", heads.reply)):
        given = [module.linear for module in routes.get(route, []) if isinstance(module, Dense)]
        layers = [layer for layer in head.modules() if isinstance(layer, nn.Linear)]
        if [layer.weight.shape for layer in given] != [layer.weight.shape for layer in layers]:
            return None
        for layer, known in zip(layers, given, strict=True):
            layer.load_state_dict(known.state_dict())
    return heads


def without_heads(model: SentenceTransformer) -> SentenceTransformer:
    """Return the model without kept heads, as further training needs it."""
    modules = [module for module in model if not isinstance(module, Router)]
    return model if len(modules) == len(model) else SentenceTransformer(modules=modules, device=str(model.device))


def keep_heads(model: SentenceTransformer, heads: Mapping[str, nn.Module]) -> SentenceTransformer:
    """Add heads to a model: `encode` stays that of the encoder, and each route adds its head.

    `encode_query` takes the route `query`, `encode_document` takes `document`, and `encode(..., task=ROUTE)` any.
    """
    routes = {route: _modules(head) for route, head in heads.items()}
    # Without heads for contexts or replies, those routes return the meaning.
    others: dict[tuple[str | None, str | tuple[str, ...] | None], str] = {
        (route, None): "meaning" for route in ("query", "document") if route not in routes
    }
    router = Router({**routes, "meaning": [Normalize()]}, default_route="meaning", route_mappings=others or None)
    return SentenceTransformer(modules=[*model, router], device=str(model.device))
