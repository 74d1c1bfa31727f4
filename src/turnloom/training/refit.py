"""Heads refitted on a finished encoder: its vectors are made once, so that batches can be large and passes many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from turnloom.objectives import ContextReplyHeads, InverseFrequencyContrast
from turnloom.training.recipe import Refit

__all__ = ["refit_heads"]

AT_A_TIME = 2_048
LOOKED_AT = 20
"""To take sources evenly, so many times the wanted rows are looked at: a source that is rarer stays rarer."""


def refit_heads(
    model: Any,
    heads: ContextReplyHeads,
    data: Mapping[str, Any],
    options: Refit,
    *,
    bf16: bool,
    seed: int,
    on_progress: Callable[[str, float, str], None] = lambda *_: None,
) -> None:
    """Train the heads on, in place, with WMDC's loss; the encoder stays as it is.

    Args:
        model: The finished encoder.
        heads: Its context head and reply head.
        data: The training rows of each group, as texts: `context`, `reply`, and `label` for how often the reply occurs;
            to take them evenly, the `source` of each.
        options: How many rows, which, how often, how large a batch.
        bf16: Whether to encode in bfloat16.
        seed: For the order.
        on_progress: Called with what is being done, the part that is done, and a note.
    """
    vectors, sides, counts = _encoded(model, data, options, bf16, on_progress)
    loss = InverseFrequencyContrast(model, temperature=options.temperature, head=heads)
    optimiser = torch.optim.AdamW(heads.parameters(), lr=options.rate, weight_decay=options.weight_decay)
    steps = max(1, len(counts) // options.batch_size) * options.passes
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    order = torch.Generator().manual_seed(seed)
    done = 0
    device = next(heads.parameters()).device
    heads.train()
    for _ in range(options.passes):
        shuffled = torch.randperm(len(counts), generator=order)
        for start in range(0, steps // options.passes):
            rows = shuffled[start * options.batch_size : (start + 1) * options.batch_size]
            keys = [side[rows] for side in sides]  # Equal for equal texts, which are no negatives of each other.
            passed = loss.through_head([vectors[key].to(device).float() for key in keys])
            weights = loss.pair_weights(counts[rows].to(device))
            value = loss.contrast(passed, keys=[key.to(device) for key in keys], weights=weights)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            schedule.step()
            done += 1
            on_progress("refitting heads", done / steps, f"loss {value.item():.3f}")


def _chosen(rows: Any, count: int, even: bool) -> Any:
    """Some rows. They lie in a random order, so the first ones are a sample; evenly, the first ones of each source."""
    if not even:
        return rows.select(range(min(count, len(rows))))
    sample = rows.select(range(min(LOOKED_AT * count, len(rows))))
    _, source = np.unique(sample.with_format(None)["source"][:], return_inverse=True)
    together = np.argsort(source, kind="stable")
    sizes = np.bincount(source)
    number = np.empty(len(source), dtype=np.int64)  # Of each row among those of its source.
    number[together] = np.arange(len(source)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return sample.select(np.argsort(number, kind="stable")[:count])


def _encoded(
    model: Any, data: Mapping[str, Any], options: Refit, bf16: bool, on_progress: Callable[[str, float, str], None]
) -> tuple[Tensor, list[Tensor], Tensor]:
    """Vectors of texts in half precision, which of them are the contexts and replies, and how often each reply occurs.

    A text is encoded once: groups of one, two and three turns share their replies, and a turn is the reply to one and
    the context of the next.
    """
    columns: dict[str, list[Any]] = {"context": [], "reply": [], "label": []}
    for group in data.values():
        rows = _chosen(group, options.pairs // len(data), options.even_sources)
        for start in range(0, len(rows), AT_A_TIME):
            batch = rows[start : start + AT_A_TIME]
            for name, values in columns.items():
                values.extend(batch[name] if name in batch else [1.0] * len(batch["reply"]))
    places: dict[str, int] = {}
    sides = [
        torch.tensor([places.setdefault(text, len(places)) for text in columns[name]]) for name in ("context", "reply")
    ]
    texts, found = list(places), []
    for start in range(0, len(texts), AT_A_TIME):
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=bf16):
            part = model.encode(texts[start : start + AT_A_TIME], show_progress_bar=False, convert_to_tensor=True)
        found.append(part.half().cpu())
        on_progress("encoding for the heads", min(1, (start + AT_A_TIME) / len(texts)), "")
    return torch.cat(found), sides, torch.tensor(columns["label"], dtype=torch.float32)
