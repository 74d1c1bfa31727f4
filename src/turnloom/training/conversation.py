"""Train a conversation encoder on stored vectors: it takes minutes where training on tokens takes hours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from turnloom.errors import TurnloomError
from turnloom.objectives.gathering import process_number, world_size
from turnloom.runtime.conversation import ConversationEncoder, ConversationShape
from turnloom.runtime.conversation_folder import TorchReader, heads_of, save_conversation
from turnloom.runtime.conversation_network import LARGEST_SHARE, ConversationNetwork
from turnloom.runtime.protocols import Progress, turn_encoder
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.conversation_loss import conversation_loss, measure_familiarity
from turnloom.training.vector_recipe import ConversationRecipe
from turnloom.training.vector_run import VectorResult, VectorRun, base_model, open_sampler

USUAL_SHARE = 0.3
"""The share of similarity of meaning in half of the steps; a random one in the others, so that both halves of a query
work at any share."""


def train_conversation(
    recipe: ConversationRecipe,
    vectors: Sequence[Path],
    out: Path,
    *,
    minutes: float | None = None,
    began: float | None = None,
    resume: bool = False,
    on_progress: Progress = lambda *_: None,
) -> VectorResult:
    """Train a conversation encoder on the vectors of turns; the encoder that made them stays as it is.

    Args:
        recipe: The recipe.
        vectors: Vector tables, all made by the recipe's base model.
        out: The new model's folder: a copy of the base model with a conversation encoder in it.
        minutes: How long the run may take, instead of the recipe's steps.
        began: When these minutes began, by `time.monotonic`; by default when the function is called.
        resume: Whether to continue an interrupted run in this folder.
        on_progress: Called with a step, the share of it that is done, and a note.

    Raises:
        TurnloomError: If the vectors are another model's, or the folder contains another run.
    """
    began = time.monotonic() if began is None else began
    sampler = open_sampler(recipe, vectors)
    base, network = _network(recipe, sampler)
    run = VectorRun(
        recipe, sampler, network, lambda step: _loss(recipe, sampler, network, step), base, out, on_progress
    )
    run.train(minutes, began, resume=resume)
    measure_familiarity(network, sampler, on_progress=on_progress)
    run.save(lambda folder: save_conversation(network, folder))
    return run.result


def _loss(
    recipe: ConversationRecipe, sampler: ConversationSampler, network: ConversationNetwork, step: int
) -> tuple[Tensor, int]:
    """Return the loss of a step and the number of contexts, of this process's share of the batch."""
    batch = sampler.batch(step, process_number(), world_size())
    chance = torch.rand((), generator=torch.Generator().manual_seed(step)).item()
    share = chance * LARGEST_SHARE if step % 2 else USUAL_SHARE
    windows = recipe.data.windows
    loss = conversation_loss(
        network,
        batch,
        bf16=recipe.computes_in_bf16,
        share=share,
        window=windows[step % len(windows)] if windows else None,
        inverse_frequency=recipe.inverse_frequency,
    )
    return loss, len(batch.text)


def _network(recipe: ConversationRecipe, sampler: ConversationSampler) -> tuple[Path, ConversationNetwork]:
    """Return the base model's folder, and the network to train: a new one, or the one in the folder."""
    options = recipe.model
    folder, encoder = base_model(recipe, sampler)
    if options.adapt:
        if not isinstance(encoder, ConversationEncoder) or not isinstance(encoder.reader, TorchReader):
            raise TurnloomError(f"{folder} has no conversation encoder to adapt", "leave --adapt out to train one")
        network = encoder.reader.network
        network.set_dropout(options.dropout)
        return folder, network
    below = turn_encoder(encoder)
    heads = heads_of(below)
    shape = ConversationShape(
        width=sampler.width,
        uses_heads=bool(heads),
        encoder=below.fingerprint,
        **options.model_dump(include={"size", "layers", "heads", "reply_size", "max_turns"}),
    )
    return folder, ConversationNetwork(shape, **heads, dropout=options.dropout)
