"""A dialogue table in two: one part to learn from, one kept apart to measure on."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.splits import bucket
from turnloom.corpus.table import MANIFEST, TableWriter, count_by_source, read_table

__all__ = ["split_table"]

_SALT = "held out"


def split_table(source: Path, train: Path, held_out: Path, percent: int) -> None:
    """Write a table's dialogues into two tables, by a hash of their ids; a table that is there already stays.

    A dialogue keeps its part when more dialogues come in.

    Args:
        source: The table's folder.
        train: The folder of the larger part.
        held_out: The folder of the part that is kept apart.
        percent: About so many of a hundred dialogues are kept apart.
    """
    col, kinds = daft().col, daft().DataType

    @batch_function(kinds.bool())
    def is_held(ids: pa.Array) -> pa.Array:
        return pa.array([bucket(_SALT, name) < percent for name in ids.to_pylist()], pa.bool_())

    marked = read_table(source).with_column("held", is_held(col("dialogue_id")))
    for folder, part in ((train, ~col("held")), (held_out, col("held"))):
        if not (folder / MANIFEST).exists():
            writer = TableWriter(folder)
            writer.write(marked.where(part).exclude("held"))
            writer.finish("turnloom.corpus.split_table", {"sources": count_by_source(writer.staged())})
