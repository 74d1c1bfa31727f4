"""Nearest-neighbour search, and the last step of every write: compact, index, measure recall, tag the version.

Below `EXACT_BELOW` rows, a search compares every vector. Above, vectors are split into partitions and compressed, and
the best candidates are compared again with their full vectors. The number of partitions to probe is measured, not
guessed: the smallest one that finds `TARGET_RECALL` of the true neighbours of real contexts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from turnloom.errors import TurnloomError
from turnloom.replies.manifest import (
    MANIFEST,
    AnnPlan,
    IndexManifest,
    IndexVersion,
    PendingWrite,
    TableVersion,
    write_checksums,
)
from turnloom.replies.store import Store, answered
from turnloom.runtime.protocols import Encoder, Vectors, is_made_for, unit_rows

PROBES = 256
"""The number of contexts to measure recall on."""
EXACT_BELOW = 6_000
"""LanceDB takes three times as long to compare 20,000 vectors as to query an index of 100,000."""
TARGET_RECALL = 0.97
CANDIDATES = 100
"""How many neighbours to look up and compare exactly, whatever `k` is."""
RECALL_AT = 10
ROWS_PER_PARTITION = 4_096
READ_AT_A_TIME = 16_384
TRAINING_ITERATIONS = 25
"""K-means iterations: half of LanceDB's default, since training dominates and codes are compared again exactly."""


def choose_plan(rows: int, dimension: int) -> AnnPlan:
    """Choose the index for a number of vectors; `tune` sets how many partitions to probe.

    Example:
        >>> choose_plan(5_000, 384).kind, choose_plan(1_000_000, 384).partitions
        ('exact', 244)
    """
    if rows < EXACT_BELOW:
        return AnnPlan(rows=rows)
    partitions = max(1, round(rows / ROWS_PER_PARTITION))
    # Two numbers in four bits take as many bytes as four in eight, with the same recall and half the comparison time.
    # The number of four-bit segments must be even.
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


def outgrown(plan: AnnPlan, rows: int) -> bool:
    """Whether the row count has changed so much that the index should be rebuilt."""
    return choose_plan(rows, 1).kind != plan.kind or not plan.rows / 2 <= rows <= plan.rows * 2


def create_vector_index(table: Any, plan: AnnPlan) -> None:
    """Create the index of a plan, replacing an older one."""
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
    """Return the nearest rows, best first, with `_distance` (1 - cosine) and `_rowid`."""
    query = reader.query().nearest_to(vector).column("vector").distance_type("cosine")
    if plan.kind == "ivf_pq":
        query = query.nprobes(plan.nprobes).refine_factor(1)
    if where:
        query = query.where(where)
    found: pa.Table = await query.select([*columns, "_distance"]).with_row_id().limit(limit).to_arrow()
    return found


