"""What training starts from: a model folder, random weights, or an encoder made into a cross-encoder."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnloom.errors import TurnloomError
from turnloom.objectives import ContextReplyHeads, small_transformer
from turnloom.runtime.encoder import SentenceTransformerEncoder, load_encoder
from turnloom.runtime.scorer import CrossEncoderScorer, is_cross_encoder, load_scorer
from turnloom.training.recipe import ModelOptions, Recipe
from turnloom.views.manipulations import END_OF_TURN, MARKS

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["add_tokens", "as_cross_encoder", "frozen_rows", "load_start"]

TURNS = [END_OF_TURN, *MARKS.values()]
_FROZEN_ROWS = "turnloom_frozen_rows"


def load_start(recipe: Recipe) -> tuple[Any, ContextReplyHeads | None]:
    """The model that training starts from, frozen where the recipe says so, and the heads it has kept."""
    from turnloom.training.heads import kept_heads, without_heads

    options = recipe.model
    if options.start is None:
        raise TurnloomError(f"the recipe {recipe.name!r} does not say what to start from", "give --start FOLDER")
    if is_cross_encoder(Path(options.start)):
        return _load_cross_encoder(recipe), None
    encoder = load_encoder(options.start)
    if not isinstance(encoder, SentenceTransformerEncoder):
        raise _exported(recipe)
    model, heads = without_heads(encoder.model), kept_heads(encoder.model)
    if options.random:
        heads = None
        shape = options.random
        length = max(128, options.max_length)
        model = small_transformer(
            model.tokenizer, layers=shape.layers, width=shape.width, heads=shape.heads, length=length
        )
    network: Any = model[0]
    network = network.auto_model
    if getattr(network, "pooler", None) is not None:
        network.pooler.requires_grad_(False)  # Nothing is learned from it, and processes would wait for its gradient.
    _fix(model, network, options)
    return model, heads


def _load_cross_encoder(recipe: Recipe) -> Any:
    """One that was trained before, to go on with."""
    if not all(stage.reranks for stage in recipe.stages):
        raise TurnloomError(f"{recipe.model.start} is a cross-encoder", f"the recipe {recipe.name!r} wants an encoder")
    scorer = load_scorer(Path(str(recipe.model.start)))
    if not isinstance(scorer, CrossEncoderScorer):
        raise _exported(recipe)
    return _prepared(scorer.model, recipe.model)


def _exported(recipe: Recipe) -> TurnloomError:
    return TurnloomError(f"{recipe.model.start} cannot be trained", "start from the folder that it was exported from")


def as_cross_encoder(model: Any, recipe: Recipe) -> Any:
    """A CrossEncoder with an encoder's weights and a last layer that knows nothing yet.

    Args:
        model: The SentenceTransformer.
        recipe: What is frozen, and the seed of the last layer.
    """
    import torch
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging

    torch.manual_seed(recipe.seed)
    shown = logging.get_verbosity()
    with tempfile.TemporaryDirectory() as folder:
        model[0].auto_model.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
        logging.set_verbosity(40)  # Errors only: that the last layer is new needs no saying.
        try:
            made = CrossEncoder(folder, num_labels=1, device=str(model.device), local_files_only=True)
        finally:
            logging.set_verbosity(shown)
    made.model_card_data.base_model = None  # The folder is gone.
    return _prepared(made, recipe.model)


def _prepared(model: Any, options: ModelOptions) -> Any:
    """With the marks of turns, and contexts that are cut at their front."""
    tokenizer = model.tokenizer
    tokenizer.truncation_side = tokenizer.init_kwargs["truncation_side"] = "left"
    _fix(model, model.model.base_model, options)
    add_tokens(tokenizer, model.model, TURNS, frozen=options.freeze_embeddings)
    return model


def add_tokens(tokenizer: Any, network: Any, tokens: Sequence[str], *, frozen: bool) -> None:
    """Make words of marks and slots, which have to be learned even if all others stay as they are."""
    before, weight = len(tokenizer), network.get_input_embeddings().weight
    if not tokenizer.add_tokens(list(tokens), special_tokens=True):
        return
    rows = frozen_rows(weight) or before  # What was added earlier is still to be learned.
    if len(tokenizer) > len(weight):
        network.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        weight = network.get_input_embeddings().weight
    if not frozen or frozen_rows(weight):
        return

    def of_new_words(gradient: Tensor) -> Tensor:
        kept = gradient.clone()
        kept[:rows] = 0
        return kept

    weight.requires_grad_(True)
    weight.register_hook(of_new_words)
    setattr(weight, _FROZEN_ROWS, rows)


def frozen_rows(weight: Any) -> int:
    """How many first rows of a parameter get no gradient: nothing else, weight decay included, may change them."""
    return getattr(weight, _FROZEN_ROWS, 0)


def _fix(model: Any, network: Any, options: ModelOptions) -> None:
    """Dropout and frozen parts as the recipe says."""
    import torch
    from torch import nn

    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = options.dropout
    if not torch.cuda.is_available():
        # On a CPU, the backward pass of PyTorch's fused attention takes as long as all the rest of the model.
        network.set_attn_implementation("eager")
    if options.freeze_embeddings:
        network.get_input_embeddings().requires_grad_(False)
    if options.freeze_layers:
        layers = getattr(getattr(network, "encoder", None), "layer", None)
        if layers is None:
            raise TurnloomError("the layers of this network cannot be frozen", "set model.freeze_layers to 0")
        for layer in layers[: options.freeze_layers]:
            layer.requires_grad_(False)
