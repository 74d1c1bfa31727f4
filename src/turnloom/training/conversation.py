"""Train a conversation encoder on stored vectors: it takes minutes where training on tokens takes hours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from turnloom.errors import TurnloomError
from turnloom.objectives.gathering import is_first_process, world_size
from turnloom.runtime.conversation import ConversationEncoder, ConversationShape
from turnloom.runtime.conversation_folder import TorchReader, heads_of, save_conversation
from turnloom.runtime.conversation_network import ConversationNetwork
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.model_folder import model_folder
from turnloom.runtime.protocols import Progress, turn_encoder
from turnloom.training.clock import RunClock
from turnloom.training.conversation_data import ConversationSampler, Part
from turnloom.training.conversation_loss import conversation_loss, fit_gate
from turnloom.training.vector_recipe import ConversationRecipe
from turnloom.training.vector_run import VectorResult, VectorRun, claim_folder, save_copy
from turnloom.vectors.table import VectorTable

LARGEST_SHARE = 0.6
"""In half of the steps, meaning gets a random share up to this, so that both halves of a query work at any share."""


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
        recipe, network, lambda step: _loss(recipe, sampler, network, step), work, clock, result, on_progress
    )
    run.train(resume)
    fit_gate(network, _gate_samplers(recipe, tables), bf16=recipe.computes_in_bf16, on_progress=on_progress)
    if is_first_process():
        save_copy(base, out, lambda folder: save_conversation(network, folder))
        run.finish()
    return result


def _loss(
    recipe: ConversationRecipe, sampler: ConversationSampler, network: ConversationNetwork, step: int
) -> tuple[Tensor, int]:
    """Return the loss of a step and the number of contexts, of this process's share of the batch."""
    batch = sampler.batch(step, dist.get_rank() if world_size() > 1 else 0, world_size())
    share = torch.rand((), generator=torch.Generator().manual_seed(step)).item() * LARGEST_SHARE if step % 2 else None
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
    # Vectors made in bfloat16 differ slightly, but are good enough to train on.
    if sampler.fingerprint.removesuffix("-bf16") != below.fingerprint:
        made_by = sampler.tables[0].manifest.model
        raise TurnloomError(
            f"{sampler.tables[0].folder} holds vectors of {made_by}, not of {folder}",
            f"make them again with: turnloom vectors TABLE --model {folder} --out FOLDER",
        )
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


def _gate_samplers(recipe: ConversationRecipe, tables: Sequence[VectorTable]) -> list[ConversationSampler]:
    found = []
    parts: tuple[Part, ...] = ("held-out", "unlike")
    for part in parts:
        with suppress(TurnloomError):  # There may be too few dialogues to hold any out, or no `unlike` sources.
            found.append(ConversationSampler(tables, recipe.data, recipe.seed, part))
    return found
