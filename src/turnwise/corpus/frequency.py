"""How often each utterance occurs: for inverse-frequency weights, and to see how uneven a corpus is."""

from __future__ import annotations

from typing import Any

from turnwise.corpus.engine import daft

__all__ = ["top_share", "utterance_counts"]


def utterance_counts(table: Any) -> Any:
    """A lazy Daft DataFrame (`utterance`, `count`) over a dialogue table, case-folded and trimmed."""
    col = daft().col
    texts = table.select(col("turns").explode()).select(col("turns").get("text").strip().lower().alias("utterance"))
    return texts.groupby("utterance").agg(col("utterance").count().alias("count"))


def top_share(counts: list[int], share: float = 0.01) -> float:
    """The part of all occurrences that the most frequent `share` of distinct utterances take (WMDC, Figure 1).

    Args:
        counts: How often each distinct utterance occurs.
        share: Which part of the distinct utterances counts as the top; at least one.

    Example:
        >>> round(top_share([50] + [1] * 99), 2)
        0.34
    """
    if not counts:
        return 0.0
    ordered = sorted(counts, reverse=True)
    return sum(ordered[: max(1, round(len(ordered) * share))]) / sum(ordered)
