"""Do states follow dialogue acts, and does a conversation so far say more about the next state than the states do?

Usage: ``python -m studies.discovery.flow dev | test``
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from studies.discovery.sets import MODEL, encode_once, nmi
from studies.lib.figures import record
from turnloom.benchmarks.data import label_codes, split_rows
from turnloom.discovery.states import STATES_PER_ROLE, Turns, encode_states, find_states, flatten
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.protocols import Vectors, unit_rows

SETS = ("sgd", "multiwoz21", "star")
DIALOGUES = 300


class Cached:
    """A turn encoder that encodes a list of texts once, in all runs."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)

    def encode(self, texts: list[str]) -> Vectors:
        ordered = sorted(set(texts))
        row = {text: number for number, text in enumerate(ordered)}
        return encode_once(self.encoder, ordered)[[row[text] for text in texts]]


def read(dataset: str, split: str) -> tuple[Turns, list[str]]:
    """Read dialogues and each turn's acts without slots; empty where a set has none, as for users of STAR."""
    rows = sorted(split_rows(dataset, split), key=lambda row: str(row["id"]))
    random.Random(0).shuffle(rows)
    rows = rows[:DIALOGUES]
    turns = flatten([[(turn["speaker"], turn["text"]) for turn in row["turns"]] for row in rows])
    acts = [turn.get("acts") or [] for row in rows for turn in row["turns"]]
    return turns, ["|".join(sorted({act.split(":")[0] for act in found})) for found in acts]


def acts_score(vectors: Vectors, turns: Turns, acts: list[str]) -> float:
    """Return the NMI of states and acts with their role, over turns that have acts."""
    states = find_states(vectors, turns.roles).state
    known = np.flatnonzero([bool(act) for act in acts])
    gold = label_codes([f"{turns.roles[index]} {acts[index]}" for index in known])[1]
    return nmi(gold, states[known])


def _ngram(paths: list[list[int]], size: int) -> dict[tuple[int, ...], Counter[int]]:
    counts: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for path in paths:
        for index in range(1, len(path)):
            for length in range(size):
                if length <= index:
                    counts[tuple(path[index - length : index])][path[index]] += 1
    return counts


def next_scores(states: Any, turns: Turns, vectors: Vectors) -> tuple[float, float]:
    """Return the accuracy of the next state, by logistic regression and the best n-gram, on half of the dialogues."""
    bounds = list(zip(turns.offsets[:-1].tolist(), turns.offsets[1:].tolist(), strict=True))
    half = len(bounds) // 2
    paths = [states[start:end].tolist() for start, end in bounds]
    best = 0.0
    for size in (1, 2, 3, 4):
        counts = _ngram(paths[:half], size)
        hits = []
        for path in paths[half:]:
            for index in range(1, len(path)):
                pasts = (tuple(path[index - length : index]) for length in range(min(size - 1, index), -1, -1))
                past = next(past for past in pasts if past in counts)
                hits.append(counts[past].most_common(1)[0][0] == path[index])
        best = max(best, float(np.mean(hits)))
    now = [
        np.concatenate([np.arange(start, end - 1) for start, end in part]) for part in (bounds[:half], bounds[half:])
    ]
    known = np.eye(states.max() + 1, dtype=np.float32)[states]
    inputs = np.concatenate([vectors, known], axis=1)
    model = LogisticRegression(C=1.0, max_iter=300).fit(inputs[now[0]], states[now[0] + 1])
    return 100 * float(np.mean(model.predict(inputs[now[1]]) == states[now[1] + 1])), 100 * best


def main(split: str) -> None:
    """Record the scores of a split; only those of the test split are figures."""
    loaded = load_encoder(MODEL)
    assert isinstance(loaded, ConversationEncoder)
    encoder = loaded.over(Cached(loaded.turns))
    base: Any = Cached(load_encoder(Path(os.environ["MODELS"]) / "all-MiniLM-L6-v2"))
    figures: dict[str, float] = {}
    nodes = 0
    for name in SETS:
        turns, acts = read(name, split)
        vectors, plain = encode_states(encoder, turns)
        kinds = {"": vectors, "plain.": plain, "base.": unit_rows(base.encode(turns.texts))}
        for prefix, chosen in kinds.items():
            figures[f"{prefix}{name}_state_nmi_acts"] = acts_score(chosen, turns, acts)
        states = find_states(vectors, turns.roles)
        nodes = max(nodes, len(states.roles) + 2)
        ours, ngram = next_scores(states.state, turns, vectors)
        figures |= {f"{name}_next_state_accuracy": ours, f"ngram.{name}_next_state_accuracy": ngram}
        print(name, figures, flush=True)
    for prefix, what in (
        ("", "state_nmi_acts"),
        ("plain.", "state_nmi_acts"),
        ("base.", "state_nmi_acts"),
        ("", "next_state_accuracy"),
        ("ngram.", "next_state_accuracy"),
    ):
        figures[f"{prefix}{what}"] = float(np.mean([figures[f"{prefix}{name}_{what}"] for name in SETS]))
    if split == "test":
        record("discovery", {**figures, "flow_nodes": nodes, "states_per_role": STATES_PER_ROLE})
    else:
        print(figures)


if __name__ == "__main__":
    main(sys.argv[1])
