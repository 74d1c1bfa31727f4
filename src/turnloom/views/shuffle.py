"""Shuffle rows, and write them as shards.

A row's position depends only on the row and the seed, not on when it is processed. Daft streams each row to the bucket
of its range; then we sort and append one bucket after another. This is a global sort that never holds more than one
bucket in memory.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from turnloom.corpus.turn_arrays import mix

Keys = npt.NDArray[np.uint64]
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
TEXTS_PER_BUCKET = 500_000
"""Context turns plus replies per bucket: some 50 MB, held a few times over."""
MOST_BUCKETS = 2_000
"""Each worker has one open file per bucket."""
SHARD_BYTES = 256 * 2**20
"""Text bytes in memory per shard; dialogue takes about a third of that on disk."""
SHARD_ROWS = 1_000_000
ROWS_PER_ROW_GROUP = 50_000

_NARROW = {"context": pa.list_(pa.string()), "reply": pa.string(), "negative": pa.string(), "source": pa.string()}


def seeded(keys: Keys, seed: int, purpose: str, number: npt.NDArray[np.int64] | int = 0) -> Keys:
    """Return uniform 64-bit numbers, independent for each seed, purpose and number.

    Example:
        >>> keys = np.array([1, 2], np.uint64)
        >>> bool((seeded(keys, 0, "order") == seeded(keys, 1, "order")).any())
        False
    """
    salt = np.uint64(int.from_bytes(hashlib.sha256(f"{purpose} {seed}".encode()).digest()[:8], "big"))
    return mix(mix(keys ^ salt) + _MULTIPLIER * np.asarray(number).astype(np.uint64))


def copies(keys: Keys, weights: npt.NDArray[np.float64], seed: int) -> tuple[npt.NDArray[np.int64], Keys]:
    """Return the index of each sampled row, repeated by weight, and its position in the shuffled order.

    A row of weight 2.3 is taken twice, and a third time with probability 0.3. Copies of a row end up far apart.
    """
    lots = seeded(keys, seed, "weight") / 2.0**64
    counts = (np.floor(weights) + (lots < weights % 1)).astype(np.int64)
    index = np.repeat(np.arange(len(keys)), counts)
    copy = np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts)
    return index, seeded(keys[index], seed, "order", copy)


def bucket_count(texts: int, groups: int = 1) -> int:
    """Return how many buckets to spread each group over.

    Example:
        >>> bucket_count(0), bucket_count(2_000_000), bucket_count(10**10, groups=2)
        (1, 4, 1000)
    """
    return min(max(1, -(-texts // TEXTS_PER_BUCKET)), max(1, MOST_BUCKETS // groups))


def _bucket(folder: Path, number: int, one_per_text: bool) -> pa.Table | None:
    """Read a bucket's rows in order."""
    files = sorted((folder / f"bucket={number}").glob("*.parquet"))
    if not files:
        return None
    rows = pa.concat_tables([pq.read_table(file, partitioning=None) for file in files])
    # The source decides which of several equal rows comes first, and which one stays if only one does.
    rows = rows.take(pc.sort_indices(rows, [("order", "ascending"), ("source", "ascending")]))
    if one_per_text:
        order = rows["order"].to_numpy()
        first = np.ones(len(order), bool)
        first[1:] = order[1:] != order[:-1]
        rows = rows.filter(pa.array(first))
    return rows.drop_columns([name for name in ("order", "bucket", "response") if name in rows.column_names])


class _Shards:
    """A growing sequence of Parquet files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer: pq.ParquetWriter | None = None
        self._files = self._rows = self._bytes = 0

    def append(self, rows: pa.Table) -> None:
        """Write one row group; start a new file when the last one is full."""
        if self._writer is None:
            path = self._folder / f"part-{self._files:05}.parquet"
            # Texts hardly repeat, so dictionaries would only cost time.
            self._writer = pq.ParquetWriter(path, rows.schema, compression="zstd", use_dictionary=["source"])
            self._files += 1
        self._writer.write_table(rows, row_group_size=ROWS_PER_ROW_GROUP)
        self._rows += len(rows)
        self._bytes += rows.nbytes
        if self._rows >= SHARD_ROWS or self._bytes >= SHARD_BYTES:
            self.close()

    def close(self) -> None:
        """Finish the current file."""
        if self._writer is not None:
            self._writer.close()
        self._writer, self._rows, self._bytes = None, 0, 0


def write_shards(
    buckets: Path,
    numbers: range,
    out: Path,
    columns: list[str],
    *,
    one_per_text: bool = False,
    limit: int | None = None,
    on_bucket: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Sort the buckets of a group and write them as Parquet files; return the row count per source."""
    out.mkdir(parents=True, exist_ok=True)
    shards, counts = _Shards(out), Counter[str]()
    for number in numbers:
        left = None if limit is None else limit - counts.total()
        rows = None if left == 0 else _bucket(buckets, number, one_per_text)
        if rows is not None:
            rows = rows.slice(0, left)
            found = pc.value_counts(rows["source"])
            counts.update(dict(zip(found.field("values").to_pylist(), found.field("counts").to_pylist(), strict=True)))
            rows = rows.select(columns)
            # Convert Daft's large types to the standard ones that every reader supports.
            schema = pa.schema([(field.name, _NARROW.get(field.name, field.type)) for field in rows.schema])
            for start in range(0, len(rows), ROWS_PER_ROW_GROUP):
                shards.append(rows.slice(start, ROWS_PER_ROW_GROUP).cast(schema).combine_chunks())
        on_bucket()
    shards.close()
    return dict(sorted(counts.items()))
