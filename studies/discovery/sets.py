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
SAMPLES = (
    ("banking77", "train", 77, 40),
    ("banking77", "train", 77, 100),
    ("banking77", "train", 40, 28),
    ("banking77", "train", 20, 28),
    ("bitext_support", "all", 27, 30),
    ("hwu64", "train", 64, 70),
    ("hwu64", "train", 40, 28),
    ("hwu64", "train", 20, 28),
    ("clinc150", "train", 60, 90),
    ("clinc150", "train", 40, 28),
    ("clinc150", "train", 20, 28),
)
"""Samples of them: set, file, how many intents, and how many messages of each in the median."""
SKEW, FEWEST = 0.6, 8
"""Intents of a sample differ in size as those of real logs do: by a log-normal factor of this spread."""
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


def draw_sample(data: Grouped, intents: int, size: int) -> Grouped:
    """Draw some of the intents, and of each about so many messages."""
    rng = np.random.default_rng(intents)
    rows: list[int] = []
    for intent in rng.choice(len(data.intents), intents, replace=False):
        members = np.flatnonzero(data.codes == intent)
        count = int(np.clip(round(size * np.exp(SKEW * rng.standard_normal())), FEWEST, len(members)))
        rows += rng.choice(members, count, replace=False).tolist()
    rows.sort()
    kept, codes = np.unique(data.codes[rows], return_inverse=True)
    name = f"{data.name}.{intents}x{size}"
    texts = [data.texts[row] for row in rows]
    return Grouped(name, texts, codes.astype(np.int64), [data.intents[code] for code in kept], data.vectors[rows])


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
