"""The loss of a conversation encoder, and measuring after training what is familiar to it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from turnloom.objectives.next_reply import next_reply_loss
from turnloom.runtime.conversation_network import ConversationNetwork, join
from turnloom.runtime.protocols import Progress
from turnloom.training.conversation_data import ConversationBatch, ConversationSampler

LARGEST_SCALE = 100.0
FAMILIARITY_STEPS = 80
SHRINKAGE = 0.01
"""Added to the variances, so that directions without any are not infinitely far away."""


def conversation_loss(
    network: ConversationNetwork,
    batch: ConversationBatch,
    *,
    bf16: bool = False,
    share: float,
    window: int | None = None,
    inverse_frequency: bool = False,
) -> Tensor:
    """Return the contrastive loss of a batch: each reply among all replies, with all turns before it as context.

    Args:
        network: The network to train.
        batch: Segments of dialogues.
        bf16: Whether to compute in bfloat16.
        share: The share of similarity of meaning in a score.
        window: The maximum number of turns of a context; by default all.
        inverse_frequency: Whether to weight a pair by the inverse of its reply's frequency, as in WMDC.
    """
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        fit, meaning, _ = network(batch.vectors, batch.speakers, window)
        replies = network.reply(batch.replies)
    row = batch.dialogue - batch.first
    queries = join(fit[row, batch.last].float(), meaning[row, batch.last].float(), torch.full((len(row),), share))
    scale = network.log_scale.exp().clamp(max=LARGEST_SCALE)
    meant = nn.functional.normalize(batch.replies, dim=-1)
    weights = 1 / (batch.frequency.float().log() + 1) if inverse_frequency else None
    return next_reply_loss(
        scale * queries,
        torch.cat([replies.float(), meant], dim=-1),
        texts=batch.text,
        dialogues=batch.dialogue,
        weights=weights,
    )


def measure_familiarity(
    network: ConversationNetwork, sampler: ConversationSampler, *, on_progress: Progress = lambda *_: None
) -> None:
    """Note the mean and the spread of the states that a trained network has on what it learned from.

    How far the states of another conversation lie from them tells how much to trust the learned fit there.
    """
    network.eval()
    states = []
    for step in range(FAMILIARITY_STEPS):
        batch = sampler.batch(step)
        with torch.no_grad():
            states.append(network.contextualise(batch.vectors, batch.speakers)[1][batch.speakers >= 0].float())
        on_progress("measuring what is familiar", (step + 1) / FAMILIARITY_STEPS, "")
    every = torch.cat(states)
    variances, directions = torch.linalg.eigh(torch.cov(every.T) + SHRINKAGE * torch.eye(network.shape.size))
    network.familiar.copy_(every.mean(0))
    network.whitening.copy_(directions * variances.rsqrt())
