"""Train a turn-level re-ranker on stored vectors: it starts as good as the search, and learns to correct it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from turnloom.errors import TurnloomError
from turnloom.objectives.gathering import process_number, world_size
from turnloom.objectives.listwise import list_loss
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.conversation_folder import TorchReader
from turnloom.runtime.conversation_network import ConversationNetwork
from turnloom.runtime.model_folder import CONVERSATION
from turnloom.runtime.protocols import Progress
from turnloom.runtime.rerank_network import RerankNetwork
from turnloom.runtime.reranker import RerankShape, save_reranker
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.rerank_data import draw_lists, read_dialogues, with_noise
from turnloom.training.utterance_tasks import utterance_loss
from turnloom.training.vector_recipe import RerankRecipe
from turnloom.training.vector_run import VectorResult, VectorRun, base_model, open_sampler


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
    began = time.monotonic() if began is None else began
    sampler = open_sampler(recipe, vectors)
    base, conversation, network = _networks(recipe, sampler)

    def loss(step: int) -> tuple[Tensor, int]:
        return rerank_loss(recipe, sampler, conversation, network, step)

    def add(folder: Path) -> None:
        shutil.copytree(base / CONVERSATION, folder / CONVERSATION)
        save_reranker(network, folder)

    run = VectorRun(recipe, sampler, network, loss, base, out, on_progress)
    run.train(minutes, began, resume=resume)
    run.save(add)
    return run.result


def _networks(recipe: RerankRecipe, sampler: ConversationSampler) -> tuple[Path, ConversationNetwork, RerankNetwork]:
    """Return the base model's folder, its conversation encoder, and a new re-ranker."""
    options = recipe.model
    folder, encoder = base_model(recipe, sampler)
    if not isinstance(encoder, ConversationEncoder) or not isinstance(encoder.reader, TorchReader):
        raise TurnloomError(
            f"{folder} has no conversation encoder", "train one first with: turnloom train conversation"
        )
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
) -> tuple[Tensor, int]:
    """Return the loss of a step and the number of contexts, of this process's share.

    All processes draw the same lists and score their share of them, so the sum of their gradients is that of one.
    """
    batch, bf16 = sampler.batch(step), recipe.computes_in_bf16
    draw = np.random.default_rng([recipe.seed, step, 1])
    noisy = with_noise(batch.vectors, recipe.data.noise, draw) if any(recipe.data.noise) else None
    reading = read_dialogues(conversation, batch.vectors, batch.speakers, bf16=bf16, noisy=noisy)
    shared = {"process": process_number(), "processes": world_size()}
    lists = draw_lists(reading, batch, recipe.data, draw, most=network.shape.max_turns, **shared)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        scores = network(lists.turns, lists.calls, lists.speakers, lists.replies, lists.search)
    loss = list_loss(scores, lists.usable) / min(recipe.data.lists, len(batch.dialogue))
    for task in recipe.tasks:
        found = utterance_loss(network, conversation, batch, task, draw, bf16=bf16, **shared)
        loss = loss + recipe.task_weight * found
    return loss, len(lists.turns)
