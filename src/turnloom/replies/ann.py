"""How nearest neighbours are found: which index for which size, and how far it has to look for a given recall.

Up to `EXACT_BELOW` rows every vector is compared. Above, vectors are spread over partitions and stored in few bytes
each; the best candidates are compared again with their full vectors. How many partitions a search has to look into is
not guessed: it is the smallest number that finds `TARGET_RECALL` of the true neighbours of real contexts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from turnloom.replies.store import Store, answered
from turnloom.runtime.protocols import Vectors

__all__ = ["CANDIDATES", "AnnPlan", "choose_plan", "create_vector_index", "exact_neighbours", "nearest", "tune"]

EXACT_BELOW = 6_000
"""Comparing 20,000 vectors takes LanceDB three times as long as asking an index of 100,000."""
TARGET_RECALL = 0.97
CANDIDATES = 100
"""How many neighbours are looked up, and compared exactly, whatever number is asked for in the end."""
RECALL_AT = 10
ROWS_PER_PARTITION = 4_096
READ_AT_A_TIME = 16_384
TRAINING_ITERATIONS = 25
"""Of k-means, half of LanceDB's own number: codes are compared again exactly, and training takes most of the time."""


class AnnPlan(BaseModel):
    """How one column of vectors is searched.

    Attributes:
        kind: "exact" compares all vectors, "ivf_pq" those of the nearest partitions by their codes.
        rows: How many rows there were when it was chosen.
        partitions: How many there are.
        sub_vectors: How many parts a vector's code has.
        bits: How many bits a part has.
        nprobes: How many partitions are looked into.
        recall: The part of the true ten nearest replies that is found, measured.
        probes: On how many contexts that was measured; 0 if there were none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["exact", "ivf_pq"] = "exact"
    rows: int = 0
    partitions: int = 0
    sub_vectors: int = 0
    bits: Literal[4, 8] = 8
    nprobes: int = 0
    recall: float | None = 1.0
    probes: int = 0

    def outgrown(self, rows: int) -> bool:
        """Whether an index made for fewer or more rows should be made anew."""
        return choose_plan(rows, 1).kind != self.kind or not self.rows / 2 <= rows <= self.rows * 2


def choose_plan(rows: int, dimension: int) -> AnnPlan:
    """The index for a number of vectors; how far to look is for `tune` to say.

    Example:
        >>> choose_plan(5_000, 384).kind, choose_plan(1_000_000, 384).partitions
        ('exact', 244)
    """
    if rows < EXACT_BELOW:
        return AnnPlan(rows=rows)
    partitions = max(1, round(rows / ROWS_PER_PARTITION))
    # Two numbers in four bits: as many bytes as four in eight, the same recall, and compared in half the time. Parts of
    # four bits have to be even in number.
    sub_vectors = dimension if dimension % 4 else dimension // 2
    return AnnPlan(
        kind="ivf_pq",
        rows=rows,
        partitions=partitions,
        sub_vectors=sub_vectors,
        bits=8 if sub_vectors % 2 else 4,
        nprobes=min(8, partitions),
        recall=None,
    )


def create_vector_index(table: Any, plan: AnnPlan) -> None:
    """Make the index that a plan asks for, in place of an older one."""
    from lancedb.index import IvfPq

    if plan.kind == "ivf_pq":
        config = IvfPq(
            distance_type="cosine",
            num_partitions=plan.partitions,
            num_sub_vectors=plan.sub_vectors,
            num_bits=plan.bits,
            max_iterations=TRAINING_ITERATIONS,
        )
        table.create_index("vector", config=config, replace=True)


async def nearest(
    reader: Any, vector: Vectors, plan: AnnPlan, *, limit: int, columns: list[str], where: str | None = None
) -> pa.Table:
    """The nearest rows with `_distance`, which is 1 less the cosine, and `_rowid`; the best first."""
    query = reader.query().nearest_to(vector).column("vector").distance_type("cosine")
    if plan.kind == "ivf_pq":
        query = query.nprobes(plan.nprobes).refine_factor(1)
    if where:
        query = query.where(where)
    found: pa.Table = await query.select([*columns, "_distance"]).with_row_id().limit(limit).to_arrow()
    return found


def exact_neighbours(batches: Iterator[pa.RecordBatch], queries: Vectors, count: int = RECALL_AT) -> npt.NDArray[Any]:
    """The keys (a batch's first column) of the true nearest vectors (its second) of each query, in one pass."""
    best = np.full((len(queries), count), -np.inf, np.float32)
    keys = np.zeros((len(queries), count), np.int64)
    for batch in batches:
        vectors = batch.column(1).flatten().to_numpy().reshape(-1, queries.shape[1])
        scores = np.concatenate([best, queries @ vectors.T], axis=1)
        names = np.concatenate([keys, np.broadcast_to(batch.column(0).to_numpy(), (len(queries), len(vectors)))], 1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
        best, keys = np.take_along_axis(scores, order, 1), np.take_along_axis(names, order, 1)
    return keys


def tune(store: Store, table: Any, plan: AnnPlan, queries: Vectors, key: str) -> AnnPlan:
    """The plan with as many probes as the recall asks for, and the recall that was measured.

    Args:
        store: The table's database.
        table: A table with vectors of length one.
        plan: What its index was made by.
        queries: Vectors of contexts, of length one.
        key: The column that rows are told apart by.
    """
    if plan.kind == "exact" or not len(queries):
        return plan
    truth = exact_neighbours(store.batches(table, [key, "vector"], READ_AT_A_TIME), queries)
    reader = store.reader(table.name, table.version)
    nprobes, tried = 0, plan
    while nprobes < plan.partitions and (not nprobes or (tried.recall or 0) < TARGET_RECALL):
        nprobes = min(max(4, nprobes * 5 // 4), plan.partitions)
        tried = plan.model_copy(update={"nprobes": nprobes})
        rows = [answered(nearest(reader, query, tried, limit=CANDIDATES, columns=[key])) for query in queries]
        found = [each[key].to_pylist() for each in rows]
        hits = [len(set(keys[:RECALL_AT]) & set(true.tolist())) for keys, true in zip(found, truth, strict=True)]
        tried = tried.model_copy(update={"recall": float(np.mean(hits)) / RECALL_AT, "probes": len(queries)})
    return tried
