"""The public sets as the tasks need them."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turnwise.corpus.catalog import get_dataset

__all__ = ["Labelled", "Pool", "label_codes", "labelled", "rows", "split_pool", "turns_of"]


@dataclass(frozen=True)
class Labelled:
    """Texts and their labels."""

    texts: list[str]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.texts)


def rows(dataset: str, file: str) -> Iterator[dict[str, Any]]:
    """The rows of a file of a public set."""
    with gzip.open(get_dataset(dataset).path(file), "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def labelled(dataset: str, *files: str) -> Labelled:
    """The texts and labels of some files; of several labels the first counts."""
    texts, labels = [], []
    for file in files:
        for row in rows(dataset, file):
            label = row["label"]
            texts.append(row["text"])
            labels.append(label if isinstance(label, str) else str(label[0]) if label else "")
    return Labelled(texts, labels)


@dataclass(frozen=True)
class Pool:
    """What examples are drawn from, and what they are tested on."""

    train: Labelled
    test: Labelled


def split_pool(dataset: str) -> Pool:
    """The train and test split of an intent set; a set without splits is halved by a hash of its texts."""
    entry = get_dataset(dataset)
    if "train" in entry.splits and "test" in entry.splits:
        pool = Pool(labelled(dataset, *entry.splits["train"]), labelled(dataset, *entry.splits["test"]))
    else:
        whole = labelled(dataset, *entry.splits["all"])
        halves: tuple[tuple[list[str], list[str]], ...] = (([], []), ([], []))
        for text, label in zip(whole.texts, whole.labels, strict=True):
            half = halves[hashlib.sha256(f"{dataset}\x00{text}".encode()).digest()[0] % 2]
            half[0].append(text)
            half[1].append(label)
        pool = Pool(Labelled(*halves[0]), Labelled(*halves[1]))
    return Pool(pool.train, _only(pool.test, set(pool.train.labels)))


def _only(data: Labelled, labels: set[str]) -> Labelled:
    """Without labels that no training example has: no method could know them."""
    kept = [(text, label) for text, label in zip(data.texts, data.labels, strict=True) if label in labels]
    return Labelled([text for text, _ in kept], [label for _, label in kept])


def label_codes(labels: list[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The distinct labels in order, and each label's number."""
    names = sorted(set(labels))
    number = {name: place for place, name in enumerate(names)}
    return names, np.array([number[label] for label in labels], np.int64)


def turns_of(dataset: str, file: str) -> Iterator[list[tuple[str, str]]]:
    """The dialogues of a file as lists of (speaker, text)."""
    for row in rows(dataset, file):
        yield [(turn["speaker"], turn["text"]) for turn in row["turns"]]
