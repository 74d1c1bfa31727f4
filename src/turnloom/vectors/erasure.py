"""Erase conversations from a vector table, with the vectors of texts that only they have."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from turnloom.corpus.erasure import Conversation, Erasure
from turnloom.corpus.table import WORK, remove_workspace
from turnloom.files import WholeFolder, write_whole
from turnloom.vectors.table import DIALOGUES, KEYS, MANIFEST, VECTORS, VectorTable

ROWS_AT_A_TIME = 65_536


def erase_from_vectors(folder: Path, erasure: Erasure, tables: Mapping[str, str] | None = None) -> set[Conversation]:
    """Write a vector table again without some conversations, and return those that it had.

    A vector table does not know who spoke: name the persons' conversations.

    Args:
        folder: The vector table's folder.
        erasure: What to erase.
        tables: The new content hashes of dialogue tables by their old ones: the vectors then still belong to them.
    """
    old = VectorTable(folder)
    remove_workspace(folder / WORK)
    parts = sorted((folder / DIALOGUES).glob("*.parquet"))
    gone: set[Conversation] = set()
    used = np.zeros(len(old), bool)
    turns = 0
    left: dict[str, pa.Table] = {}
    for part in parts:
        rows = pq.read_table(part)
        named = erasure.rows(rows)
        for row in rows.filter(pa.array(named)).select(["source", "dialogue_id"]).to_pylist():
            gone.add(Conversation(**row))
        left[part.name] = rows.filter(pa.array(~named))
        places = pc.list_flatten(left[part.name]["rows"]).to_numpy()
        used[places] = True
        turns += len(places)
    hashes = sorted((tables or {}).get(name, name) for name in old.manifest.tables)
    if not gone and hashes == old.manifest.tables:
        return gone
    whole = WholeFolder(folder, MANIFEST, "a vector table", beside=[WORK])
    digest = _write_vectors(old, used, whole.new)
    (whole.new / DIALOGUES).mkdir()
    moved = np.cumsum(used) - 1
    for name, rows in left.items():
        pq.write_table(_renumbered(rows, moved), whole.new / DIALOGUES / name, compression="zstd")
    manifest = old.manifest.model_copy(
        update={
            "texts": int(used.sum()),
            "dialogues": sum(map(len, left.values())),
            "turns": turns,
            "tables": hashes,
            "content_hash": hashlib.sha256(f"{digest} {hashes}".encode()).hexdigest()[:32],
        }
    )
    write_whole(whole.new / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    whole.commit()
    return gone


def _write_vectors(old: VectorTable, used: np.ndarray[tuple[int], np.dtype[np.bool_]], out: Path) -> str:
    """Write the keys and vectors that stay; return a hash of them."""
    keys = old.keys[used]
    np.save(out / KEYS, keys)
    digest = hashlib.sha256(keys.tobytes())
    shape = (len(keys), old.manifest.width)
    target = np.lib.format.open_memmap(out / VECTORS, "w+", np.float16, shape) if len(keys) else np.zeros(shape)
    if not len(keys):
        np.save(out / VECTORS, target.astype(np.float16))
    begin = 0
    for start in range(0, len(old), ROWS_AT_A_TIME):
        piece = np.ascontiguousarray(old.vectors[start : start + ROWS_AT_A_TIME][used[start : start + ROWS_AT_A_TIME]])
        target[begin : begin + len(piece)] = piece
        digest.update(piece.tobytes())
        begin += len(piece)
    if isinstance(target, np.memmap):
        target.flush()
    return digest.hexdigest()


def _renumbered(rows: pa.Table, moved: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
    """Return dialogues whose turns name the rows of the new table."""
    lists = rows["rows"].combine_chunks()
    flat = pa.array(moved[lists.flatten().to_numpy(zero_copy_only=False)], pa.int64())
    offsets = pc.subtract(lists.offsets, lists.offsets[0]) if len(lists) else lists.offsets
    again = type(lists).from_arrays(offsets, flat)
    return rows.set_column(rows.column_names.index("rows"), "rows", again.cast(lists.type))
