"""Read the public data sets in the form that tasks need."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turnloom.corpus.catalog import get_dataset
from turnloom.corpus.table import falls_into


@dataclass(frozen=True)
class Labelled:
    """Texts and their labels."""

    texts: list[str]
    labels: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def __add__(self, other: Labelled) -> Labelled:
        return Labelled(self.texts + other.texts, self.labels + other.labels)

    def where(self, keep: Callable[[str], bool]) -> Labelled:
        """Return the examples whose label is kept."""
        kept = [(text, label) for text, label in zip(self.texts, self.labels, strict=True) if keep(label)]
        return Labelled([text for text, _ in kept], [label for _, label in kept])


def rows(dataset: str, file: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of a public set."""
    with gzip.open(get_dataset(dataset).path(file), "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def split_rows(dataset: str, split: str) -> Iterator[dict[str, Any]]:
    """Yield the dialogues of a split, from the set's own files or by the rule that splits it."""
    entry = get_dataset(dataset)
    rule = entry.split_range(split)
    for file in entry.split_files(split):
        for row in rows(dataset, file) if entry.files[file].kind == "dialogues" else ():
            if rule is None or falls_into(rule, str(row.get("id"))):
                yield row


def labelled(dataset: str, *files: str) -> Labelled:
    """Read the texts and labels of some files; if a text has several labels, the first counts."""
    texts, labels = [], []
    for file in files:
        for row in rows(dataset, file):
            label = row["label"]
            texts.append(row["text"])
            labels.append(label if isinstance(label, str) else str(label[0]) if label else "")
    return Labelled(texts, labels)


@dataclass(frozen=True)
class Pool:
    """Training examples to draw from, and test examples."""

    train: Labelled
    test: Labelled


def split_pool(dataset: str) -> Pool:
    """Return the train and test split of an intent set; a set without splits is halved by a hash of its texts."""
    entry = get_dataset(dataset)
    if "train" in entry.splits and "test" in entry.splits:
        pool = Pool(labelled(dataset, *entry.splits["train"]), labelled(dataset, *entry.splits["test"]))
    else:
        pool = Pool(*hashed_parts(dataset, labelled(dataset, *entry.splits["all"]), 2))
    return Pool(pool.train, only_labels(pool.test, set(pool.train.labels)))


def hashed_parts(salt: str, whole: Labelled, count: int) -> list[Labelled]:
    """Split examples into parts of about equal size by a hash of the text: adding others doesn't move a text."""
    parts: list[tuple[list[str], list[str]]] = [([], []) for _ in range(count)]
    for text, label in zip(whole.texts, whole.labels, strict=True):
        part = parts[hashlib.sha256(f"{salt}\x00{text}".encode()).digest()[0] % count]
        part[0].append(text)
        part[1].append(label)
    return [Labelled(*part) for part in parts]


def only_labels(data: Labelled, labels: set[str]) -> Labelled:
    """Drop examples with other labels: no method could know a label without training examples."""
    return data.where(labels.__contains__)


def label_codes(labels: list[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the distinct labels in order, and the number of each label."""
    names, codes = np.unique(labels, return_inverse=True)
    return names.tolist(), codes


def codes_of(labels: list[str], names: list[str]) -> npt.NDArray[np.int64]:
    """Return the index of each label in `names`."""
    code = {name: number for number, name in enumerate(names)}
    return np.array([code[label] for label in labels], np.int64)


def turns_of(dataset: str, file: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the dialogues of a file as lists of (speaker, text)."""
    for row in rows(dataset, file):
        yield [(turn["speaker"], turn["text"]) for turn in row["turns"]]
