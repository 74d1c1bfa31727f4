"""Labelled messages with turnloom-mini's vectors, encoded once; and how to score groups."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score

from turnloom.benchmarks.data import label_codes, labelled
from turnloom.runtime import load_encoder
from turnloom.runtime.protocols import Encoder, Vectors

MODEL = "models/turnloom-mini"
CACHE = Path("runs/discovery")
TEST = {
    "dstc11": (("dstc11_intent", "insurance"), ("dstc11_intent", "banking"), ("dstc11_intent", "finance")),
    "clinc150": (("clinc150", "test"),),
    "banking77": (("banking77", "test"),),
}
"""What the figures are measured on. No setting was chosen on it."""
VALIDATION = (
    ("clinc150", "val"),
    ("hwu64", "valid"),
    ("bitext_support", "all"),
    ("hwu64", "train"),
    ("banking77", "train"),
    ("clinc150", "train"),
)
"""What settings were chosen on."""
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Grouped:
    """Messages with vectors and intents."""

    name: str
    texts: list[str]
    codes: Codes
    intents: list[str]
    vectors: Vectors


def encode_once(encoder: Encoder, texts: list[str]) -> Vectors:
    """Encode texts, or read what an earlier run encoded."""
    key = hashlib.sha256("\x00".join([encoder.fingerprint, *texts]).encode()).hexdigest()[:24]
    path = CACHE / f"{key}.npy"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        np.save(path, encoder.encode(texts).astype(np.float32))
    return np.asarray(np.load(path), np.float32)


def read_grouped(dataset: str, file: str) -> Grouped:
    """Read a file of labelled messages with their vectors."""
    rows = labelled(dataset, file)
    intents, codes = label_codes(rows.labels)
    return Grouped(f"{dataset}.{file}", rows.texts, codes, intents, encode_once(load_encoder(MODEL), rows.texts))


def accuracy(codes: Codes, groups: Codes) -> float:
    """Return the share of messages in the right group, by the best one-to-one map of groups to intents, in percent."""
    numbers = np.unique(groups, return_inverse=True)[1]
    counts = np.zeros((numbers.max() + 1, codes.max() + 1))
    np.add.at(counts, (numbers, codes), 1)
    rows, columns = linear_sum_assignment(-counts)
    return float(100 * counts[rows, columns].sum() / len(codes))


def nmi(codes: Codes, groups: Codes) -> float:
    """Return the normalised mutual information, in percent."""
    return float(100 * normalized_mutual_info_score(codes, groups))
