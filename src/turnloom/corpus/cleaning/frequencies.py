"""How often each response occurs, for inverse-frequency weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.engine import daft, with_columns
from turnloom.corpus.hashing import hash_strings
from turnloom.corpus.turn_arrays import beginnings, join_turns, keep_turns, split_turns

__all__ = ["repeated_responses", "response_frequencies", "response_keys"]


def response_keys(texts: pa.Array) -> npt.NDArray[np.uint64]:
    """The 64-bit hash of each trimmed, lower-case text: what `response_frequencies` names a response by."""
    return hash_strings(pc.utf8_lower(pc.utf8_trim_whitespace(texts)))


def response_frequencies(table: Any, *, first_turns: bool = False) -> Any:
    """A lazy Daft DataFrame (`response`, `count`) of the responses that occur more than once.

    A response is a turn that follows another; it is named by its `response_keys`, so that the table stays small however
    long texts are. What is not in it occurs once.

    Args:
        table: A Daft DataFrame with the schema of the dialogue table.
        first_turns: Count the first turns of dialogues too.
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
    """The keys (`response`) that occur more than once, and how often (`count`)."""
    col = daft().col
    return keyed.groupby("response").agg(col("response").count().alias("count")).where(col("count") > 1)
