"""What choices are made by: 1-shot intents, similarity and next turns on what is no test split, for any models.

Intents of four sets, twenty draws; the messages to tell apart are a validation split, or for BANKING77, which has none,
2,000 training messages that no example is drawn from. STS-B is its dev split. Next turns, after one turn and after
three, are asked of models that have heads.

Usage: TURNLOOM_DATA=... python -m studies.flagship.validation MODEL...
"""

from __future__ import annotations

import random
import statistics
import sys
from functools import partial
from pathlib import Path

from studies.flagship.arms import RESULTS
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.data import Labelled, Pool, labelled
from turnloom.benchmarks.task import Task
from turnloom.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnloom.benchmarks.tasks.response_selection import ResponseSelection
from turnloom.benchmarks.tasks.similarity import SentenceSimilarity
from turnloom.benchmarks.validation import DIALOGUES, sampled_replies
from turnloom.runtime import load_encoder
from turnloom.runtime.encoder import computes_bf16_fast

VALIDATION = {"clinc150": "val", "hwu64": "valid", "snips": "valid", "banking77": None}
CARVED, MESSAGES, DRAWS = 2_000, 1_500, 20


def _pool(name: str) -> Pool:
    train, split = labelled(name, "train"), VALIDATION[name]
    if split is not None:
        return Pool(train, _some(labelled(name, split), MESSAGES)[0])
    return Pool(*reversed(_some(train, CARVED)))


def _some(data: Labelled, count: int) -> tuple[Labelled, Labelled]:
    """A fixed sample, and the rest."""
    rows = list(zip(data.texts, data.labels, strict=True))
    random.Random(7).shuffle(rows)
    parts = [[list(column) for column in zip(*part, strict=True)] or [[], []] for part in (rows[:count], rows[count:])]
    return Labelled(*parts[0]), Labelled(*parts[1])


def tasks() -> dict[str, list[Task]]:
    """What is measured, by the name of its mean."""
    found: dict[str, list[Task]] = {
        "intents": [IntentPrototypes(name, 1, partial(_pool, name)) for name in VALIDATION],
        "similarity": [SentenceSimilarity("stsb_en", "dev")],
    }
    for turns in (1, 3):
        found[f"next turns after {turns}"] = [
            ResponseSelection(name, turns, "heads", partial(sampled_replies, name, turns)) for name in DIALOGUES
        ]
    return found


def validated(model: str) -> dict[str, float]:
    encoder = CachedEncoder(load_encoder(model, bf16=computes_bf16_fast()))
    found = {}
    for mean, members in tasks().items():
        if mean.startswith("next turns") and not encoder.has_heads:
            continue
        for task in members:
            draws = task.evaluate(encoder, DRAWS, 0)
            found[task.info.name] = statistics.fmean(draw.scores[task.info.main_score] for draw in draws)
        found[mean] = statistics.fmean(found[task.info.name] for task in members)
    return {name: round(value, 2) for name, value in found.items()}


def main(*models: str) -> None:
    for model in models:
        scores = validated(model)
        print(Path(model).name, scores)
        RESULTS.put(Path(model).name, {"validation": scores})


if __name__ == "__main__":
    main(*sys.argv[1:])
