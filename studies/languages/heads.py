"""Heads over frozen vectors, trained on Chinese conversations: what a message calls for, beside what it means.

A head for messages and one for replies learn which reply followed, as in DSE, from stored vectors alone. A text's
vector is then its meaning with the message head's output beside it; that output's share is chosen on dev splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from turnloom.objectives import ContextReplyHeads
from turnloom.objectives.next_reply import next_reply_loss
from turnloom.runtime.protocols import Context, Encoder, Vectors, unit_rows
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.vector_recipe import ConversationData
from turnloom.vectors import VectorTable

TEMPERATURE = 0.05
STEPS, RATE, WEIGHT_DECAY = 300, 1e-3, 0.01
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def train_heads(tables: Sequence[Path], seed: int, steps: int = STEPS) -> ContextReplyHeads:
    """Learn from consecutive turns by different speakers; all other replies of a step are negatives."""
    sampler = ConversationSampler([VectorTable(table) for table in tables], ConversationData(contexts=400), seed)
    torch.manual_seed(seed)
    heads = ContextReplyHeads(sampler.width)
    optimiser = torch.optim.AdamW(heads.parameters(), lr=RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, steps)
    for step in range(steps):
        batch = sampler.batch(step)
        sides = (batch.vectors[batch.dialogue, batch.last], batch.replies)
        queries, replies = (
            normalize(heads(normalize(side, dim=-1), column), dim=-1) for column, side in enumerate(sides)
        )
        loss = next_reply_loss(queries / TEMPERATURE, replies, texts=batch.text, dialogues=batch.dialogue)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 50 == 0:
            print(f"seed {seed}, step {step}: {loss.item():.3f}", flush=True)
    return heads.eval()


class HeadedEncoder:
    """A frozen encoder with a head: texts and contexts have their meaning and what they call for, in given shares."""

    has_heads = False

    def __init__(self, frozen: Encoder, heads: ContextReplyHeads, share: float, seed: int) -> None:
        self.frozen, self.heads, self.share = frozen, heads, share
        self.name, self.languages = f"{frozen.name} with heads", frozen.languages
        self.fingerprint = f"{frozen.fingerprint}-heads-{seed}-{share}"

    def format_context(self, context: Context) -> str:
        return self.frozen.format_context(context)

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self.of_vectors(self.frozen.encode(texts))

    def of_vectors(self, vectors: Vectors) -> Vectors:
        """The same from the texts' own vectors."""
        meaning = unit_rows(vectors)
        with torch.inference_mode():
            called: Tensor = normalize(self.heads.context(torch.from_numpy(meaning)), dim=-1)
        # Square roots: the share then is that of the cosine.
        parts = [(1 - self.share) ** 0.5 * meaning, self.share**0.5 * called.numpy()]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        return self.encode([self.format_context(context) for context in contexts])

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        return self.encode(replies)
