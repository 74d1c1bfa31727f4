"""How often each utterance occurs: for inverse-frequency weights, and to see how uneven a corpus is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.fingerprint import hash_strings
from turnloom.corpus.turn_arrays import beginnings, keep_turns, split_turns

__all__ = ["repeated_responses", "response_frequencies", "response_keys", "utterance_counts"]


def utterance_counts(table: Any) -> Any:
    """A lazy Daft DataFrame (`utterance`, `count`) over a dialogue table, case-folded and trimmed."""
    col = daft().col
    texts = table.select(col("turns").explode()).select(col("turns").get("text").strip().lower().alias("utterance"))
    return texts.groupby("utterance").agg(col("utterance").count().alias("count"))


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
    engine = daft()
    col, kinds = engine.col, engine.DataType

    @batch_function(kinds.list(kinds.uint64()))
    def responses(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        follows = np.ones(len(flat), bool)
        if not first_turns:
            follows[beginnings(offsets)] = False
        offsets, later = keep_turns(offsets, flat, follows)
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(response_keys(later.field("text"))))

    hashed = table.select(responses(col("turns")).alias("response")).explode("response")
    return repeated_responses(hashed.where(col("response").not_null()))


def repeated_responses(keyed: Any) -> Any:
    """The keys (`response`) that occur more than once, and how often (`count`)."""
    col = daft().col
    return keyed.groupby("response").agg(col("response").count().alias("count")).where(col("count") > 1)
