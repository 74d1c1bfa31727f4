"""Versions: made as the last step of every write (compacted, indexed, measured and named), and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.replies.ann import AnnPlan, choose_plan, create_vector_index, tune
from turnloom.replies.manifest import MANIFEST, IndexManifest, IndexVersion, Journal, TableVersion
from turnloom.replies.store import Store
from turnloom.runtime.protocols import Encoder, Vectors, is_made_for, unit_rows

__all__ = ["finished_version", "prune_versions"]

PROBES = 256
"""On so many contexts recall is measured."""


def _scalar_indices(table: Any, occurrences: bool) -> None:
    """Words and conditions; those that are there already were brought up to date by compaction."""
    from lancedb.index import FTS, BTree, LabelList

    # ICU cuts Chinese into words too. No stemming and no stop words: an index may hold any language.
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
    """The vectors of a fixed choice of contexts."""
    rows = store.rows(occurrences, "array_length(context) > 0", ["occurrence", "context"])
    contexts = rows.sort_by("occurrence").slice(0, PROBES)["context"].to_pylist()
    return unit_rows(encoder.encode_query(contexts)) if contexts else np.zeros((0, 1), np.float32)


def _searched(
    store: Store, table: Any, older: AnnPlan | None, dimension: int, key: str, probes: Callable[[], Vectors]
) -> AnnPlan:
    """The index of a table's vectors: the older one unless it is outgrown; then how far to look in it."""
    rows = table.count_rows()
    plan = older
    if plan is None or plan.outgrown(rows):
        plan = choose_plan(rows, dimension)
        create_vector_index(table, plan)
    return plan if plan.kind == "exact" else tune(store, table, plan, probes(), key)


def finished_version(
    store: Store,
    manifest: IndexManifest,
    journal: Journal,
    encoder: Encoder | None,
    on_progress: Callable[[str, float, str], None],
) -> IndexVersion:
    """Make the tables that were written to ready for searching, and name the version that they are.

    Done again after a kill it gives the same. Without an encoder, indices and what is known of their recall stay.
    """
    last = manifest.versions[-1] if manifest.versions else None
    number = last.number + 1 if last else 1
    replies, occurrences = store.open(journal.replies), store.open(journal.occurrences)
    on_progress("making indices", 0.0, "")
    for table in (replies, occurrences):
        store.compact(table)
        _scalar_indices(table, table is occurrences)
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
        # An export that adds to its model's vectors does not make them its own: the model can still search them.
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
    """Forget all but the last versions, and free their space; the numbers of those that are gone."""
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
    return gone
