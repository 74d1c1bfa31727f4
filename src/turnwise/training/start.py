"""What training starts from: the model of a folder or random weights, frozen in part, with new words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turnwise.errors import TurnwiseError
from turnwise.objectives import small_transformer
from turnwise.runtime.encoder import SentenceTransformerEncoder, load_encoder
from turnwise.training.recipe import Recipe

__all__ = ["add_tokens", "load_start"]


def load_start(recipe: Recipe) -> Any:
    """The model that training starts from, frozen where the recipe says so."""
    from torch import nn

    from turnwise.training.heads import without_heads

    options = recipe.model
    if options.start is None:
        raise TurnwiseError(f"the recipe {recipe.name!r} does not say what to start from", "give --start FOLDER")
    encoder = load_encoder(options.start)
    assert isinstance(encoder, SentenceTransformerEncoder)
    model = without_heads(encoder.model)
    if options.random:
        shape = options.random
        model = small_transformer(model.tokenizer, layers=shape.layers, width=shape.width, heads=shape.heads)
    network: Any = model[0]
    network = network.auto_model
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = options.dropout
    if getattr(network, "pooler", None) is not None:
        network.pooler.requires_grad_(False)  # Nothing is learned from it, and processes would wait for its gradient.
    if options.freeze_embeddings:
        network.get_input_embeddings().requires_grad_(False)
    layers = list(network.encoder.layer) if options.freeze_layers else []
    for layer in layers[: options.freeze_layers]:
        layer.requires_grad_(False)
    return model


def add_tokens(model: Any, tokens: Sequence[str], *, frozen: bool) -> None:
    """Make words of marks and slots, which have to be learned even if all others stay as they are."""
    from torch import Tensor

    before = len(model.tokenizer)
    if not model.tokenizer.add_tokens(list(tokens), special_tokens=True):
        return
    network = model[0].auto_model
    network.resize_token_embeddings(len(model.tokenizer), mean_resizing=False)
    if not frozen:
        return

    def of_new_words(gradient: Tensor) -> Tensor:
        kept = gradient.clone()
        kept[:before] = 0
        return kept

    weight = network.get_input_embeddings().weight
    weight.requires_grad_(True)
    weight.register_hook(of_new_words)
