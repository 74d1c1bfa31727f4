"""Pairs of texts that share something: the core of the views `shared_replies` and `shared_intents`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from turnloom.corpus.engine import batch_function, daft
from turnloom.views.view import exploded

Pairs = list[dict[str, Any]]
"""Each with `context`, `reply` and `row_key`."""


def pairs_by(
    key: str, texts: Any, pairs: Callable[[list[str], list[int]], Pairs], kept: Sequence[str] = ("source",)
) -> Any:
    """Pair the texts of each source that have the same key, as a lazy Daft DataFrame with a `row_key`.

    Args:
        key: The column by which texts belong together.
        texts: Rows with `source`, the key, `text`, and a random number `lot`.
        pairs: Makes pairs of the texts that share a key, given with their random numbers.
        kept: The columns to keep: the source, and perhaps the key.
    """
    col, kinds = daft().col, daft().DataType
    pair = kinds.struct({"context": kinds.list(kinds.string()), "reply": kinds.string(), "row_key": kinds.uint64()})

    @batch_function(kinds.list(pair))
    def paired(texts: pa.Array, lots: pa.Array) -> pa.Array:
        found = [pairs(said, lot) for said, lot in zip(texts.to_pylist(), lots.to_pylist(), strict=True)]
        kind = pa.struct([("context", pa.list_(pa.string())), ("reply", pa.string()), ("row_key", pa.uint64())])
        return pa.array(found, pa.list_(kind))

    groups = texts.groupby("source", key).agg(col("text").list_agg(), col("lot").list_agg())
    listed = groups.select(*map(col, kept), paired(col("text"), col("lot")).alias("pair"))
    return exploded(listed, "pair", ("context", "reply", "row_key"), kept)


def distinct_in_random_order(texts: Sequence[str], lots: Sequence[int]) -> list[tuple[int, str]]:
    """Return each distinct text, up to case, with its smallest random number, in the order of these."""
    first: dict[str, tuple[int, str]] = {}
    for lot, text in sorted(zip(lots, texts, strict=True)):
        first.setdefault(text.casefold(), (lot, text))
    return list(first.values())
