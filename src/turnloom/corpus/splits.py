"""The one rule by which a set without splits of its own is split."""

from __future__ import annotations

import hashlib

__all__ = ["bucket", "falls_into"]


def bucket(salt: str, dialogue_id: str) -> int:
    """A number from 0 to 99 that depends on nothing but the set's name and the dialogue's id.

    A dialogue keeps its split when the set grows, is read in another order, or is split again elsewhere.

    Example:
        >>> bucket("star", "1")
        55
    """
    digest = hashlib.sha256(f"{salt}\x00{dialogue_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % 100


def falls_into(part: tuple[str, int, int], dialogue_id: str) -> bool:
    """Whether a dialogue belongs to a part of a set: its salt, its first bucket and the one after its last."""
    salt, first, stop = part
    return first <= bucket(salt, dialogue_id) < stop
