"""Load the base model (a folder, random weights, or an encoder as a cross-encoder) and set how it reads contexts."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import CrossEncoder
from torch import Tensor, nn
from transformers.utils import logging

from turnloom.errors import TurnloomError
from turnloom.objectives import ContextReplyHeads, small_transformer
from turnloom.runtime.context_format import ContextFormat, read_context_format
from turnloom.runtime.encoder import SentenceTransformerEncoder, is_static, load_encoder
from turnloom.runtime.frozen import FrozenEncoder
from turnloom.runtime.model_folder import model_folder, no_progress_bars
from turnloom.runtime.protocols import Encoder, turn_encoder
from turnloom.runtime.scorer import CrossEncoderScorer, is_cross_encoder, load_scorer
from turnloom.training.losses import kept_heads, without_heads
from turnloom.training.recipe import ModelOptions, Recipe
from turnloom.views.utterance_tasks import END_OF_TURN, MARKS

TURNS = [END_OF_TURN, *MARKS.values()]
_FROZEN_ROWS = "turnloom_frozen_rows"
PASSED = 0.1
"""The states' scale in a pooler that passes them through."""


def load_base_model(recipe: Recipe) -> tuple[Any, ContextReplyHeads | None]:
    """Load the base model, with layers frozen as the recipe says, and the heads that it has kept."""
    options = recipe.model
    if options.start is None:
        raise TurnloomError(f"the recipe {recipe.name!r} does not say what to start from", "give --start FOLDER")
    if is_cross_encoder(Path(options.start)):
        return _load_cross_encoder(recipe), None
    encoder = turn_encoder(load_encoder(options.start))
    if is_frozen(encoder):
        raise TurnloomError(
            f"{options.start} has no layers to fine-tune",
            f"train on its vectors: turnloom train conversation --start {options.start}",
        )
    if not isinstance(encoder, SentenceTransformerEncoder):
        raise _exported(recipe)
    model, heads = without_heads(encoder.model), kept_heads(encoder.model)
    if options.random:
        heads = None
        shape = options.random.model_dump()
        with no_progress_bars():
            model = small_transformer(model.tokenizer, **shape, length=max(128, options.max_length))
    network: Any = model[0]
    network = network.auto_model
    if getattr(network, "pooler", None) is not None:
        network.pooler.requires_grad_(False)  # It is not trained, and processes would wait for its gradient.
    _fix(model, network, options)
    return model, heads


def _load_cross_encoder(recipe: Recipe) -> Any:
    """Load a trained cross-encoder to continue from."""
    if not all(stage.reranks for stage in recipe.stages):
        raise TurnloomError(f"{recipe.model.start} is a cross-encoder", f"the recipe {recipe.name!r} wants an encoder")
    scorer = load_scorer(Path(str(recipe.model.start)))
    if not isinstance(scorer, CrossEncoderScorer):
        raise _exported(recipe)
    return _prepared(scorer.model, recipe.model)


def is_frozen(encoder: Encoder) -> bool:
    """Whether a model has no layers to fine-tune; a conversation encoder can still be trained on its vectors."""
    below = turn_encoder(encoder)
    if isinstance(below, SentenceTransformerEncoder):
        return is_static(below.model.tokenizer)
    return isinstance(below, FrozenEncoder)


def _exported(recipe: Recipe) -> TurnloomError:
    return TurnloomError(f"{recipe.model.start} cannot be trained", "start from the folder that it was exported from")


def as_cross_encoder(model: Any, recipe: Recipe) -> Any:
    """Return a CrossEncoder with an encoder's weights and an untrained last layer."""
    torch.manual_seed(recipe.seed)
    shown = logging.get_verbosity()
    with tempfile.TemporaryDirectory() as folder:
        model[0].auto_model.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
        logging.set_verbosity(40)  # Errors only: a warning about the new last layer would confuse.
        try:
            with no_progress_bars():
                made = CrossEncoder(folder, num_labels=1, device=str(model.device), local_files_only=True)
        finally:
            logging.set_verbosity(shown)
    made.model_card_data.base_model = None  # The temporary folder no longer exists.
    _pass_through_pooler(made.model)
    return _prepared(made, recipe.model)


