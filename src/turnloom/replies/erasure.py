"""Erase conversations from an index: its tables are written again without them, and everything older is removed.

Deleting rows would leave them in data files until these are compacted, in older versions, in the indices for words and
filters, and in the log of transactions.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.erasure import Conversation, Erased, Erasure
from turnloom.errors import TurnloomError
from turnloom.replies.ann import choose_plan, create_scalar_indices, create_vector_index, outgrown
from turnloom.replies.manifest import (
    MANIFEST,
    AnnPlan,
    IndexManifest,
    IndexVersion,
    TableVersion,
    read_index_manifest,
    sole_writer,
    write_checksums,
)
from turnloom.replies.occurrences import group_occurrences, speaker_keys
from turnloom.replies.store import KEYS_AT_A_TIME, Store, quoted
from turnloom.replies.writer import GROUPED, WORK, IndexWriter, beside

ROWS_AT_A_TIME = 8_192


def find_in_index(folder: Path, erasure: Erasure) -> Erased:
    """Find what an index has of the conversations to be erased, in whatever version.

    Raises:
        TurnloomError: If speakers are named and the index does not know who spoke.
    """
    manifest, store = read_index_manifest(folder), Store(folder)
    found: set[Conversation] = set()
    for name in sorted({version.occurrences.name for version in manifest.versions}):
        for version in store.open(name).list_versions():
            found |= _matches(store, store.open(name, version["version"]), erasure, folder)
    return _said(store, manifest.versions[-1], erasure.plus(found)) if found else Erased()


def erase_from_index(folder: Path, erasure: Erasure) -> None:
    """Erase conversations from an index and all of its versions; only one new version remains.

    Raises:
        TurnloomError: If another process writes to the index, or a write is not finished.
    """
    with sole_writer(folder):
        manifest = read_index_manifest(folder)
        IndexWriter(folder, manifest, None).refuse_unfinished()
        shutil.rmtree(folder / WORK, ignore_errors=True)
        store = Store(folder)
        _drop_unlisted(store, manifest)
        conversations = find_in_index(folder, erasure).conversations
        if conversations:
            manifest.versions = [_written_again(store, manifest, erasure.plus(conversations))]
            manifest.write(folder / MANIFEST)
            _drop_unlisted(store, manifest)
        write_checksums(folder)


def _drop_unlisted(store: Store, manifest: IndexManifest) -> None:
    """Remove tables of no version, such as those that an interrupted erasure has left."""
    listed = {table.name for version in manifest.versions for table in (version.replies, version.occurrences)}
    for name in set(store.names()) - listed:
        store.drop(name)


def _matches(store: Store, table: Any, erasure: Erasure, folder: Path) -> set[Conversation]:
    names = sorted({*erasure.ids, *(one.dialogue_id for one in erasure.conversations)})
    conditions = [
        f"dialogue_id IN ({', '.join(map(quoted, names[start : start + KEYS_AT_A_TIME]))})"
        for start in range(0, len(names), KEYS_AT_A_TIME)
    ]
    spoke = ""
    if erasure.speakers:
        if "speakers" not in table.schema.names:
            raise TurnloomError(f"{folder} does not know who spoke", "build it again, or name the conversations")
        keys = speaker_keys(pa.array(sorted(erasure.speakers), pa.large_string()))
        spoke = f"array_has_any(speakers, [{', '.join(map(str, keys.tolist()))}])"
    found = set()
    for condition in [*conditions, spoke] if spoke else conditions:
        rows = store.rows(table, condition, ["dialogue_id", "source"])
        for name, source in zip(rows["dialogue_id"].to_pylist(), rows["source"].to_pylist(), strict=True):
            if erasure.names(source, name, erasure.speakers if condition is spoke else ()):
                found.add(Conversation(source, name))
    return found


def _said(store: Store, last: IndexVersion, erasure: Erasure) -> Erased:
    """Return what was said in conversations, as far as the last version has it."""
    occurrences = store.open(last.occurrences.name, last.occurrences.version)
    replies = store.open(last.replies.name, last.replies.version)
    keys: set[int] = set()
    texts: set[str] = set()
    for gone, _ in _divided(store, occurrences, erasure):
        keys.update(gone["reply"].to_pylist())
        texts.update(gone["context"].flatten().to_pylist())
    texts.update(store.rows_with(replies, "key", sorted(keys), ["text"])["text"].to_pylist())
    wanted, shared, others = pa.array(sorted(texts), pa.string()), set[str](), set[int]()
    for _, left in _divided(store, occurrences, erasure):
        context = left["context"].flatten()
        shared.update(context.filter(pc.is_in(context, value_set=wanted)).to_pylist())
        others.update(left["reply"].filter(pc.is_in(left["reply"], value_set=pa.array(keys, pa.int64()))).to_pylist())
    shared.update(store.rows_with(replies, "key", sorted(others), ["text"])["text"].to_pylist())
    return Erased(erasure.conversations, frozenset(texts - shared), frozenset(shared))


def _divided(store: Store, table: Any, erasure: Erasure) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Iterate over the rows of a table: those that go, and those that stay."""
    for batch in store.batches(table, table.schema.names, ROWS_AT_A_TIME):
        rows = batch.select(table.schema.names).cast(table.schema)
        gone = pa.array(erasure.rows(pa.Table.from_batches([rows])))
        yield rows.filter(gone), rows.filter(pc.invert(gone))


