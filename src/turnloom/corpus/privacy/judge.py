"""Judge what the patterns leave: numbers, and words with digits or signs, by what stands around them.

A logistic regression over hashed features of `candidates`, trained by `studies/corpus/learn_privacy.py`. It knows
wordings that nobody wrote a pattern for; the patterns know formats and checksums.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from turnloom.corpus.privacy.candidates import candidates, features, kind_features
from turnloom.corpus.privacy.touching import with_touching

__all__ = ["BUCKETS", "JUDGED_KINDS", "KIND_BUCKETS", "WEIGHTS", "find_judged", "hashed"]

WEIGHTS = Path(__file__).with_name("judge.npz")
BUCKETS = 1 << 16
KIND_BUCKETS = 1 << 12
JUDGED_KINDS = ("SECRET", "ID", "BIRTHDATE", "CARD", "ACCOUNT", "PHONE", "ADDRESS", "POSTCODE", "IP", "MAC")
Span = tuple[str, int, int]


@dataclass(frozen=True)
class _Model:
    """Quantised weights, their scales, and the score from which a candidate goes."""

    goes: npt.NDArray[np.int8]
    goes_scale: float
    intercept: float
    least: float
    kinds: npt.NDArray[np.int8]


@cache
def _model() -> _Model:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        numbers = {name: float(stored[name]) for name in ("goes_scale", "intercept", "least")}
        return _Model(goes=stored["goes"], kinds=stored["kinds"], **numbers)


def hashed(names: Iterable[str], buckets: int) -> npt.NDArray[np.int64]:
    """Hash feature names into buckets; each bucket once."""
    return np.array(sorted({zlib.crc32(name.encode()) % buckets for name in names}), np.int64)


def _judge(text: str) -> list[Span]:
    model = _model()
    found: list[Span] = []
    for start, end in candidates(text):
        rows = hashed(features(text, start, end), BUCKETS)
        score = model.goes_scale * int(model.goes[rows].sum(dtype=np.int64)) / math.sqrt(len(rows)) + model.intercept
        if score >= model.least:
            votes = model.kinds[hashed(kind_features(text, start, end), KIND_BUCKETS)].sum(0, dtype=np.int64)
            found.append((JUDGED_KINDS[int(votes.argmax())], start, end))
    return found


def find_judged(text: str) -> list[Span]:
    """Find what is probably personal by its shape and the words around it, as (type, start, end), in order.

    Example:
        >>> find_judged("order 48291773 is late"), find_judged("the keypad at the gate takes 8993")
        ([], [('SECRET', 29, 33)])
    """
    return with_touching(text, _judge)
