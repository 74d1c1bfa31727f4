"""The first steps of `prepare`, all maps over dialogues: normalise, merge, and the keys that later steps go by."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.cleaning.normalise import normalise_texts
from turnloom.corpus.engine import with_columns
from turnloom.corpus.hashing import dialogue_hashes
from turnloom.corpus.turn_arrays import (
    Offsets,
    beginnings,
    join_turns,
    keep_turns,
    list_parts,
    map_turns,
    split_turns,
    sums,
    with_texts,
)

__all__ = ["clean", "count_merged_turns", "merge_speakers", "with_text_keys"]


def clean(table: Any) -> Any:
    """The table with uniform text and without empty turns."""

    def cleaned(offsets: Offsets, flat: pa.StructArray) -> tuple[Offsets, pa.StructArray]:
        flat = with_texts(flat, normalise_texts(flat.field("text")), normalise_texts)
        filled = pc.greater(pc.binary_length(flat.field("text")), 0).to_numpy(zero_copy_only=False)
        return keep_turns(offsets, flat, filled)

    return map_turns(table, cleaned)


def count_merged_turns(table: Any) -> Any:
    """The table with `turn_count`, the number of turns that each dialogue will have once its turns are merged."""

    def runs(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        return [pa.array(sums(_run_starts(offsets, flat.field("speaker")), offsets).astype(np.int32))]

    return with_columns(table, {"turn_count": pa.int32()}, runs, "turns")


def with_text_keys(table: Any) -> Any:
    """The table with `text_key`, a hash of a dialogue's texts in lower case."""

    def keys(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        return [pa.array(dialogue_hashes([join_turns(offsets, pc.utf8_lower(flat.field("text")))]))]

    return with_columns(table, {"text_key": pa.uint64()}, keys, "turns")


def _run_starts(offsets: Offsets, speakers: pa.Array) -> npt.NDArray[np.bool_]:
    """Which turns start a run: the first of a dialogue, a change of speaker, or an unknown speaker."""
    codes = pc.dictionary_encode(speakers).indices.to_numpy(zero_copy_only=False)
    starts = np.ones(len(speakers), bool)
    starts[1:] = codes[1:] != codes[:-1]
    starts[beginnings(offsets)] = True
    unknown = pc.equal(speakers, "").to_numpy(zero_copy_only=False)
    return np.asarray(starts | unknown)


def _joined_lists(lists: pa.Array, bounds: npt.NDArray[np.int64]) -> pa.Array:
    """The lists of each run, one after the other; null if all are."""
    offsets, values = list_parts(lists)
    present = np.concatenate([[0], np.cumsum(lists.is_valid().to_numpy(zero_copy_only=False))])
    missing = present[bounds[1:]] == present[bounds[:-1]]
    return pa.LargeListArray.from_arrays(pa.array(offsets[bounds]), values, mask=pa.array(missing))


def _shifted_slots(slots: pa.Array, lengths: npt.NDArray[np.int64], run_of: npt.NDArray[np.int64]) -> pa.Array:
    """Slots whose positions count from the start of the run's text."""
    before = np.cumsum(lengths + 1) - (lengths + 1)
    first = np.concatenate([[0], np.flatnonzero(np.diff(run_of)) + 1])
    offsets, values = list_parts(slots)
    by = pa.array(np.repeat(before - before[first][run_of], np.diff(offsets)).astype(np.int32))
    columns = [
        pc.add(values.field(field.name), by) if field.name in ("start", "end") else values.field(field.name)
        for field in values.type
    ]
    moved = pa.StructArray.from_arrays(columns, names=[field.name for field in values.type])
    return pa.LargeListArray.from_arrays(pa.array(offsets), moved, mask=slots.is_null())


def merge_speakers(offsets: Offsets, flat: pa.StructArray) -> tuple[Offsets, pa.StructArray]:
    """Join each run of one speaker's turns by a space; the run has the first turn's time and first known intent.

    Turns of an unknown speaker are left alone.
    """
    if not len(flat):
        return offsets, flat
    starts = _run_starts(offsets, flat.field("speaker"))
    if starts.all():
        return offsets, flat
    bounds = np.concatenate([np.flatnonzero(starts), [len(flat)]]).astype(np.int64)
    run_of = np.cumsum(starts) - 1
    first = pa.array(bounds[:-1])
    texts = flat.field("text")
    grouped = pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), texts.cast(pa.large_string()))
    known = np.flatnonzero(flat.field("intent").is_valid().to_numpy(zero_copy_only=False))
    runs, first_known = np.unique(run_of[known], return_index=True)
    intent_at = np.full(len(first), -1)
    intent_at[runs] = known[first_known]
    lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
    columns = {
        "speaker": flat.field("speaker").take(first),
        "text": pc.binary_join(grouped, pa.scalar(" ", pa.large_string())),
        "acts": _joined_lists(flat.field("acts"), bounds),
        "slots": _joined_lists(_shifted_slots(flat.field("slots"), lengths, run_of), bounds),
        "intent": flat.field("intent").take(pa.array(intent_at, mask=intent_at < 0)),
        "time": flat.field("time").take(first),
    }
    counted = np.concatenate([[0], np.cumsum(starts)]).astype(np.int64)
    names = [field.name for field in flat.type]
    return counted[offsets], pa.StructArray.from_arrays([columns[name] for name in names], names=names)
