"""Columns of turns as flat Arrow arrays: what the vectorised steps take apart and put together again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.schema import ARROW_SCHEMA

__all__ = [
    "TURNS_TYPE",
    "beginnings",
    "join_turns",
    "keep_turns",
    "list_parts",
    "split_turns",
    "sums",
    "turns_dtype",
    "with_field",
]

Offsets = npt.NDArray[np.int64]
TURNS_TYPE = ARROW_SCHEMA.field("turns").type


def turns_dtype() -> Any:
    """The Daft type of the `turns` column."""
    from turnloom.corpus.engine import daft

    return daft().DataType.from_arrow_type(TURNS_TYPE)


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


def join_turns(offsets: Offsets, flat: pa.StructArray) -> pa.Array:
    """The opposite of `split_turns`."""
    return pa.LargeListArray.from_arrays(pa.array(offsets), flat)


def with_field(flat: pa.StructArray, name: str, values: pa.Array) -> pa.StructArray:
    """The turns with one of their fields replaced."""
    names = [field.name for field in flat.type]
    columns = [values if other == name else flat.field(other) for other in names]
    return pa.StructArray.from_arrays(columns, names=names)


def keep_turns(offsets: Offsets, flat: pa.StructArray, keep: npt.NDArray[np.bool_]) -> tuple[Offsets, pa.StructArray]:
    """The turns less some, and the offsets that go with them."""
    if keep.all():
        return offsets, flat
    running = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    return running[offsets], flat.filter(pa.array(keep))


def sums(values: npt.NDArray[Any], offsets: Offsets) -> npt.NDArray[np.int64]:
    """The sum of a value a turn, for each dialogue."""
    running = np.concatenate([[0], np.cumsum(values)]).astype(np.int64)
    return running[offsets[1:]] - running[offsets[:-1]]