def exact_neighbours(batches: Iterator[pa.RecordBatch], queries: Vectors, count: int = RECALL_AT) -> npt.NDArray[Any]:
    """Return the keys of each query's true nearest vectors, in one pass over batches of (key, vector)."""
    best = np.full((len(queries), count), -np.inf, np.float32)
    keys = np.zeros((len(queries), count), np.int64)
    for batch in batches:
        vectors = batch.column(1).flatten().to_numpy().reshape(-1, queries.shape[1])
        here = queries @ vectors.T
        # After the first batches, few vectors are among the best of any query. Sorting only those saves most time.
        better = np.flatnonzero((here > best[:, -1:]).any(axis=0))
        scores = np.concatenate([best, here[:, better]], axis=1)
        found = batch.column(0).to_numpy()[better]
        names = np.concatenate([keys, np.broadcast_to(found, (len(queries), len(better)))], 1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
        best, keys = np.take_along_axis(scores, order, 1), np.take_along_axis(names, order, 1)
    return keys


def tune(store: Store, table: Any, plan: AnnPlan, queries: Vectors, key: str) -> AnnPlan:
    """Find the smallest number of probes that reaches the target recall; vectors must have unit length."""
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


def create_scalar_indices(table: Any, occurrences: bool) -> None:
    """Create the indices for words and filters; compaction has already updated existing ones."""
    from lancedb.index import FTS, BTree, LabelList

    # ICU segments Chinese too. No stemming and no stop words, because an index may hold any language.
    words = FTS(base_tokenizer="icu", stem=False, remove_stop_words=False)
    wanted: dict[str, Any] = (
        {"reply": BTree(), "dialogue_id": BTree()}
        if occurrences
        else {"text": words, "key": BTree(), "sources": LabelList(), "domains": LabelList()}
    )
    there = {column for index in table.list_indices() for column in index.columns}
    for column, config in wanted.items():
        if column not in there:
            table.create_index(column, config=config)


def _probes(store: Store, occurrences: Any, encoder: Encoder) -> Vectors:
    """Encode a fixed sample of contexts."""
    rows = store.rows(occurrences, "array_length(context) > 0", ["occurrence", "context"])
    contexts = rows.sort_by("occurrence").slice(0, PROBES)["context"].to_pylist()
    return unit_rows(encoder.encode_query(contexts)) if contexts else np.zeros((0, 1), np.float32)


def _searched(
    store: Store, table: Any, older: AnnPlan | None, dimension: int, key: str, probes: Callable[[], Vectors]
) -> AnnPlan:
    """Return the plan for a table's vectors: rebuild the index if it is outgrown, then tune its probes."""
    rows = table.count_rows()
    plan = older
    if plan is None or outgrown(plan, rows):
        plan = choose_plan(rows, dimension)
        create_vector_index(table, plan)
    return plan if plan.kind == "exact" else tune(store, table, plan, probes(), key)


def finished_version(
    store: Store,
    manifest: IndexManifest,
    journal: PendingWrite,
    encoder: Encoder | None,
    on_progress: Callable[[str, float, str], None],
) -> IndexVersion:
    """Make the written tables ready for search, and tag them as a version.

    Idempotent: repeating it after a crash gives the same version. Without an encoder, indices and their measured recall
    are kept.
    """
    last = manifest.versions[-1] if manifest.versions else None
    number = last.number + 1 if last else 1
    replies, occurrences = store.open(journal.replies), store.open(journal.occurrences)
    on_progress("making indices", 0.0, "")
    for table in (replies, occurrences):
        store.compact(table)
        create_scalar_indices(table, table is occurrences)
    on_progress("making indices", 0.5, "measuring recall")
    if encoder is None:
        assert last is not None
        ann, contexts_ann = last.ann, last.contexts_ann
        model, fingerprint, dimension = last.model, last.fingerprint, last.dimension
    else:
        older = last if last and last.replies.name == journal.replies else None
        dimension = int(replies.schema.field("vector").type.list_size)

        def probes() -> Vectors:
            return _probes(store, occurrences, encoder)

        ann = _searched(store, replies, older.ann if older else None, dimension, "key", probes)
        contexts_ann = None
        if manifest.options.contexts:
            contexts_ann = _searched(
                store, occurrences, older.contexts_ann if older else None, dimension, "occurrence", probes
            )
        # Vectors added by an export still belong to its model, which can search them too.
        kept = older if older and is_made_for(encoder, older.fingerprint) else None
        model, fingerprint = (kept.model, kept.fingerprint) if kept else (encoder.name, encoder.fingerprint)
    on_progress("making indices", 1.0, "")
    tables = [
        TableVersion(name=table.name, version=store.tag(table, f"v{number}"), rows=table.count_rows())
        for table in (replies, occurrences)
    ]
    return IndexVersion(
        number=number,
        what=journal.what,
        job=journal.job,
        model=model,
        fingerprint=fingerprint,
        dimension=dimension,
        replies=tables[0],
        occurrences=tables[1],
        ann=ann,
        contexts_ann=contexts_ann,
    )


def prune_versions(folder: Path, store: Store, manifest: IndexManifest, keep: int) -> list[int]:
    """Remove all but the last versions and free their space; return the removed numbers."""
    if keep < 1:
        raise TurnloomError(f"{keep} versions cannot be kept", "keep at least 1")
    gone = [version.number for version in manifest.versions[:-keep]]
    manifest.versions = manifest.versions[-keep:]
    manifest.write(folder / MANIFEST)
    kept: dict[str, set[str]] = {}
    for version in manifest.versions:
        for table in (version.replies, version.occurrences):
            kept.setdefault(table.name, set()).add(f"v{version.number}")
    for name in store.names():
        if name in kept:
            store.forget(store.open(name), kept[name])
        else:
            store.drop(name)
    write_checksums(folder)
    return gone
