"""Train a conversation encoder on stored vectors: it takes minutes where training on tokens takes hours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from turnloom.errors import TurnloomError
from turnloom.objectives.gathering import is_first_process, world_size
from turnloom.runtime.conversation import ConversationEncoder, ConversationShape
from turnloom.runtime.conversation_folder import TorchReader, heads_of, save_conversation
from turnloom.runtime.conversation_network import LARGEST_SHARE, ConversationNetwork
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.model_folder import model_folder
from turnloom.runtime.protocols import Progress, turn_encoder
from turnloom.training.clock import RunClock
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.conversation_loss import conversation_loss, measure_familiarity
from turnloom.training.vector_recipe import ConversationRecipe
from turnloom.training.vector_run import VectorResult, VectorRun, check_vectors, claim_folder, save_copy
from turnloom.vectors.table import VectorTable

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
    clock = RunClock(minutes, time.monotonic() if began is None else began)
    tables = [VectorTable(folder) for folder in vectors]
    sampler = ConversationSampler(tables, recipe.data, recipe.seed)
    torch.manual_seed(recipe.seed)
    base, network = _network(recipe, sampler)
    work = claim_folder(recipe, tables, base, out, resume=resume)
    clock.resume(work)
    result = VectorResult(out, turns=sampler.turns)
    run = VectorRun(
        recipe, network, lambda step, _: _loss(recipe, sampler, network, step), work, clock, result, on_progress
    )
    run.train(resume)
    measure_familiarity(network, sampler, on_progress=on_progress)
    if is_first_process():
        save_copy(base, out, lambda folder: save_conversation(network, folder))
        run.finish()
    return result


def _loss(
    recipe: ConversationRecipe, sampler: ConversationSampler, network: ConversationNetwork, step: int
) -> tuple[Tensor, int]:
    """Return the loss of a step and the number of contexts, of this process's share of the batch."""
    batch = sampler.batch(step, dist.get_rank() if world_size() > 1 else 0, world_size())
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
    if options.start is None:
        raise TurnloomError(f"the recipe {recipe.name!r} does not say what to start from", "give --start FOLDER")
    folder = model_folder(options.start)
    encoder = load_encoder(folder)
    below = turn_encoder(encoder)
    check_vectors(sampler.tables[0], sampler.fingerprint, below, folder)
    if options.adapt:
        if not isinstance(encoder, ConversationEncoder) or not isinstance(encoder.reader, TorchReader):
            raise TurnloomError(f"{folder} has no conversation encoder to adapt", "leave --adapt out to train one")
        network = encoder.reader.network
        network.set_dropout(options.dropout)
        return folder, network
    heads = heads_of(below)
    shape = ConversationShape(
        width=sampler.width,
        uses_heads=bool(heads),
        encoder=below.fingerprint,
        **options.model_dump(include={"size", "layers", "heads", "reply_size", "max_turns"}),
    )
    return folder, ConversationNetwork(shape, **heads, dropout=options.dropout)
