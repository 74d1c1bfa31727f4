"""Columns of turns as flat Arrow arrays: what the vectorised steps take apart and put together again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.engine import with_columns
from turnloom.corpus.schema import ARROW_SCHEMA

__all__ = [
    "TURNS_TYPE",
    "beginnings",
    "join_turns",
    "keep_turns",
    "list_parts",
    "map_turns",
    "split_turns",
    "sums",
    "with_field",
    "with_texts",
]

Offsets = npt.NDArray[np.int64]
TURNS_TYPE = ARROW_SCHEMA.field("turns").type


def split_turns(turns: pa.Array) -> tuple[Offsets, pa.StructArray]:
    """Where each dialogue's turns begin in the flat array of turns, and that array."""
    offsets = turns.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], turns.flatten()


def list_parts(lists: pa.Array) -> tuple[Offsets, pa.Array]:
    """Offsets that start at 0, and the values they cover; unlike `split_turns`, for lists that may be missing."""
    offsets = lists.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    return offsets - offsets[0], lists.values.slice(offsets[0], offsets[-1] - offsets[0])


def beginnings(offsets: Offsets) -> Offsets:
    """Where dialogues begin; one without turns begins nowhere."""
    return offsets[:-1][np.diff(offsets) > 0]


def join_turns(offsets: Offsets, flat: pa.Array) -> pa.Array:
    """The opposite of `split_turns`; also for an array of one value per turn."""
    return pa.LargeListArray.from_arrays(pa.array(offsets), flat)


def map_turns(table: Any, change: Callable[[Offsets, pa.StructArray], tuple[Offsets, pa.StructArray]]) -> Any:
    """A dialogue table (a Daft DataFrame) whose flat turns were changed."""
    return with_columns(table, {"turns": TURNS_TYPE}, lambda turns: [join_turns(*change(*split_turns(turns)))], "turns")


def with_field(flat: pa.StructArray, name: str, values: pa.Array) -> pa.StructArray:
    """The turns with one of their fields replaced."""
    names = [field.name for field in flat.type]
    columns = [values if other == name else flat.field(other) for other in names]
    return pa.StructArray.from_arrays(columns, names=names)


def with_texts(flat: pa.StructArray, texts: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.StructArray:
    """The turns with new texts, and their slots changed along.

    A slot whose value no longer stands in the text is dropped: what stood there was replaced.

    Args:
        flat: The turns.
        texts: The new texts.
        change: What was done to the texts, to do to the slots' values too.
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
    """Where a value now stands, nearest to where it stood before; None if it had no position, or stands nowhere."""
    if before is None or not value:
        return None
    starts = (match.start() for match in re.finditer(re.escape(value), text))
    return min(starts, key=lambda start: abs(start - before), default=None)


def keep_turns(offsets: Offsets, flat: pa.StructArray, keep: npt.NDArray[np.bool_]) -> tuple[Offsets, pa.StructArray]:
    """The turns less some, and the offsets that go with them."""
    if keep.all():
        return offsets, flat
    running = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    return running[offsets], flat.filter(pa.array(keep))


def sums(values: npt.NDArray[Any], offsets: Offsets) -> npt.NDArray[np.int64]:
    """The sum of a value per turn, for each dialogue."""
    running = np.concatenate([[0], np.cumsum(values)]).astype(np.int64)
    return running[offsets[1:]] - running[offsets[:-1]]
