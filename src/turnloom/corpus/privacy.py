"""Personal data in a whole table: found, counted and replaced."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.names import NAME_KINDS, scrub_names
from turnloom.corpus.scrub import KINDS, scrub_texts
from turnloom.corpus.slots import with_texts
from turnloom.corpus.turn_arrays import join_turns, split_turns, sums, turns_dtype

__all__ = ["personal_counts", "scrubbed"]

ALL_KINDS = (*KINDS, *NAME_KINDS)


def scrubbed(table: Any, names_model: str | None) -> Any:
    """The table with placeholders for personal data, and a column `scrubbed` that counts them by kind."""
    engine = daft()
    kinds = engine.DataType
    counted = kinds.struct(dict.fromkeys(ALL_KINDS, kinds.int32()))

    def change(texts: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
        texts, counts = scrub_texts(texts)
        named = np.zeros((len(texts), len(NAME_KINDS)), np.int32)
        if names_model:
            texts, found = scrub_names(texts, names_model)
            named = np.array([[kinds.count(kind) for kind in NAME_KINDS] for kinds in found], np.int32).reshape(-1, 2)
        return texts, np.concatenate([counts, named], axis=1)

    @batch_function(kinds.struct({"turns": turns_dtype(), "scrubbed": counted}), unnest=True)
    def scrub(turns: pa.Array) -> pa.Array:
        offsets, flat = split_turns(turns)
        texts, counts = change(flat.field("text"))
        changed = join_turns(offsets, with_texts(flat, texts, lambda values: change(values)[0]))
        none = np.zeros(len(turns), np.int32)
        found = counts.sum(axis=0) > 0
        columns = [
            pa.array(sums(counts[:, place], offsets).astype(np.int32) if found[place] else none)
            for place in range(len(ALL_KINDS))
        ]
        return pa.StructArray.from_arrays(
            [changed, pa.StructArray.from_arrays(columns, names=list(ALL_KINDS))], names=["turns", "scrubbed"]
        )

    rest = [engine.col(name) for name in table.column_names if name != "turns"]
    return table.select(*rest, scrub(engine.col("turns")))


def personal_counts(table: Any) -> dict[str, int]:
    """How much personal data of each kind was replaced in a scrubbed table; kinds that do not occur are left out."""
    col = daft().col
    counts = table.agg(*[col("scrubbed").get(kind).sum().alias(kind) for kind in ALL_KINDS]).to_pylist()[0]
    return {kind: count for kind, count in counts.items() if count}
