"""Occurrences to replies: how often each was given, where, and how much that makes it weigh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["CONVERSATION", "MOST_CONVERSATIONS", "group_occurrences", "inverse_response_frequency"]

MOST_CONVERSATIONS = 5
"""A reply names so many of the conversations it comes from; a polite one may come from all of them."""
CONVERSATION = pa.struct([("dialogue_id", pa.string()), ("source", pa.string()), ("turn", pa.int32())])


def inverse_response_frequency(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """`1 / (log count + 1)` (WMDC, Equation 5): 1 for what was said once, less for what is said all the time.

    Example:
        >>> inverse_response_frequency(np.array([1, 20, 1000])).round(3).tolist()
        [1.0, 0.25, 0.12600000202655792]
    """
    return (1 / (np.log(counts) + 1)).astype(np.float32)


def _lists(owners: npt.NDArray[np.int64], values: pa.Array, groups: int) -> pa.Array:
    """The distinct values of each group, sorted."""
    pairs = pa.table({"owner": owners, "value": values}).group_by(["owner", "value"]).aggregate([])
    pairs = pairs.filter(pc.is_valid(pairs["value"])).sort_by([("owner", "ascending"), ("value", "ascending")])
    offsets = np.searchsorted(pairs["owner"].to_numpy(), np.arange(groups + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pairs["value"].combine_chunks())


def _conversations(rows: pa.Table, owners: npt.NDArray[np.int64], firsts: npt.NDArray[Any], groups: int) -> pa.Array:
    kept = np.arange(len(owners)) - firsts[owners] < MOST_CONVERSATIONS
    few = rows.filter(pa.array(kept))
    columns = [few[field.name].combine_chunks() for field in CONVERSATION]
    offsets = np.searchsorted(owners[kept], np.arange(groups + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.StructArray.from_arrays(columns, fields=list(CONVERSATION)))


def group_occurrences(occurrences: pa.Table) -> pa.Table:
    """One row a reply: its key, how often it occurs, its weight, and where it comes from.

    The result depends on the occurrences alone, not on their order.

    Args:
        occurrences: Rows with `occurrence`, `reply`, `dialogue_id`, `source`, `turn` and `domains`.

    Returns:
        Rows with `key`, `count`, `weight`, `conversations`, `sources` and `domains`, sorted by key.
    """
    rows = occurrences.sort_by([("reply", "ascending"), ("occurrence", "ascending")])
    keys, firsts, owners, counts = np.unique(
        rows["reply"].to_numpy(), return_index=True, return_inverse=True, return_counts=True
    )
    domains = rows["domains"].combine_chunks()
    named = owners[np.asarray(pc.list_parent_indices(domains), np.int64)]
    return pa.table(
        {
            "key": keys,
            "count": counts.astype(np.int64),
            "weight": inverse_response_frequency(counts),
            "conversations": _conversations(rows, owners, firsts, len(keys)),
            "sources": _lists(owners, rows["source"].combine_chunks(), len(keys)),
            "domains": _lists(named, pc.list_flatten(domains), len(keys)),
        }
    )
