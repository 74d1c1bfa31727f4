"""Chance that depends on a row and a seed alone, not on where and when the row is met."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from turnloom.corpus.hashing import mix

__all__ = ["buckets_of", "copies", "seeded"]

Keys = npt.NDArray[np.uint64]
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def seeded(keys: Keys, seed: int, purpose: str, number: npt.NDArray[np.int64] | int = 0) -> Keys:
    """Evenly spread 64-bit numbers, independent for each seed, purpose and number.

    Example:
        >>> keys = np.array([1, 2], np.uint64)
        >>> bool((seeded(keys, 0, "order") == seeded(keys, 1, "order")).any())
        False
    """
    salt = np.uint64(int.from_bytes(hashlib.sha256(f"{purpose} {seed}".encode()).digest()[:8], "big"))
    return mix(mix(keys ^ salt) + _MULTIPLIER * np.asarray(number).astype(np.uint64))


def copies(keys: Keys, weights: npt.NDArray[np.float64], seed: int) -> tuple[npt.NDArray[np.int64], Keys]:
    """Which rows are taken, and what they are sorted by.

    A row of weight 2.3 is taken twice, and a third time with a chance of 0.3; copies of a row fall far apart.

    Args:
        keys: The hash of each row.
        weights: How often each row is to be taken on average.
        seed: Another one gives another order and another choice.

    Returns:
        The index of each row that is taken, as often as it is, and its place in the shuffled order.
    """
    lots = seeded(keys, seed, "weight") / 2.0**64
    counts = (np.floor(weights) + (lots < weights % 1)).astype(np.int64)
    index = np.repeat(np.arange(len(keys)), counts)
    copy = np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts)
    return index, seeded(keys[index], seed, "order", copy)


def buckets_of(order: Keys, count: int) -> npt.NDArray[np.int32]:
    """The range of the shuffled order, of `count` equal ones, that each row falls into.

    Example:
        >>> buckets_of(np.array([0, 2**63, 2**64 - 1], np.uint64), 4).tolist()
        [0, 2, 3]
    """
    buckets: npt.NDArray[np.int32] = ((order >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)).astype(np.int32)
    return buckets
