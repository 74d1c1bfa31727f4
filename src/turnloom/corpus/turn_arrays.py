"""Columns of turns as flat Arrow arrays, for vectorised steps, and their hashes.

Daft hashes strings fast, but its hash of a nested column ignores the contents of structs (in 0.7.26, two different
lists of turns have the same hash). So Daft hashes the leaves, and we fold them into turns and dialogues here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.engine import daft, with_columns
from turnloom.corpus.schema import ARROW_SCHEMA

Offsets = npt.NDArray[np.int64]
TURNS_TYPE = ARROW_SCHEMA.field("turns").type


def split_turns(turns: pa.Array) -> tuple[Offsets, pa.StructArray]:
    """Return the flat array of turns, and where each dialogue's turns start in it."""
    offsets = turns.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], turns.flatten()


def list_parts(lists: pa.Array) -> tuple[Offsets, pa.Array]:
    """Return offsets that start at 0 and the values they cover; unlike `split_turns`, lists may be missing."""
    offsets = lists.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    return offsets - offsets[0], lists.values.slice(offsets[0], offsets[-1] - offsets[0])


def beginnings(offsets: Offsets) -> Offsets:
    """Mark where dialogues start; a dialogue without turns has no start."""
    return offsets[:-1][np.diff(offsets) > 0]


def join_turns(offsets: Offsets, flat: pa.Array) -> pa.Array:
    """Invert `split_turns`; also for an array of one value per turn."""
    return pa.LargeListArray.from_arrays(pa.array(offsets), flat)


def map_turns(table: Any, change: Callable[[Offsets, pa.StructArray], tuple[Offsets, pa.StructArray]]) -> Any:
    """Transform the flat turns of a dialogue table (a Daft DataFrame)."""
    return with_columns(table, {"turns": TURNS_TYPE}, lambda turns: [join_turns(*change(*split_turns(turns)))], "turns")


def with_field(flat: pa.StructArray, name: str, values: pa.Array) -> pa.StructArray:
    """Replace one field of the turns."""
    names = [field.name for field in flat.type]
    columns = [values if other == name else flat.field(other) for other in names]
    return pa.StructArray.from_arrays(columns, names=names)


def with_texts(flat: pa.StructArray, texts: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.StructArray:
    """Replace the turns' texts, and update their slot values with `change`.

    A slot is dropped if its value no longer occurs in the text, because it was replaced.
    """
    slots, before = flat.field("slots"), flat.field("text")
    has_slots = pc.fill_null(pc.greater(pc.list_value_length(slots), 0), False)
    touched = pc.indices_nonzero(pc.and_(pc.not_equal(texts, before), has_slots)).to_pylist()
    changed = with_field(flat, "text", texts)
    if not touched:
        return changed
    rows = slots.to_pylist()
    for index in touched:
        text = texts[index].as_py()
        values = change(pa.array([slot["value"] for slot in rows[index]], pa.large_string())).to_pylist()
        kept = []
        for slot, value in zip(rows[index], values, strict=True):
            if slot["value"] in before[index].as_py() and value not in text:
                continue
            start = _nearest(text, value, slot["start"])
            kept.append({**slot, "value": value, "start": start, "end": None if start is None else start + len(value)})
        rows[index] = kept
    return with_field(changed, "slots", pa.array(rows, slots.type))


def _nearest(text: str, value: str, before: int | None) -> int | None:
    """Return a value's new position nearest to its old one; None without an old position or a match."""
    if before is None or not value:
        return None
    starts = (match.start() for match in re.finditer(re.escape(value), text))
    return min(starts, key=lambda start: abs(start - before), default=None)


def keep_turns(offsets: Offsets, flat: pa.StructArray, keep: npt.NDArray[np.bool_]) -> tuple[Offsets, pa.StructArray]:
    """Filter turns, and adjust the offsets."""
    if keep.all():
        return offsets, flat
    running = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    return running[offsets], flat.filter(pa.array(keep))


def sums(values: npt.NDArray[Any], offsets: Offsets) -> npt.NDArray[np.int64]:
    """Sum a value per turn over each dialogue."""
    running = np.concatenate([[0], np.cumsum(values)]).astype(np.int64)
    return running[offsets[1:]] - running[offsets[:-1]]


Hashes = npt.NDArray[np.uint64]
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_SUM = np.uint64(0xD6E8FEB86659FD93)


def mix(values: Hashes) -> Hashes:
    """Apply a bijection that spreads every bit over the word (splitmix64's finaliser), so that sums do not cancel."""
    values = (values ^ (values >> np.uint64(30))) * _SECOND
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = values ^ (values >> np.uint64(31))
    return mixed


def hash_strings(array: pa.Array) -> Hashes:
    """Compute a 64-bit hash of each string."""
    hashes = daft().Series.from_arrow(array.cast(pa.large_string())).hash().to_arrow()
    return np.asarray(hashes.to_numpy(zero_copy_only=False), dtype=np.uint64)


def buckets_of(keys: Hashes, count: int) -> npt.NDArray[np.int32]:
    """Return which of `count` equal ranges each key belongs to; ordered ranges hold ordered keys.

    Example:
        >>> buckets_of(np.array([0, 2**63, 2**64 - 1], np.uint64), 4).tolist()
        [0, 2, 3]
    """
    buckets: npt.NDArray[np.int32] = ((keys >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)).astype(np.int32)
    return buckets


def _fold(values: Hashes, offsets: npt.NDArray[np.int64]) -> Hashes:
    """Hash each list, depending on the order and the number of its values."""
    lengths = np.diff(offsets)
    position = np.arange(len(values), dtype=np.int64) - np.repeat(offsets[:-1], lengths)
    placed = mix(values + _MULTIPLIER * (position.astype(np.uint64) + np.uint64(1)))
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(placed, dtype=np.uint64)])
    return mix(running[offsets[1:]] - running[offsets[:-1]] + lengths.astype(np.uint64))


