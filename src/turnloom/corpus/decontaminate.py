"""Cutting benchmark material out of dialogues.

A dialogue that holds a benchmark's pair of utterances is cut between the two, and a turn that is a benchmark's
utterance is taken out: what is left and right of it goes on as dialogues of their own. Dropping whole dialogues would
lose most of a task-oriented corpus for a "Thank you." that every dialogue has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.fingerprint import hash_strings
from turnloom.corpus.holdout import Hashes, HoldOut, pair_hashes
from turnloom.corpus.texts import fold_texts, word_counts
from turnloom.corpus.turn_arrays import Offsets, beginnings, join_turns, split_turns, sums, turns_dtype

__all__ = ["cut_dialogues", "mark_turns", "overlap_counts"]

MIN_WORDS = 4
"""Shorter utterances ("yes", "thank you very") are everybody's: they give nothing away."""


class Marks:
    """What was found in a batch of turns.

    Attributes:
        leaked: Turns that are an utterance of an evaluation set.
        cut: Turns that with the one before them are a pair of an evaluation set.
        sets: For each turn, the bits of the sets concerned.
    """

    def __init__(self, offsets: Offsets, flat: pa.StructArray, hold_out: HoldOut) -> None:
        folded = fold_texts(flat.field("text"))
        hashes = hash_strings(folded)
        utterance_sets = hold_out.sets_of_utterances(hashes)
        utterance_sets[word_counts(folded) < MIN_WORDS] = 0
        before = np.concatenate([hashes[:1], hashes[:-1]])
        pair_sets = hold_out.sets_of_pairs(pair_hashes(before, hashes))
        pair_sets[beginnings(offsets)] = 0  # The first turn of a dialogue follows nothing.
        self.leaked: npt.NDArray[np.bool_] = utterance_sets != 0
        self.cut: npt.NDArray[np.bool_] = pair_sets != 0
        self.sets: Hashes = utterance_sets | pair_sets


def mark_turns(table: Any, hold_out: HoldOut) -> Any:
    """For each dialogue, what of it is benchmark material: `leaked_turns`, `cut_pairs` and a count for each set."""
    kinds = daft().DataType
    names = ["leaked_turns", "cut_pairs", *hold_out.names]

    @batch_function(kinds.struct(dict.fromkeys(names, kinds.int32())), unnest=True)
    def marked(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        marks = Marks(offsets, flat, hold_out)
        bits = [(marks.sets >> np.uint64(bit)) & np.uint64(1) for bit in range(len(hold_out.names))]
        columns = [sums(values, offsets).astype(np.int32) for values in (marks.leaked, marks.cut, *bits)]
        return pa.StructArray.from_arrays([pa.array(column) for column in columns], names=names)

    return table.select(marked(daft().col("turns")))


def overlap_counts(table: Any, hold_out: HoldOut) -> dict[str, int]:
    """How many turns and pairs of the table are benchmark material, in all and for each set."""
    marked = mark_turns(table, hold_out)
    col = daft().col
    found: dict[str, int] = marked.agg(*[col(name).sum().alias(name) for name in marked.column_names]).to_pylist()[0]
    return {name: count or 0 for name, count in found.items()}


def _pieces(offsets: Offsets, flat: pa.StructArray, marks: Marks, min_turns: int) -> tuple[pa.Array, pa.Array]:
    """For each dialogue the pieces that are left of it, and their numbers (0 for one that was not cut)."""
    count = len(flat)
    dialogue = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    after_leak = np.concatenate([[False], marks.leaked[:-1]]) if count else marks.leaked
    starts = marks.cut | after_leak
    starts[beginnings(offsets)] = True
    piece = np.cumsum(starts) - 1
    kept = ~marks.leaked
    sizes = np.bincount(piece[kept], minlength=piece[-1] + 1 if count else 0)
    kept &= sizes[piece] >= min_turns if count else kept
    owner = dialogue[np.flatnonzero(starts)] if count else np.zeros(0, np.int64)
    alive = sizes >= min_turns
    first_piece = np.concatenate([[True], owner[1:] != owner[:-1]]) if count else np.zeros(0, bool)
    within = np.arange(len(owner)) - np.maximum.accumulate(np.where(first_piece, np.arange(len(owner)), 0))
    touched = np.zeros(len(offsets) - 1, bool)
    touched[dialogue[marks.leaked | marks.cut]] = True
    numbers = np.where(touched[owner], within + 1, 0)[alive]
    inner = np.concatenate([[0], np.cumsum(sizes[alive])]).astype(np.int64)
    outer = np.concatenate([[0], np.cumsum(np.bincount(owner[alive], minlength=len(offsets) - 1))]).astype(np.int64)
    lists = join_turns(inner, flat.filter(pa.array(kept)))
    return (
        pa.LargeListArray.from_arrays(pa.array(outer), lists),
        pa.LargeListArray.from_arrays(pa.array(outer), pa.array(numbers.astype(np.int32))),
    )


def cut_dialogues(table: Any, hold_out: HoldOut, min_turns: int) -> Any:
    """The table without benchmark material; a dialogue that was cut gives pieces with ids such as ``17#2``."""
    engine = daft()
    col, kinds = engine.col, engine.DataType
    fields = {"pieces": kinds.list(turns_dtype()), "numbers": kinds.list(kinds.int32())}

    @batch_function(kinds.struct(fields), unnest=True)
    def cut(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        pieces, numbers = _pieces(offsets, flat, Marks(offsets, flat, hold_out), min_turns)
        return pa.StructArray.from_arrays([pieces, numbers], names=["pieces", "numbers"])

    rest = [name for name in table.column_names if name != "turns"]
    cut_up = table.select(*rest, cut(col("turns"))).explode("pieces", "numbers").where(col("pieces").not_null())
    numbered = col("dialogue_id") + "#" + col("numbers").cast(kinds.string())
    named = engine.functions.when(col("numbers") > 0, numbered).otherwise(col("dialogue_id"))
    columns = [named.alias("dialogue_id") if name == "dialogue_id" else col(name) for name in rest]
    turns = col("pieces").alias("turns")
    ordered = dict(zip(rest, columns, strict=True)) | {"turns": turns}
    return cut_up.select(*[ordered[name] for name in table.column_names])
