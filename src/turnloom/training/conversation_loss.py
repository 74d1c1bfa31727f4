"""The loss of a conversation encoder, and fitting its gate after training."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from turnloom.objectives.next_reply import next_reply_loss
from turnloom.runtime.conversation_network import ConversationNetwork, join
from turnloom.runtime.protocols import Progress
from turnloom.training.conversation_data import ConversationBatch, ConversationSampler

LARGEST_SCALE = 100.0
GATE_STEPS, GATE_RATE, GATE_DECAY = 200, 5e-3, 0.1


def conversation_loss(
    network: ConversationNetwork,
    batch: ConversationBatch,
    *,
    bf16: bool = False,
    share: float | None = None,
    window: int | None = None,
    inverse_frequency: bool = False,
    gather: bool = True,
) -> Tensor:
    """Return the contrastive loss of a batch: each reply among all replies, with all turns before it as context.

    Args:
        network: The network to train.
        batch: Segments of dialogues.
        bf16: Whether to compute in bfloat16.
        share: The share of similarity of meaning in a score; by default the network's gate decides.
        window: The maximum number of turns of a context; by default all.
        inverse_frequency: Whether to weight a pair by the inverse of its reply's frequency, as in WMDC.
        gather: Whether to compare with the replies of other processes too.
    """
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        fit, meaning, gate = network(batch.vectors, batch.speakers, window)
        replies = network.reply(batch.replies)
    row = batch.dialogue - batch.first
    gate = gate if share is None else torch.full_like(gate, share)
    queries = join(*(part[row, batch.last].float() for part in (fit, meaning, gate)))
    scale = network.log_scale.exp().clamp(max=LARGEST_SCALE)
    meant = nn.functional.normalize(batch.replies, dim=-1)
    weights = 1 / (batch.frequency.float().log() + 1) if inverse_frequency else None
    return next_reply_loss(
        scale * queries,
        torch.cat([replies.float(), meant], dim=-1),
        texts=batch.text,
        dialogues=batch.dialogue,
        weights=weights,
        gather=gather,
    )


def fit_gate(
    network: ConversationNetwork,
    samplers: Sequence[ConversationSampler],
    *,
    bf16: bool = False,
    on_progress: Progress = lambda *_: None,
) -> None:
    """Learn the share of similarity of meaning in a score, from dialogues that were not trained on.

    On training dialogues, the learned fit looks better than it is. Each sampler gets the same number of steps; all
    processes take the same ones.
    """
    network.eval()
    optimizer = torch.optim.AdamW(network.gate.parameters(), lr=GATE_RATE, weight_decay=GATE_DECAY)
    steps = GATE_STEPS * len(samplers)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = GATE_RATE * (1 - step / steps)
        network.zero_grad()
        conversation_loss(network, samplers[step % len(samplers)].batch(step), bf16=bf16, gather=False).backward()
        optimizer.step()
        on_progress("weighing meaning", (step + 1) / steps, "")
