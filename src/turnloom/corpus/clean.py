"""The first steps of `prepare`, all maps over dialogues: normalise, merge, and the keys that later steps go by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.fingerprint import dialogue_hashes
from turnloom.corpus.merge import merge_speakers, run_starts
from turnloom.corpus.slots import with_texts
from turnloom.corpus.texts import normalise_texts, word_counts
from turnloom.corpus.turn_arrays import join_turns, keep_turns, split_turns, sums, turns_dtype

__all__ = ["clean", "count_merged_turns", "merge_turns", "with_text_keys"]


def clean(table: Any) -> Any:
    """The table with uniform text and without empty turns."""

    @batch_function(turns_dtype())
    def cleaned(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        flat = with_texts(flat, normalise_texts(flat.field("text")), normalise_texts)
        filled = pc.greater(pc.binary_length(flat.field("text")), 0).to_numpy(zero_copy_only=False)
        return join_turns(*keep_turns(offsets, flat, filled))

    return table.with_column("turns", cleaned(daft().col("turns")))


def merge_turns(table: Any) -> Any:
    """The table with consecutive turns of one speaker as one turn."""

    @batch_function(turns_dtype())
    def merged(turns: pa.Array) -> pa.Array:
        return join_turns(*merge_speakers(*split_turns(turns)))

    return table.with_column("turns", merged(daft().col("turns")))


def count_merged_turns(table: Any) -> Any:
    """The table with `turn_count`, the number of turns that each dialogue will have once its turns are merged."""

    @batch_function(daft().DataType.int32())
    def runs(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        return pa.array(sums(run_starts(offsets, flat.field("speaker")), offsets).astype(np.int32))

    return table.with_column("turn_count", runs(daft().col("turns")))


def with_text_keys(table: Any, *, words: bool) -> Any:
    """The table with `text_key`, a hash of a dialogue's texts in lower case, and if wanted `words`, their number."""
    engine = daft()
    kinds = engine.DataType
    fields = {"text_key": kinds.uint64(), **({"words": kinds.int32()} if words else {})}

    @batch_function(kinds.struct(fields), unnest=True)
    def keys(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        columns = [pa.array(dialogue_hashes([join_turns(offsets, pc.utf8_lower(flat.field("text")))]))]
        if words:
            counts = word_counts(flat.field("text"))
            columns.append(pa.array(sums(counts, offsets).astype(np.int32)))
        return pa.StructArray.from_arrays(columns, names=list(fields))

    return table.select(*[engine.col(name) for name in table.column_names], keys(engine.col("turns")))
