"""Tables for a run that has to end in time: if they are too large for it, views are made of a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.splits import bucket
from turnloom.corpus.table import MANIFEST, TableWriter, read_manifest, read_table

__all__ = ["tables_within"]

TURNS_A_MINUTE = 500_000
"""Views of so many turns are made in less than half a minute on two cores; nothing learns from more of them in it."""
_PARTS = 10_000


def tables_within(
    tables: Sequence[Path], minutes: float, work: Path, on_progress: Callable[[str, float, str], None]
) -> list[Path]:
    """The tables, or samples of their dialogues if they are larger than what a run of so many minutes can use.

    Samples are drawn by a hash of the dialogues' ids, each table's in proportion to its size.

    Args:
        tables: Folders of dialogue tables.
        minutes: How long the run may take.
        work: The folder of the run, where samples go; those that are there already stay.
        on_progress: Called with what is being done, the part that is done, and a note.
    """
    turns = sum(read_manifest(table).turns for table in tables)
    most = TURNS_A_MINUTE * minutes
    if turns <= most:
        return list(tables)
    share = max(1, int(_PARTS * most / turns))
    note = f"{100 * share / _PARTS:g} % of the dialogues"
    found = []
    for number, table in enumerate(tables):
        on_progress("sampling the tables", number / len(tables), note)
        found.append(_sampled(table, work / f"sample-{number}", share))
    on_progress("sampling the tables", 1.0, note)
    return found


def _sampled(table: Path, folder: Path, share: int) -> Path:
    col, kinds = daft().col, daft().DataType

    @batch_function(kinds.bool())
    def is_chosen(ids: pa.Array) -> pa.Array:
        numbers = (100 * bucket("sample", name) + bucket("finer", name) for name in ids.to_pylist())
        return pa.array([number < share for number in numbers], pa.bool_())

    if not (folder / MANIFEST).exists():
        writer = TableWriter(folder)
        writer.write(read_table(table).where(is_chosen(col("dialogue_id"))))
        writer.finish("turnloom.training.tables_within", {"share": share / _PARTS})
    return folder
