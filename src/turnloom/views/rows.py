"""Dialogues to rows: a view's spans filled with texts, weighted and given their place in the shuffled order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.cleaning.frequencies import response_keys
from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.hashing import hash_strings
from turnloom.views.draw import Keys, buckets_of, copies, seeded
from turnloom.views.spans import Dialogues, DialogueView, Indices, Spans

__all__ = ["dialogue_rows", "drawn_rows", "turn_runs"]

DIALOGUES_AT_A_TIME = 8_192
"""A dialogue can give many times its size in contexts."""


def _source_weights(sources: pa.Array, weights: dict[str, float]) -> npt.NDArray[np.float64]:
    """The weight of each row's source; 1 where none is given."""
    table = np.array([*weights.values(), 1.0])
    place = pc.index_in(sources.cast(pa.large_string()), pa.array(list(weights), pa.large_string()))
    return table[np.asarray(place.fill_null(-1), np.int64)]


def _row_keys(view: DialogueView, dialogues: Dialogues, spans: Spans) -> Keys:
    """What a row is told apart by: its dialogue and its place there, not its content.

    Equal rows of different dialogues would otherwise stand side by side in the shuffled order, and so become each
    other's negatives in a batch.
    """
    if view.one_per_text:
        return hash_strings(dialogues.texts.take(pa.array(spans.reply)))
    keys = dialogues.keys[dialogues.owners[spans.start]]
    keys = seeded(keys, 0, "start", dialogues.positions[spans.start])
    keys = seeded(keys, 0, "size", spans.stop - spans.start)
    if spans.role is None or spans.reply is None:
        return keys
    # Where the reply stands among its context, several replies can share one.
    return seeded(keys, 0, "reply", spans.reply - spans.start)


def turn_runs(texts: pa.Array, start: Indices, stop: Indices) -> pa.Array:
    """The texts of each run of turns as a list."""
    sizes = stop - start
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    turns = np.arange(offsets[-1]) + np.repeat(start - offsets[:-1], sizes)
    return pa.LargeListArray.from_arrays(pa.array(offsets), texts.take(pa.array(turns)))


def _fields(view: DialogueView) -> dict[str, Any]:
    kinds = daft().DataType
    fields = {"context": kinds.list(kinds.string())}
    if view.has_reply:
        fields |= {"reply": kinds.string(), "response": kinds.uint64()}
    if "role" in view.columns:
        fields["role"] = kinds.int64()
    if "dialogue" in view.columns:
        fields["dialogue"] = kinds.uint64()
    return {**fields, "order": kinds.uint64(), "bucket": kinds.int32()}


def _filled(view: DialogueView, dialogues: Dialogues, spans: Spans, taken: Indices) -> list[pa.Array]:
    """The columns of text of the rows that are taken, and what is known of them."""
    texts = dialogues.texts if spans.contexts is None else spans.contexts
    columns = [turn_runs(texts, spans.start[taken], spans.stop[taken])]
    if spans.reply is not None:
        replies = dialogues.texts.take(pa.array(spans.reply[taken]))
        columns += [replies, pa.array(response_keys(replies))]
    if spans.role is not None:
        columns.append(pa.array(spans.role[taken]))
    if "dialogue" in view.columns:
        columns.append(pa.array(dialogues.keys[dialogues.owners[spans.start[taken]]]))
    return columns


def dialogue_rows(table: Any, view: DialogueView, *, seed: int, weights: dict[str, float], buckets: int) -> Any:
    """The rows of a view as a lazy Daft DataFrame.

    Args:
        table: A Daft DataFrame with the schema of the dialogue table.
        view: Which rows.
        seed: For what is drawn, and for the order.
        weights: How often rows of a source are taken, by source.
        buckets: How many ranges the shuffled order of each group is cut into.

    Returns:
        `source`, `context`, `reply` and its key `response` if the view has replies, `order` (the place in the shuffled
        order) and `bucket` (the group's number times `buckets`, plus the range that `order` falls into).
    """
    engine = daft()
    col, kinds = engine.col, engine.DataType
    fields = _fields(view)

    @batch_function(kinds.list(kinds.struct(fields)), batch_size=DIALOGUES_AT_A_TIME)
    def rows(ids: pa.Array, sources: pa.Array, turns: pa.Array) -> pa.Array:
        dialogues = Dialogues(ids, sources, turns)
        spans = view.spans(dialogues, seed)
        owners = dialogues.owners[spans.start]
        taken, order = copies(_row_keys(view, dialogues, spans), _source_weights(sources, weights)[owners], seed)
        sorting = np.argsort(owners[taken], kind="stable")
        taken, order = taken[sorting], order[sorting]
        bucket = buckets_of(order, buckets)
        if spans.group is not None:
            bucket += (spans.group[taken] * buckets).astype(np.int32)
        columns = [*_filled(view, dialogues, spans, taken), pa.array(order), pa.array(bucket)]
        offsets = np.searchsorted(owners[taken], np.arange(len(dialogues.keys) + 1))
        found = pa.StructArray.from_arrays(columns, names=list(fields))
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), found)

    listed = table.select(col("source"), rows(col("dialogue_id"), col("source"), col("turns")).alias("row"))
    exploded = listed.explode("row").where(col("row").not_null())
    return exploded.select(col("source"), *[col("row").get(name).alias(name) for name in fields])


def drawn_rows(rows: Any, *, seed: int, weights: dict[str, float], buckets: int) -> Any:
    """Rows that exist already, weighted and with their `order` and `bucket` in place of their `row_key`."""
    engine = daft()
    col, kinds = engine.col, engine.DataType

    @batch_function(kinds.list(kinds.struct({"order": kinds.uint64(), "bucket": kinds.int32()})))
    def drawn(keys: pa.Array, sources: pa.Array) -> pa.Array:
        taken, order = copies(keys.to_numpy(zero_copy_only=False), _source_weights(sources, weights), seed)
        columns = [pa.array(order), pa.array(buckets_of(order, buckets))]
        offsets = np.searchsorted(taken, np.arange(len(keys) + 1))
        found = pa.StructArray.from_arrays(columns, names=["order", "bucket"])
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), found)

    listed = rows.with_column("draw", drawn(col("row_key"), col("source"))).exclude("row_key")
    exploded = listed.explode("draw").where(col("draw").not_null())
    placed = exploded.with_columns({name: col("draw").get(name) for name in ("order", "bucket")})
    return placed.exclude("draw")