def _combined(columns: list[pa.Array], length: int) -> Hashes:
    """Hash each row over several columns. A missing value adds nothing, so empty optional columns cost nothing."""
    total = np.zeros(length, np.uint64)
    for number, column in enumerate(columns, 1):
        if column.null_count == length:
            continue
        own = mix(_hash(column) + np.uint64(int(_MULTIPLIER) * number % 2**64))
        if column.null_count:
            own[column.is_null().to_numpy(zero_copy_only=False)] = 0
        total += own
    return mix(total)


def _hash(array: pa.Array) -> Hashes:
    """Hash each value; the result for a missing one does not matter."""
    arrow_type = array.type
    if pa.types.is_struct(arrow_type):
        return _combined([array.field(index) for index in range(arrow_type.num_fields)], len(array))
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type):
        offsets, values = list_parts(array)
        return _fold(_hash(values), offsets)
    if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
        return hash_strings(array)
    numbers = array.view(pa.int64()) if pa.types.is_timestamp(arrow_type) else array.cast(pa.int64())
    return mix(numbers.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64))


def dialogue_hashes(columns: list[pa.Array]) -> Hashes:
    """Hash each row over these columns, including nested ones.

    Example:
        >>> import pyarrow as pa
        >>> one, two, three = dialogue_hashes([pa.array([["a", "b"], ["b", "a"], ["a", "b"]])])
        >>> bool(one == three), bool(one == two)
        (True, False)
    """
    return _combined(columns, len(columns[0]))


def with_row_keys(table: Any, *others: str) -> Any:
    """Add `row_key` (a hash of the whole row), `turn_count`, and the columns of `others` to a dialogue table.

    The key depends only on the content, so every run and every runner keeps the same one of several copies.
    """
    names = ARROW_SCHEMA.names

    def keys(*columns: pa.Array) -> list[pa.Array]:
        lengths = columns[names.index("turns")].value_lengths()
        return [pa.array(dialogue_hashes(list(columns))), lengths.cast(pa.int32())]

    fields = {"row_key": pa.uint64(), "turn_count": pa.int32()}
    return with_columns(table.select(*names, *others), fields, keys, *names)


def content_hash(keyed: Any) -> str:
    """Hash a table's rows by their `row_key`, whatever their order and files."""
    col = daft().col

    def mixed(row_key: pa.Array) -> list[pa.Array]:
        # Two sums of differently mixed hashes give 128 bits, and count equal rows as often as they occur.
        return [pa.array(mix(row_key.to_numpy(zero_copy_only=False) ^ _SECOND_SUM))]

    hashes = with_columns(keyed.select("row_key"), {"mixed": pa.uint64()}, mixed, "row_key")
    total = hashes.agg(col("row_key").sum(), col("mixed").sum(), col("row_key").count().alias("n")).to_pylist()[0]
    return f"{total['row_key'] or 0:016x}{total['mixed'] or 0:016x}-{total['n']}"
