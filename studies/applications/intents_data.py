"""The sets of the intent studies: examples are drawn from train, nothing but the last numbers comes from test."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.data import Labelled, label_codes, labelled, only_labels
from turnloom.benchmarks.tasks.intent_prototypes import draw_supports
from turnloom.runtime import load_encoder

CACHE = Path("runs/embeddings")
FILES = {
    "clinc150": ("train", "test", ["oos_test"], ["oos_train", "oos_val"]),
    "banking77_oos": ("train", "test", ["id_oos_test", "ood_oos_test"], ["id_oos_valid", "ood_oos_valid"]),
    "hwu64": ("train", "test", [], []),
}
SHOTS, DRAWS = 10, 5


@dataclass(frozen=True)
class IntentSet:
    """An intent set.

    Attributes:
        train: What examples are drawn from.
        test: In-scope messages.
        outside: Out-of-scope messages for testing.
        outside_known: Out-of-scope messages that may be learned from.
    """

    name: str
    train: Labelled
    test: Labelled
    outside: list[str]
    outside_known: list[str]

    def frequencies(self) -> dict[str, float]:
        """How often each intent occurs in the whole training split: what a team knows from its logs."""
        return {name: float(count) for name, count in Counter(self.train.labels).items()}

    def draw(self, shots: int, seed: int) -> Labelled:
        """So many examples of each intent."""
        places = draw_supports(label_codes(self.train.labels)[1], shots, seed)
        return Labelled([self.train.texts[place] for place in places], [self.train.labels[place] for place in places])


def _without_empty(data: Labelled) -> Labelled:
    """BANKING77-OOS has a training example without text."""
    kept = [(text, label) for text, label in zip(data.texts, data.labels, strict=True) if text.strip()]
    return Labelled([text for text, _ in kept], [label for _, label in kept])


def intent_set(name: str) -> IntentSet:
    train, test, outside, known = FILES[name]
    examples = _without_empty(labelled(name, train))
    away = [labelled(name, *files).texts if files else [] for files in (outside, known)]
    return IntentSet(name, examples, only_labels(labelled(name, test), set(examples.labels)), *away)


def cached(model: str, cache: Path = CACHE) -> CachedEncoder:
    return CachedEncoder(load_encoder(model), cache)


def mean(values: list[float]) -> float:
    return float(np.mean(values))
