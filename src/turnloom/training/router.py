"""Heads that stay: a Router over one encoder, in an ordinary SentenceTransformer folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Router
from torch import nn

from turnloom.objectives import ContextReplyHeads

__all__ = ["keep_heads", "kept_heads", "without_heads"]


def _modules(head: nn.Module) -> list[Any]:
    """A head as modules that every installation of sentence-transformers can load."""
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
    """The context head and the reply head that a model has kept, to go on from; none if it has none of this shape."""
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
    """The encoder alone, if the model has kept heads: what further training starts from."""
    modules = [module for module in model if not isinstance(module, Router)]
    return model if len(modules) == len(model) else SentenceTransformer(modules=modules, device=str(model.device))


def keep_heads(model: SentenceTransformer, heads: Mapping[str, nn.Module]) -> SentenceTransformer:
    """A model whose `encode` is that of the encoder, and that adds a head where a route is asked for.

    `encode_query` takes the route `query`, `encode_document` takes `document`, and `encode(..., task=ROUTE)` any.

    Args:
        model: The trained encoder.
        heads: Its heads by route.
    """
    routes = {route: _modules(head) for route, head in heads.items()}
    # Who asks for a context or a reply of a model without heads for them gets the meaning.
    others: dict[tuple[str | None, str | tuple[str, ...] | None], str] = {
        (route, None): "meaning" for route in ("query", "document") if route not in routes
    }
    router = Router({**routes, "meaning": [Normalize()]}, default_route="meaning", route_mappings=others or None)
    return SentenceTransformer(modules=[*model, router], device=str(model.device))
