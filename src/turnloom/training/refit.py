"""Refit heads on a finished encoder: its vectors are encoded once, which allows large batches and many passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from turnloom.errors import TurnloomError
from turnloom.objectives import ContextReplyHeads, InverseFrequencyContrast
from turnloom.runtime.model_folder import folder_fingerprint, model_folder
from turnloom.runtime.protocols import Progress, Vectors, in_full_precision
from turnloom.training.recipe import Recipe, Refit
from turnloom.vectors import VectorTable
from turnloom.vectors.encoder import read_or_encode

AT_A_TIME, AT_A_TIME_BOUNDED = 2_048, 128
"""Rows to encode between two looks at the clock: more is faster, since texts of similar length share batches."""
ENCODING_SHARE = 0.75
"""The share of the refitting time for encoding; eight passes over the vectors take about the rest."""
LOOKED_AT = 20
"""To balance sources, look at this many times the wanted rows: a source that is still rarer stays rarer."""
COMPARED, TOLERANCE = 16, 0.05
"""How many stored vectors to compare with the model's own, and by what share of their length they may differ: half
precision and bfloat16 differ by less, another model by much more."""


def open_vectors(folder: Path, recipe: Recipe) -> VectorTable:
    """Open a vector table to refit heads on, after checking that training leaves its encoder unchanged.

    Raises:
        TurnloomError: If the recipe refits no heads, trains the encoder, or has a different base model from the table.
    """
    if recipe.refit is None:
        raise TurnloomError(
            f"the recipe {recipe.name!r} does not refit heads, so nothing would read --vectors",
            "leave --vectors out, or use a recipe with refit, such as turnloom",
        )
    trained = [number for number, stage in enumerate(recipe.stages) if stage.encoder_rate]
    if trained or recipe.model.random:
        fixed = " ".join(f"--set stages.{number}.encoder_rate=0" for number in trained)
        raise TurnloomError(
            f"the recipe {recipe.name!r} trains the encoder, which makes the vectors in {folder} useless",
            "leave --vectors out" + (f", or train the heads only: {fixed}" if fixed else ""),
        )
    table, base = VectorTable(folder), model_folder(str(recipe.model.start))
    if in_full_precision(table.manifest.fingerprint) != folder_fingerprint(base):
        raise TurnloomError(
            f"{folder} holds vectors of {table.manifest.model}, not of the base model {base}",
            "start from that model, or make new vectors with: turnloom vectors",
        )
    return table


def refit_heads(
    model: Any,
    heads: ContextReplyHeads,
    data: Mapping[str, Any],
    options: Refit,
    *,
    bf16: bool,
    seed: int,
    left: Callable[[], float] | None = None,
    stored: VectorTable | None = None,
    on_progress: Progress = lambda *_: None,
) -> None:
    """Train the heads further, in place, with WMDC's loss; the encoder stays as it is.

    With a deadline (`left` returns the seconds), encoding takes up to three quarters of the time and the passes take
    the rest: the rate falls with the time, and the passes end early when it is used up. `data` has the training rows of
    each group as texts: `context`, `reply`, `label` for how often the reply occurs, and `source`. Texts in a vector
    table (`stored`) of this encoder are not encoded again.

    Raises:
        TurnloomError: If the table's vectors are not the model's.
    """
    vectors = _Vectors(model, bf16, stored)
    vectors.encode(data, options, _Share(left, ENCODING_SHARE), on_progress)
    counts = torch.tensor(vectors.columns["label"], dtype=torch.float32)
    sides = [torch.tensor(vectors.columns[name]) for name in ("context", "reply")]
    table = torch.cat(vectors.found)
    loss = InverseFrequencyContrast(model, temperature=options.temperature, head=heads)
    optimiser = torch.optim.AdamW(heads.parameters(), lr=options.rate, weight_decay=options.weight_decay)
    device = next(heads.parameters()).device
    heads.train()
    time_used = _Share(left)
    for done, all_steps, rows in _batches(len(counts), options, seed):
        part = max(done / all_steps, time_used.part)
        if part >= 1 and done:
            break
        for group in optimiser.param_groups:
            group["lr"] = options.rate * (1 - min(part, 1.0))
        keys = [side[rows] for side in sides]  # Equal for equal texts, which must not be negatives of each other.
        passed = loss.through_head([table[key].to(device).float() for key in keys])
        weights = loss.pair_weights(counts[rows].to(device))
        value = loss.contrast(passed, keys=[key.to(device) for key in keys], weights=weights)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        on_progress("refitting heads", max((done + 1) / all_steps, part), f"loss {value.item():.3f}")
    on_progress("refitting heads", 1.0, f"{len(counts):,} pairs")


class _Share:
    """How much of a share of the time left now has passed; always 0 without a deadline."""

    def __init__(self, left: Callable[[], float] | None, share: float = 1.0) -> None:
        self._left = left
        self.bounded = left is not None
        self._all = left() if left is not None else 0.0
        self._share = share

    @property
    def part(self) -> float:
        """The share that has passed, from 0 to 1."""
        if self._left is None:
            return 0.0
        whole = self._all * self._share
        return min(1.0, (self._all - self._left()) / whole) if whole > 0 else 1.0


def _batches(count: int, options: Refit, seed: int) -> Iterator[tuple[int, int, Tensor]]:
    """Yield each step's number, the number of steps, and the step's rows, shuffled for each pass."""
    a_pass = max(1, count // options.batch_size)
    order = torch.Generator().manual_seed(seed)
    for number in range(options.passes):
        shuffled = torch.randperm(count, generator=order)
        for step in range(a_pass):
            rows = shuffled[step * options.batch_size : (step + 1) * options.batch_size]
            yield number * a_pass + step, a_pass * options.passes, rows


def _chosen(rows: Any, count: int, even: bool) -> Any:
    """Sample rows. They are already shuffled, so take the first ones, or with `even` the first ones of each source."""
    if not even:
        return rows.select(range(min(count, len(rows))))
    sample = rows.select(range(min(LOOKED_AT * count, len(rows))))
    _, source = np.unique(sample.with_format(None)["source"][:], return_inverse=True)
    together = np.argsort(source, kind="stable")
    sizes = np.bincount(source)
    number = np.empty(len(source), dtype=np.int64)  # Each row's number within its source.
    number[together] = np.arange(len(source)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return sample.select(np.argsort(number, kind="stable")[:count])


class _Vectors:
    """Vectors of texts in half precision (`found`), and their indices as contexts and replies of rows (`columns`).

    Each text is encoded once: groups of one, two and three turns share their replies, and a turn is both a reply and
    the context of the next turn.
    """

    def __init__(self, model: Any, bf16: bool, stored: VectorTable | None) -> None:
        self._model, self._bf16, self._stored = model, bf16, stored
        self._compared = False
        self._places: dict[str, int] = {}
        self.columns: dict[str, list[Any]] = {"context": [], "reply": [], "label": []}
        self.found: list[Tensor] = []

    def encode(self, data: Mapping[str, Any], options: Refit, time_used: _Share, on_progress: Progress) -> None:
        """Encode rows of all groups in turn, until none are left or the time is used up."""
        groups = [_chosen(rows, options.pairs // len(data), options.even_sources) for rows in data.values()]
        size, began, done = AT_A_TIME_BOUNDED if time_used.bounded else AT_A_TIME, time.monotonic(), 0
        total = sum(len(rows) for rows in groups)
        for start in range(0, max(len(rows) for rows in groups), size):
            for rows in groups:
                if start < len(rows) and not (done and time_used.part >= 1):
                    done += self._add(rows[start : start + size])
                    rate = len(self._places) / max(time.monotonic() - began, 1e-6)
                    note = f"{done:,} pairs, {rate:,.0f} texts/s"
                    on_progress("encoding for the heads", max(done / total, time_used.part), note)
        on_progress("encoding for the heads", 1.0, f"{done:,} pairs")

    def _add(self, batch: Mapping[str, list[Any]]) -> int:
        """Encode the new texts of some rows; return the number of rows."""
        known, count = len(self._places), len(batch["reply"])
        for name in ("context", "reply"):
            self.columns[name] += [self._places.setdefault(text, len(self._places)) for text in batch[name]]
        self.columns["label"] += batch.get("label", [1.0] * count)
        texts = list(self._places)[known:]
        if texts:
            self.found.append(torch.from_numpy(self._read(texts)).half())
        return count

    def _read(self, texts: list[str]) -> Vectors:
        if self._stored is None:
            return self._encode(texts)
        if not self._compared:
            self._compare(self._stored, texts)
        return read_or_encode(self._stored, texts, self._encode)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        with torch.autocast(self._model.device.type, dtype=torch.bfloat16, enabled=self._bf16):
            vectors = self._model.encode(list(texts), show_progress_bar=False, convert_to_tensor=True)
        found: Vectors = vectors.float().cpu().numpy()
        return found

    def _compare(self, stored: VectorTable, texts: list[str]) -> None:
        """Refuse a table whose vectors are not the model's, for whatever reason: heads would learn from noise."""
        # Compare the shortest: in training, the model may read less of a long text than when the table was made.
        known = sorted((text for text in texts if stored.rows([text])[0] >= 0), key=len)[:COMPARED]
        if not known:
            return
        self._compared = True
        own, kept = self._encode(known), stored.vectors[stored.rows(known)].astype(np.float32)
        if (np.linalg.norm(own - kept, axis=1) > TOLERANCE * np.linalg.norm(own, axis=1)).any():
            raise TurnloomError(
                f"the heads do not read the vectors in {stored.folder}",
                "run it again with --resume and without --vectors",
            )