def _written_again(store: Store, manifest: IndexManifest, erasure: Erasure) -> IndexVersion:
    """Write both tables of the last version again, and return the new version."""
    last = manifest.versions[-1]
    number = last.number + 1
    old_occurrences = store.open(last.occurrences.name, last.occurrences.version)
    old_replies = store.open(last.replies.name, last.replies.version)
    keys: set[int] = set()

    def other_occurrences() -> Iterator[pa.RecordBatch]:
        for gone, left in _divided(store, old_occurrences, erasure):
            keys.update(gone["reply"].to_pylist())
            yield left

    occurrences = store.write(f"occurrences_{number}", old_occurrences.schema, other_occurrences())
    counted_again = pa.array(sorted(keys), pa.int64())
    left = group_occurrences(store.rows_with(occurrences, "reply", sorted(keys), GROUPED))
    before = store.rows_with(old_replies, "key", sorted(keys), ["key", "text", "vector"])

    def other_replies() -> Iterator[pa.RecordBatch]:
        for batch in store.batches(old_replies, old_replies.schema.names, ROWS_AT_A_TIME):
            rows = batch.select(old_replies.schema.names).cast(old_replies.schema)
            yield rows.filter(pc.invert(pc.is_in(rows["key"], value_set=counted_again)))
        yield from beside(left, before).select(old_replies.schema.names).cast(old_replies.schema).to_batches()

    replies = store.write(f"replies_{number}", old_replies.schema, other_replies())
    return last.model_copy(
        update={
            "number": number,
            "when": IndexVersion.model_fields["when"].get_default(call_default_factory=True),
            "what": "erasure",
            "job": f"erasure {number}",
            "ann": _indexed(store, replies, last.ann, last.dimension, occurrences=False),
            "contexts_ann": _indexed(store, occurrences, last.contexts_ann, last.dimension, occurrences=True),
            "replies": _tagged(store, replies, number),
            "occurrences": _tagged(store, occurrences, number),
        }
    )


def _indexed(store: Store, table: Any, plan: AnnPlan | None, dimension: int, *, occurrences: bool) -> Any:
    """Make the indices of a table; without an encoder, the number of probes is kept, not measured again."""
    store.compact(table)
    create_scalar_indices(table, occurrences)
    if plan is None:
        return None
    rows = table.count_rows()
    plan = choose_plan(rows, dimension) if outgrown(plan, rows) else plan
    create_vector_index(table, plan)
    return plan


def _tagged(store: Store, table: Any, number: int) -> TableVersion:
    return TableVersion(name=table.name, version=store.tag(table, f"v{number}"), rows=table.count_rows())
