"""The memory that one step with a large batch takes above the model: forward and backward, in 16 bits, in mini-batches.

Each step runs in a process of its own, because what a process once held it may keep.

Usage: python -m studies.methods.memory MODEL
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch

from studies.lib.figures import record
from studies.lib.memory import GIB, kibibytes
from turnloom.objectives import HardNegativeContrast, small_transformer

LENGTH, MINI_BATCH = 32, 64


def load(folder: str, small: bool) -> Any:
    """A model without dropout, which takes more time than memory on a processor; or a small one with its words."""
    from sentence_transformers import SentenceTransformer

    model: Any = SentenceTransformer(folder, device="cpu")
    if small:
        model = small_transformer(model.tokenizer, layers=2, width=128)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model.train()


def step(loss: HardNegativeContrast, pairs: int) -> None:
    columns = [
        {
            "input_ids": torch.randint(1_000, 20_000, (pairs, LENGTH)),
            "attention_mask": torch.ones(pairs, LENGTH, dtype=torch.long),
        }
        for _ in range(2)
    ]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = loss(columns)
    value.backward()
    assert torch.isfinite(value)


def measure(folder: str, pairs: int, small: bool) -> None:
    """Print the peak of one step above what the process holds after a small one, in GiB."""
    loss = HardNegativeContrast(load(folder, small), mini_batch_size=MINI_BATCH)
    step(loss, MINI_BATCH)
    loss.zero_grad()
    before = kibibytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    start = time.perf_counter()
    step(loss, pairs)
    print(f"{pairs:,} pairs in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    print((kibibytes("VmHWM") - before) / GIB)


def in_fresh_process(folder: str, pairs: int, small: bool) -> float:
    command = [sys.executable, "-m", "studies.methods.memory", folder, str(pairs), "small" if small else "whole"]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main(folder: str) -> None:
    peak = in_fresh_process(folder, 4_096, small=False)
    record("methods", {"cached_4096_peak_gib_above_model": peak})
    print(f"16,384 pairs, two layers: {in_fresh_process(folder, 16_384, small=True):.2f} GiB above the model")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        measure(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "small")
