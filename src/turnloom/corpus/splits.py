"""Splits by a hash of a dialogue's id: of sets without splits of their own, and of a table in two."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow as pa

from turnloom.corpus.engine import daft, with_columns
from turnloom.corpus.table import MANIFEST, TableWriter, count_by_source, read_table

__all__ = ["bucket", "falls_into", "split_table"]

_SALT = "held out"


def bucket(salt: str, dialogue_id: str) -> int:
    """A number from 0 to 99 that depends on nothing but the set's name and the dialogue's id.

    A dialogue keeps its split when the set grows, is read in another order, or is split again elsewhere.

    Example:
        >>> bucket("star", "1")
        55
    """
    digest = hashlib.sha256(f"{salt}\x00{dialogue_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % 100


def falls_into(part: tuple[str, int, int], dialogue_id: str) -> bool:
    """Whether a dialogue belongs to a part of a set: its salt, its first bucket and the one after its last."""
    salt, first, stop = part
    return first <= bucket(salt, dialogue_id) < stop


def split_table(source: Path, train: Path, held_out: Path, percent: int) -> None:
    """Write a table's dialogues into two tables, by a hash of their ids; a table that is there already stays.

    A dialogue keeps its part when more dialogues come in.

    Args:
        source: The table's folder.
        train: The folder of the larger part.
        held_out: The folder of the part that is kept apart.
        percent: About so many of a hundred dialogues are kept apart.
    """

    def is_held(ids: pa.Array) -> list[pa.Array]:
        return [pa.array([bucket(_SALT, name) < percent for name in ids.to_pylist()], pa.bool_())]

    marked = with_columns(read_table(source), {"held": pa.bool_()}, is_held, "dialogue_id")
    held = daft().col("held")
    for folder, condition in ((train, ~held), (held_out, held)):
        if not (folder / MANIFEST).exists():
            writer = TableWriter(folder)
            writer.write(marked.where(condition).exclude("held"))
            writer.finish("turnloom.corpus.split_table", {"sources": count_by_source(writer.staged())})
