"""Training a conversation encoder from vectors that the disk has, beside vectors that memory has.

Usage: python -m studies.scale.stream VECTORS [--minutes M]

VECTORS is a vector table. Both train on the same batches in turns, some steps at a time. Before each step that streams,
the vectors are dropped from memory and from the system's cache: a table far larger than memory is read like that.
"""

from __future__ import annotations

import argparse
import mmap
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from studies.lib.figures import record
from turnloom.runtime.conversation import ConversationShape
from turnloom.runtime.conversation_network import ConversationNetwork
from turnloom.training import load_recipe
from turnloom.training.conversation_data import ConversationSampler
from turnloom.training.conversation_loss import conversation_loss
from turnloom.training.vector_recipe import ConversationRecipe
from turnloom.vectors import VectorTable
from turnloom.vectors.table import VECTORS

WARM, STEPS = 5, 25
SHARE = 0.3


class Training:
    """The recipe `conversation` on one table, step by step."""

    def __init__(self, table: VectorTable) -> None:
        recipe = load_recipe("conversation", schema=ConversationRecipe)
        self.sampler = ConversationSampler([table], recipe.data, recipe.seed)
        options = recipe.model.model_dump(include={"size", "layers", "heads", "reply_size", "max_turns"})
        shape = ConversationShape(width=self.sampler.width, uses_heads=False, **options)
        torch.manual_seed(recipe.seed)
        self.network = ConversationNetwork(shape, dropout=recipe.model.dropout)
        self.trained = [one for one in self.network.parameters() if one.requires_grad]
        self.optimizer = torch.optim.AdamW(self.trained, lr=recipe.rate, weight_decay=recipe.weight_decay)

    def step(self, number: int) -> int:
        """Take a step; return its number of contexts."""
        batch = self.sampler.batch(number)
        self.optimizer.zero_grad()
        conversation_loss(self.network, batch, share=SHARE).backward()  # type: ignore[no-untyped-call, unused-ignore]
        nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimizer.step()
        return len(batch.text)


class Cold:
    """A table's vectors, which are on disk alone after each `forget`."""

    def __init__(self, table: VectorTable) -> None:
        vectors: Any = table.vectors
        self._map: mmap.mmap = vectors._mmap
        self._file = os.open(table.folder / VECTORS, os.O_RDONLY)

    def forget(self) -> None:
        self._map.madvise(mmap.MADV_DONTNEED)
        os.posix_fadvise(self._file, 0, 0, os.POSIX_FADV_DONTNEED)


def measured(folder: Path, minutes: float) -> dict[str, float]:
    on_disk, in_memory = VectorTable(folder), VectorTable(folder)
    in_memory.vectors = np.array(in_memory.vectors)
    cold = Cold(on_disk)
    trainings = {"stream": Training(on_disk), "memory": Training(in_memory)}
    seconds, contexts = dict.fromkeys(trainings, 0.0), dict.fromkeys(trainings, 0)
    for training in trainings.values():
        for number in range(WARM):
            training.step(number)
    began, first = time.monotonic(), WARM
    while time.monotonic() - began < 60 * minutes:
        for name, training in trainings.items():
            for number in range(first, first + STEPS):
                if name == "stream":
                    cold.forget()
                start = time.perf_counter()
                contexts[name] += training.step(number)
                seconds[name] += time.perf_counter() - start
        first += STEPS
        rates = {name: contexts[name] / seconds[name] for name in trainings}
        print(f"{first} steps: " + ", ".join(f"{name} {rate:,.0f}" for name, rate in rates.items()), flush=True)
    return {
        "conversation_stream_ratio_to_memory": rates["stream"] / rates["memory"],
        "conversation_stream_contexts_per_second": rates["stream"],
        "conversation_stream_turns": len(on_disk.conversations.rows),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    given = parser.parse_args()
    record("scale", measured(given.vectors, given.minutes))
