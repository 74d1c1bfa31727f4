"""How good a conversation encoder gets with more data, at the same number of steps: 10,000 to a million contexts.

Usage: TURNLOOM_DATA=... python -m studies.scale.data_curve VECTORS MODEL FOLDER [--steps N] [--turns TURNS]

VECTORS is a vector table of many sets, MODEL the model of its vectors, or of whose export they are; TURNS, by default
MODEL, encodes what is asked. Each point learns from a random part of the conversations. Scores are those of validation
splits: the true reply first of 100, with all turns before it, mean of SGD and MultiWOZ. Points whose result is there
are skipped.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from studies.lib.figures import record
from studies.lib.results import Results
from turnloom.benchmarks.data import turns_of
from turnloom.benchmarks.metrics import cosine_similarity
from turnloom.benchmarks.tasks.response_selection import blocks, next_turns, selection_scores
from turnloom.benchmarks.validation import DIALOGUES
from turnloom.files import WholeFolder, write_whole
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.protocols import Encoder, Vectors, turn_encoder
from turnloom.training import load_recipe
from turnloom.training.conversation import train_conversation
from turnloom.training.vector_recipe import ConversationRecipe
from turnloom.vectors import VectorTable
from turnloom.vectors.table import DIALOGUES as CONVERSATIONS
from turnloom.vectors.table import KEYS, MANIFEST, VECTORS

RESULTS = Results("scale")
CONTEXTS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
ASKED = 500


class Remembering:
    """Turn vectors, each computed once."""

    def __init__(self, turns: Encoder) -> None:
        self._turns, self._known = turns, dict[str, Vectors]()
        self.name, self.fingerprint, self.languages = turns.name, turns.fingerprint, turns.languages

    def encode(self, texts: Sequence[str]) -> Vectors:
        missing = sorted(set(texts) - self._known.keys(), key=len)
        if missing:
            self._known.update(zip(missing, self._turns.encode(missing), strict=True))
        return np.stack([self._known[text] for text in texts])


def part_of(table: VectorTable, contexts: int, model: Encoder, out: Path) -> tuple[Path, int]:
    """A vector table with random conversations of another that have so many contexts, and how many they have."""
    parts = [pq.read_table(path) for path in sorted((table.folder / CONVERSATIONS).glob("*.parquet"))]
    rows = pa.concat_tables(parts).sort_by([("source", "ascending"), ("dialogue_id", "ascending")])
    replies = np.array([sum(a != b for a, b in pairwise(one)) for one in rows["speakers"].to_pylist()])
    order = np.random.default_rng(0).permutation(len(rows))
    chosen = np.sort(order[: 1 + int(np.searchsorted(np.cumsum(replies[order]), contexts))])
    taken = rows.take(pa.array(chosen))
    if not (out / MANIFEST).exists():
        whole = WholeFolder(out, MANIFEST, "a vector table")
        for name in (KEYS, VECTORS):
            os.link(table.folder / name, whole.new / name)
        (whole.new / CONVERSATIONS).mkdir()
        pq.write_table(taken, whole.new / CONVERSATIONS / "part-00000.parquet")
        changes = {"model": model.name, "fingerprint": model.fingerprint, "dialogues": len(taken)}
        manifest = table.manifest.model_copy(update={**changes, "content_hash": f"part-{contexts}"})
        write_whole(whole.new / MANIFEST, manifest.model_dump_json())
        whole.commit()
    return out, int(replies[chosen].sum())


def next_reply_top1(model: Path, turns: Remembering) -> dict[str, float]:
    """The true reply first of 100, in percent, on each validation split."""
    encoder = load_encoder(model)
    assert isinstance(encoder, ConversationEncoder)
    encoder = encoder.over(turns)
    found = {}
    for name, split in DIALOGUES.items():
        scores: list[dict[str, float]] = []
        for block in blocks(list(next_turns(turns_of(name, split), None)), 0, ASKED):
            replies = [pair.reply for pair in block]
            queries = encoder.encode_query([pair.context for pair in block])
            scores += selection_scores(cosine_similarity(queries, encoder.encode_document(replies)), replies)
        found[name] = statistics.fmean(score["top1"] for score in scores)
    return found


def main(vectors: Path, model: Path, folder: Path, steps: int, turns: Path) -> None:
    table, asked = VectorTable(vectors), Remembering(turn_encoder(load_encoder(turns)))
    below = turn_encoder(load_encoder(model))
    for contexts in CONTEXTS:
        name = f"data-{contexts}"
        if name not in RESULTS.runs():
            part, real = part_of(table, contexts, below, folder / f"vectors-{contexts}")
            recipe = load_recipe(
                "conversation", {"model.start": str(model), "steps": str(steps)}, schema=ConversationRecipe
            )
            out = folder / f"model-{contexts}"
            if not (out / "training" / "result.json").exists():
                train_conversation(recipe, [part], out, resume=(out / "training").exists())
            point = {"contexts": real, "steps": steps, "top1": next_reply_top1(out, asked)}
            print(name, point, flush=True)
            RESULTS.put(name, point)
    points = [RESULTS.runs()[f"data-{contexts}"] for contexts in CONTEXTS]
    assert len({point["steps"] for point in points}) == 1, "points of different numbers of steps do not compare"
    figures = {f"data_{contexts}_top1": _mean(point) for contexts, point in zip(CONTEXTS, points, strict=True)}
    record("scale", figures | {"data_curve_points": len(points), "data_curve_steps": points[0]["steps"]})


def _mean(point: dict[str, dict[str, float]]) -> float:
    return statistics.fmean(point["top1"].values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("vectors", "model", "folder"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--turns", type=Path)
    given = parser.parse_args()
    main(given.vectors, given.model, given.folder, given.steps, given.turns or given.model)
