"""What matching costs: a step of DialogueCSE beside a plain contrastive step, in turns, a token encoded.

Usage: python -m studies.methods.matching_cost START TABLE
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from studies.lib.figures import record
from turnloom.objectives import MatchingGuided, NTXent
from turnloom.runtime.context_format import ContextFormat
from turnloom.training import load_recipe
from turnloom.training.base_model import load_base_model
from turnloom.views import Consecutive, Matching, build_view, load_view
from turnloom.views.view import Reading

STEPS, WARM, BATCH, LENGTH = 12, 2, {"matching": 32, "plain": 128}, 32


def batches(table: str, folder: Path, model: Any, name: str) -> Iterator[tuple[list[Any], Any]]:
    """Tokenized batches of one kind, and their labels."""
    view = Matching() if name == "matching" else Consecutive()
    build_view([Path(table)], folder, view, limit=20_000)
    rows = load_view(folder)
    rows = rows.with_transform(view.transform(rows, Reading(ContextFormat(), model.tokenizer, LENGTH)))
    for step in range(STEPS + WARM):
        columns = rows[step * BATCH[name] : (step + 1) * BATCH[name]]
        labels = columns.pop("label", None)
        yield [model.preprocess(texts) for texts in columns.values()], labels and torch.tensor(labels)


def main(start: str, table: str) -> None:
    # The same layers are trained on both sides; what freezing saves is not what is measured.
    model = load_base_model(load_recipe("dse", {"model.start": start}))[0].train()
    model.max_seq_length = LENGTH
    tokens = 0

    def count(_: Any, arguments: tuple[Any, ...]) -> None:
        nonlocal tokens
        tokens += int(arguments[0]["attention_mask"].sum())

    model[0].register_forward_pre_hook(count)
    losses: dict[str, Any] = {
        "matching": MatchingGuided(model),
        "plain": NTXent(model, form="symmetric", head="none"),
    }
    optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-5, fused=True)
    costs: dict[str, list[float]] = {name: [] for name in losses}
    with tempfile.TemporaryDirectory() as place:
        given = {name: list(batches(table, Path(place) / name, model, name)) for name in losses}
    for step in range(STEPS + WARM):
        for name, loss in losses.items():
            features, labels = given[name][step]
            tokens, began = 0, time.perf_counter()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                value = loss(features, labels)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            costs[name].append((time.perf_counter() - began) / tokens)
    medians = {name: statistics.median(times[WARM:]) for name, times in costs.items()}
    print({name: f"{1 / cost:,.0f} tokens/s" for name, cost in medians.items()})
    record("methods", {"mge_cost_ratio": medians["matching"] / medians["plain"]})


if __name__ == "__main__":
    main(*sys.argv[1:])
