"""System actions after a context: what an assistant did next, by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from turnwise.benchmarks.data import rows
from turnwise.corpus.catalog import get_dataset

__all__ = ["ActionExamples", "action_splits"]

TURNS = 3


@dataclass(frozen=True)
class ActionExamples:
    """Contexts, and the kinds of acts of the system turn that followed each."""

    contexts: list[tuple[str, ...]] = field(default_factory=list)
    labels: list[frozenset[str]] = field(default_factory=list)


def _examples(dataset: str, files: list[str]) -> ActionExamples:
    found = ActionExamples()
    for context, acts in _turns(dataset, files):
        found.contexts.append(context)
        found.labels.append(acts)
    return found


def _turns(dataset: str, files: list[str]) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    for file in files:
        for row in rows(dataset, file):
            texts = [turn["text"] for turn in row["turns"]]
            for place, turn in enumerate(row["turns"]):
                if place and turn["speaker"] == "system" and turn.get("acts"):
                    acts = frozenset(act.partition(":")[0] for act in turn["acts"])
                    yield tuple(texts[max(place - TURNS, 0) : place]), acts


def action_splits(dataset: str) -> dict[str, ActionExamples]:
    """The examples of a set's splits: train, validation and test."""
    names = {"train": "train", "validation": "dev", "test": "test"}
    return {split: _examples(dataset, get_dataset(dataset).split_files(name)) for split, name in names.items()}
