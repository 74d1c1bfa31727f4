"""What the trainer costs: pairs a second beside a bare PyTorch loop with the same arithmetic, in turns, in one run.

Usage: python -m studies.methods.speed START TABLE
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from studies.lib.figures import record
from studies.lib.pace import ROWS, step_times
from turnloom.training import load_recipe
from turnloom.training.base_model import load_base_model
from turnloom.views import build_view, load_view

STEPS, ROUNDS, BATCH = 15, 3, 128


def trained(start: str, table: str) -> list[float]:
    """Seconds of each step of our trainer, without the first ones."""
    times = step_times("dse", start, table, STEPS + 3)
    return [after - before for before, after in itertools.pairwise(times[2:])]


def dse_loss(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """DSE's loss as its published code has it."""
    vectors = torch.nn.functional.normalize(torch.cat([first, second]).float(), dim=1)
    scores = (vectors @ vectors.T / 0.05).exp()
    count = len(first)
    places = torch.arange(2 * count)
    positive = scores[places, (places + count) % (2 * count)]
    mask = torch.ones_like(scores, dtype=torch.bool)
    mask[places, places] = mask[places, (places + count) % (2 * count)] = False
    negatives = scores[mask].view(2 * count, -1)
    weighted = negatives.square().sum(1) / negatives.mean(1)
    return -(positive / (positive + weighted)).log().mean()


def bare(start: str, rows: Any) -> list[float]:
    """Seconds of each step of a plain loop: tokenize, forward, loss, backward, step."""
    model, _ = load_base_model(load_recipe("dse", {"model.start": start}))
    model.max_seq_length = 32
    head = torch.nn.Sequential(
        torch.nn.Linear(384, 384, bias=False), torch.nn.ReLU(), torch.nn.Linear(384, 128, bias=False)
    )
    groups = [
        {"params": [p for p in model.parameters() if p.requires_grad], "lr": 2e-5},
        {"params": list(head.parameters()), "lr": 3e-4},
    ]
    optimiser, model = torch.optim.AdamW(groups, weight_decay=0.0, fused=True), model.train()
    times = []
    for step in range(STEPS + 2):
        began = time.perf_counter()
        batch = rows[step * BATCH : (step + 1) * BATCH]
        columns = [[turns[0] for turns in batch["context"]], list(batch["reply"])]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            sides = [head(model(model.preprocess(texts))["sentence_embedding"]) for texts in columns]
        loss = dse_loss(*sides)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        times.append(time.perf_counter() - began)
    return times[2:]


def main(start: str, table: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        recipe = load_recipe("dse")
        build_view([Path(table)], Path(name) / "view", recipe.stages[0].view, limit=ROWS)
        rows = load_view(Path(name) / "view", "")
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours += trained(start, table)
            theirs += bare(start, rows)
    one, other = statistics.median(ours), statistics.median(theirs)
    print(f"trainer {BATCH / one:.1f} pairs/s, bare loop {BATCH / other:.1f} pairs/s")
    views = json.loads((Path(__file__).parent / "figures.json").read_text())["view_rows_per_second"]
    record(
        "methods",
        {
            "train_speed_ratio_to_bare": other / one,
            "train_pairs_per_second": BATCH / one,
            "view_speed_over_trainer": views * one / BATCH,
        },
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
