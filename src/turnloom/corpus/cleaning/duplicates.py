"""Find exact duplicates, drop duplicates by their keys, and count response frequencies.

Only keys move between workers, never dialogues. The copy with the smallest row key stays, which depends only on the
content.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.engine import batch_function, daft, with_columns
from turnloom.corpus.turn_arrays import beginnings, hash_strings, join_turns, keep_turns, split_turns


def shared_groups(rows: Any, group: str) -> Any:
    """Return the rows that share their group with another, each with `keep`, the group's smallest row key."""
    col = daft().col
    sizes = rows.groupby(group).agg(col("row_key").min().alias("keep"), col("row_key").count().alias("size"))
    shared = sizes.where(col("size") > 1).select(group, "keep")
    return rows.join(shared, on=group).exclude(group)


def copies_in(members: Any) -> Any:
    """Return all rows of a group but the one to keep."""
    col = daft().col
    return members.where(col("row_key") != col("keep"))


def twins_in(members: Any) -> Any:
    """Return row keys that occur more than once: rows that are equal in every column, one of which must stay."""
    col = daft().col
    same = members.where(col("row_key") == col("keep")).groupby("row_key").agg(col("keep").count().alias("size"))
    return same.where(col("size") > 1).select("row_key")


BROADCAST_KEYS = 20_000_000
"""Up to this many keys (160 MB) are sent to every worker; more are joined by the engine."""


def without_keys(table: Any, copies: Any) -> Any:
    """Remove the rows whose `row_key` is in `copies`."""
    return _by_keys(table, copies, are_kept=False)


def only_keys(table: Any, wanted: Any) -> Any:
    """Keep only the rows whose `row_key` is in `wanted`."""
    return _by_keys(table, wanted, are_kept=True)


def _by_keys(table: Any, asked: Any, *, are_kept: bool) -> Any:
    """Look rows up by their key.

    Daft's joins may build their hash table from the wrong side, which holds the whole corpus in memory (18 GiB at 17
    million dialogues). So, as long as the keys fit, each worker gets them all and looks up its rows.
    """
    if asked.count_rows() > BROADCAST_KEYS:
        return table.join(asked, on="row_key", how="semi" if are_kept else "anti")
    known = np.unique(asked.to_arrow().column("row_key").to_numpy())

    @batch_function(daft().DataType.bool())
    def stays(row_key: pa.Array) -> pa.Array:
        keys = row_key.to_numpy()
        if not len(known):
            return pa.array(np.full(len(keys), not are_kept))
        is_known = known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys
        return pa.array(is_known == are_kept)

    return table.where(stays(daft().col("row_key")))


def without(table: Any, copies: Any, twins: Any | None) -> Any:
    """Remove copies; of rows that are equal in every column, one stays."""
    kept = without_keys(table, copies)
    if twins is None:
        return kept
    once = kept.join(twins, on="row_key", how="semi").distinct("row_key")
    return kept.join(twins, on="row_key", how="anti").concat(once)


def response_keys(texts: pa.Array) -> npt.NDArray[np.uint64]:
    """Hash each trimmed, lower-case text to 64 bits, the key used by `response_frequencies`."""
    return hash_strings(pc.utf8_lower(pc.utf8_trim_whitespace(texts)))


def response_frequencies(table: Any, *, first_turns: bool = False) -> Any:
    """Return a lazy Daft DataFrame (`response`, `count`) of the responses that occur more than once.

    A response is a turn that follows another or, with `first_turns`, any turn. It is identified by its key from
    `response_keys`, so the table stays small however long the texts are.
    """

    def responses(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        if not first_turns:
            follows = np.ones(len(flat), bool)
            follows[beginnings(offsets)] = False
            offsets, flat = keep_turns(offsets, flat, follows)
        return [join_turns(offsets, pa.array(response_keys(flat.field("text"))))]

    hashed = with_columns(table.select("turns"), {"response": pa.list_(pa.uint64())}, responses, "turns")
    keyed = hashed.select("response").explode("response")
    return repeated_responses(keyed.where(daft().col("response").not_null()))


def repeated_responses(keyed: Any) -> Any:
    """Return the keys (`response`) that occur more than once, with their `count`."""
    col = daft().col
    return keyed.groupby("response").agg(col("response").count().alias("count")).where(col("count") > 1)