def _pass_through_pooler(network: Any) -> None:
    """Let the last layer read the first token's state as it is: an encoder's pooler was never trained.

    Random weights and a tanh in between keep nearly all of the gradient from the encoder. The pooler stays, so that
    the model loads as any other: small enough, its tanh is a straight line.
    """
    pooler = getattr(network.base_model, "pooler", None)
    if pooler is None or not hasattr(network, "classifier"):
        return
    with torch.no_grad():
        pooler.dense.weight.copy_(PASSED * torch.eye(len(pooler.dense.weight)))
        pooler.dense.bias.zero_()
        network.classifier.weight.div_(PASSED)
    pooler.requires_grad_(False)


def _prepared(model: Any, options: ModelOptions) -> Any:
    """Add the turn markers to the tokenizer, and truncate contexts at their start."""
    tokenizer = model.tokenizer
    tokenizer.truncation_side = tokenizer.init_kwargs["truncation_side"] = "left"
    _fix(model, model.model.base_model, options)
    add_tokens(tokenizer, model.model, TURNS, frozen=options.freeze_embeddings)
    return model


def add_tokens(tokenizer: Any, network: Any, tokens: Sequence[str], *, frozen: bool) -> None:
    """Add markers and slots to the vocabulary; they are trained even if all other word embeddings are frozen."""
    before, weight = len(tokenizer), network.get_input_embeddings().weight
    if not tokenizer.add_tokens(list(tokens), special_tokens=True):
        return
    rows = frozen_rows(weight) or before  # Words added earlier are still trained.
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
    """Return how many first rows of a parameter are frozen; weight decay must not change them either."""
    return getattr(weight, _FROZEN_ROWS, 0)


def _fix(model: Any, network: Any, options: ModelOptions) -> None:
    """Set dropout and frozen layers as the recipe says."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = options.dropout
    if not torch.cuda.is_available():
        # On a CPU, the backward pass of PyTorch's fused attention takes as long as the rest of the model.
        network.set_attn_implementation("eager")
    if options.freeze_embeddings:
        network.get_input_embeddings().requires_grad_(False)
    if options.freeze_layers:
        layers = getattr(getattr(network, "encoder", None), "layer", None)
        if layers is None:
            raise TurnloomError("the layers of this network cannot be frozen", "set model.freeze_layers to 0")
        for layer in layers[: options.freeze_layers]:
            layer.requires_grad_(False)


def context_formats(recipe: Recipe, *, goes_on: bool) -> tuple[ContextFormat, ContextFormat]:
    """Return the context format of training rows, and the one that is saved with the model.

    Both use the recipe's format, or else the base model's. They differ in `max_turns` unless the recipe sets it: rows
    keep all turns of their view, and the model later reads as many as it was trained on, since more turns only blur the
    output of a context head:

    - A kept context head reads as many turns as the longest context of the last stage, or as many as the base model's
      head if it continues from that head and that head reads more.
    - An encoder without a context head reads as many turns as its base model, but no fewer than its view has.
    - A cross-encoder keeps its setting.
    """
    base = read_context_format(model_folder(recipe.model.start)) if recipe.model.start else ContextFormat()
    own = recipe.model.context
    context = base if own == ContextFormat() else own
    if recipe.reranks or own.max_turns is not None:
        return context, context
    rows = context.model_copy(update={"max_turns": None})
    return rows, rows.model_copy(update={"max_turns": _turns_to_read(recipe, base.max_turns, goes_on)})


def _turns_to_read(recipe: Recipe, before: int | None, goes_on: bool) -> int | None:
    """Return the maximum number of turns that a trained encoder reads; None for all."""
    last = recipe.stages[-1]
    sizes = [part.view.context_turns for part in (last, *last.also)]
    has_context_head = recipe.keep_heads and "query" in last.objective.kept_routes
    if None in sizes or (before is None and not has_context_head):
        return None
    learned = max(size for size in sizes if size is not None)
    return max(learned, before or 0) if goes_on or not has_context_head else learned
