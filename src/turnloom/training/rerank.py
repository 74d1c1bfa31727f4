"""Train a turn-level re-ranker on stored vectors: it starts as good as the search, and learns to correct it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from turnloom.errors import TurnloomError
from turnloom.objectives.gathering import is_first_process, world_size
from turnloom.objectives.listwise import list_loss
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.conversation_folder import TorchReader
from turnloom.runtime.conversation_network import ConversationNetwork
from turnloom.runtime.encoder import load_encoder
from turnloom.runtime.model_folder import CONVERSATION, model_folder
from turnloom.runtime.protocols import Progress
from turnloom.runtime.rerank_network import RerankNetwork
from turnloom.runtime.reranker import RerankShape, save_reranker
from turnloom.training.clock import RunClock
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.rerank_data import draw_lists, read_dialogues
from turnloom.training.utterance_tasks import utterance_loss
from turnloom.training.vector_recipe import RerankRecipe
from turnloom.training.vector_run import VectorResult, VectorRun, check_vectors, claim_folder, save_copy
from turnloom.vectors.table import VectorTable


def train_rerank(
    recipe: RerankRecipe,
    vectors: Sequence[Path],
    out: Path,
    *,
    minutes: float | None = None,
    began: float | None = None,
    resume: bool = False,
    on_progress: Progress = lambda *_: None,
) -> VectorResult:
    """Train a re-ranker for a model with a conversation encoder; both stay as they are.

    Args:
        recipe: The recipe.
        vectors: Vector tables, all made by the recipe's base model.
        out: The new model's folder: a copy of the base model with a re-ranker in it.
        minutes: How long the run may take, instead of the recipe's steps.
        began: When these minutes began, by `time.monotonic`; by default when the function is called.
        resume: Whether to continue an interrupted run in this folder.
        on_progress: Called with a step, the share of it that is done, and a note.

    Raises:
        TurnloomError: If the base model has no conversation encoder, the vectors are another model's, or the folder
            contains another run.
    """
    clock = RunClock(minutes, time.monotonic() if began is None else began)
    tables = [VectorTable(folder) for folder in vectors]
    sampler = ConversationSampler(tables, recipe.data, recipe.seed)
    torch.manual_seed(recipe.seed)
    base, conversation, network = _networks(recipe, sampler)
    work = claim_folder(recipe, tables, base, out, resume=resume)
    clock.resume(work)
    result = VectorResult(out, turns=sampler.turns)

    def loss(step: int, part: float) -> tuple[Tensor, int]:
        return rerank_loss(recipe, sampler, conversation, network, step, part)

    run = VectorRun(recipe, network, loss, work, clock, result, on_progress)
    run.train(resume)
    if is_first_process():

        def add(folder: Path) -> None:
            shutil.copytree(base / CONVERSATION, folder / CONVERSATION)
            save_reranker(network, folder)

        save_copy(base, out, add)
        run.finish()
    return result


def _networks(recipe: RerankRecipe, sampler: ConversationSampler) -> tuple[Path, ConversationNetwork, RerankNetwork]:
    """Return the base model's folder, its conversation encoder, and a new re-ranker."""
    options = recipe.model
    if options.start is None:
        raise TurnloomError(f"the recipe {recipe.name!r} does not say what to start from", "give --start FOLDER")
    folder = model_folder(options.start)
    encoder = load_encoder(folder)
    if not isinstance(encoder, ConversationEncoder) or not isinstance(encoder.reader, TorchReader):
        raise TurnloomError(
            f"{folder} has no conversation encoder", "train one first with: turnloom train conversation"
        )
    check_vectors(sampler.tables[0], sampler.fingerprint, encoder.turns, folder)
    conversation = encoder.reader.network.requires_grad_(False)
    shape = RerankShape(
        width=sampler.width,
        conversation=encoder.fingerprint,
        **options.model_dump(include={"size", "layers", "heads", "max_turns"}),
    )
    return folder, conversation, RerankNetwork(shape, options.dropout)


def rerank_loss(
    recipe: RerankRecipe,
    sampler: ConversationSampler,
    conversation: ConversationNetwork,
    network: RerankNetwork,
    step: int,
    part: float,
) -> tuple[Tensor, int]:
    """Return the loss of a step and the number of contexts, of this process's share.

    All processes draw the same lists and score their share of them, so the sum of their gradients is that of one.
    """
    process, processes = (dist.get_rank(), world_size()) if world_size() > 1 else (0, 1)
    batch, bf16 = sampler.batch(step), recipe.computes_in_bf16
    draw = np.random.default_rng([recipe.seed, step, 1])
    reading = read_dialogues(conversation, batch.vectors, batch.speakers, bf16=bf16)
    shared = {"process": process, "processes": processes}
    lists = draw_lists(reading, batch, recipe.data, draw, most=network.shape.max_turns, part=part, **shared)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        scores = network(lists.turns, lists.calls, lists.speakers, lists.replies, lists.search)
    loss = list_loss(scores, lists.usable) / min(recipe.data.lists, len(batch.dialogue))
    for task in recipe.tasks:
        found = utterance_loss(network, conversation, batch, task, draw, bf16=bf16, **shared)
        loss = loss + recipe.task_weight * found
    return loss, len(lists.turns)
