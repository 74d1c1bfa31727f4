"""A score for choices while training: validation splits only, in seconds rather than minutes."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from turnwise.benchmarks.cache import CachedEncoder
from turnwise.benchmarks.data import Pool, labelled, turns_of
from turnwise.benchmarks.own_data import reply_tasks
from turnwise.benchmarks.task import Task
from turnwise.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnwise.benchmarks.tasks.response_selection import ResponseSelection, Selection, blocks, next_turns
from turnwise.runtime.encoder import SentenceTransformerEncoder

__all__ = ["benchmark_score", "reply_score"]

DRAWS, REPLIES = 3, 1_000
INTENTS = {"clinc150": ("train", "val"), "hwu64": ("train", "valid")}
DIALOGUES = {"sgd": "dev", "multiwoz21": "val"}
Score = Callable[[Any], dict[str, float]]


def _pool(dataset: str) -> Pool:
    train, held = INTENTS[dataset]
    return Pool(labelled(dataset, train), labelled(dataset, held))


def _replies(dataset: str, turns: int) -> list[Selection]:
    """A fixed sample of the validation split's replies."""
    pairs = list(next_turns(turns_of(dataset, DIALOGUES[dataset]), turns))
    return [pair for block in blocks(pairs, seed=0, limit=REPLIES) for pair in block]


def _scored(tasks: Sequence[Task]) -> Score:
    """The mean of each family, and the mean of those; where a model has heads, its replies are compared with them."""
    numbers = itertools.count()

    def score(model: Any) -> dict[str, float]:
        encoder = CachedEncoder(
            SentenceTransformerEncoder(model, name="model", fingerprint=f"step-{next(numbers)}", bf16=True)
        )
        families: dict[str, list[float]] = {}
        for task in tasks:
            if task.info.name.endswith("-heads") == encoder.has_heads or task.info.family == "intent":
                drawn = task.evaluate(encoder, DRAWS, 0)
                mean = statistics.fmean(draw.scores[task.info.main_score] for draw in drawn)
                families.setdefault(task.info.family.replace(" ", "_"), []).append(mean)
        means = {family: statistics.fmean(values) for family, values in families.items()}
        return {**means, "score": statistics.fmean(means.values())}

    return score


def benchmark_score() -> Score:
    """Few-shot intents and next turns on the validation splits of public sets."""
    tasks: list[Task] = [IntentPrototypes(name, 1, partial(_pool, name)) for name in INTENTS]
    for name in DIALOGUES:
        pairs: Callable[[], list[Selection]] = partial(list, _replies(name, 1))
        tasks += [ResponseSelection(name, 1, "plain", pairs), ResponseSelection(name, 1, "heads", pairs)]
    return _scored(tasks)


def reply_score(table: Path) -> Score:
    """The true reply among 100 in conversations that were kept apart."""
    return _scored(reply_tasks(table))
