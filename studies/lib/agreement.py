"""How far two raters agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping


def agreement(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[float, float]:
    """Return the share of items that two raters rate alike, and Cohen's kappa: that share beyond chance.

    Example:
        >>> agreement({"0": "fits", "1": "wrong"}, {"0": "fits", "1": "wrong"})
        (1.0, 1.0)
        >>> agreement({"0": "fits", "1": "wrong"}, {"0": "wrong", "1": "fits"})
        (0.0, -1.0)
    """
    same = sum(first[item] == second[item] for item in first) / len(first)
    shares = [
        {said: count / len(rated) for said, count in Counter(rated.values()).items()} for rated in (first, second)
    ]
    chance = sum(share * shares[1].get(answer, 0) for answer, share in shares[0].items())
    return same, 1.0 if chance == 1 else (same - chance) / (1 - chance)
