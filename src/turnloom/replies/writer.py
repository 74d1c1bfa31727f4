"""Write to an index in ranges of keys. After an interruption, the same call resumes.

Nothing is ever incremented. Occurrences are merged by their names, and what is known of a reply is computed from all
its occurrences; so a range that was half written, or written but not noted, is simply written again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.table import Workspace, read_manifest
from turnloom.errors import TurnloomError
from turnloom.replies.ann import finished_version
from turnloom.replies.manifest import (
    JOURNAL,
    MANIFEST,
    IndexManifest,
    IndexVersion,
    PendingWrite,
    read_pending,
    write_checksums,
)
from turnloom.replies.occurrences import KeyRanges, group_occurrences, read_range, stage_occurrences
from turnloom.replies.store import Store, occurrence_schema, reply_schema, vector_array
from turnloom.runtime.protocols import Encoder, Progress, Vectors, is_made_for, unit_rows, wrong_model

MOST_RANGES = 2_000
CONTEXTS_KEPT = 1_000
"""About how many contexts to keep for measuring recall in an index without context vectors."""
WORK = ".work"
GROUPED = ("occurrence", "reply", "dialogue_id", "source", "turn", "domains")


def model_mismatch(folder: Path, version: IndexVersion, encoder: Encoder) -> TurnloomError:
    """The error for mixing vectors of two models."""
    fix = f"use that model, or make new vectors with: turnloom replies reembed {folder} --model MODEL"
    return wrong_model(folder, version.model, version.fingerprint, encoder, fix)


def _job(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class IndexWriter:
    """Adds to an index, deletes from it, and encodes it again. One writer at a time: see `sole_writer`.

    Only a delete works without an encoder.
    """

    def __init__(
        self, folder: Path, manifest: IndexManifest, encoder: Encoder | None, on_progress: Progress = lambda *_: None
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.store = Store(folder)
        self._encoder = encoder
        self._progress = on_progress

    @property
    def _last(self) -> IndexVersion | None:
        return self.manifest.versions[-1] if self.manifest.versions else None

    @property
    def encoder(self) -> Encoder:
        """The encoder, which every write but a delete needs."""
        assert self._encoder is not None
        return self._encoder

    def add_job(self, tables: Sequence[Path]) -> str:
        """Identify the addition of these tables."""
        last = self._last
        kept = last is not None and is_made_for(self.encoder, last.fingerprint)
        fingerprint = last.fingerprint if last is not None and kept else self.encoder.fingerprint
        return _job("add", sorted(read_manifest(table).content_hash for table in tables), fingerprint)

    def add(self, tables: Sequence[Path], shard_size: int) -> bool:
        """Add the replies of dialogue tables; return False if that was the last write."""
        turns = sum(read_manifest(table).turns for table in tables)
        options = self.manifest.options
        if self._last is not None and not is_made_for(self.encoder, self._last.fingerprint):
            raise model_mismatch(self.folder, self._last, self.encoder)
        journal = self._begin(
            PendingWrite(
                operation="add",
                job=self.add_job(tables),
                what=f"add of {', '.join(map(str, tables))} with {self.encoder.name}",
                fingerprint=self.encoder.fingerprint,
                replies=self._last.replies.name if self._last else "replies_1",
                occurrences=self._last.occurrences.name if self._last else "occurrences_1",
                ranges=min(MOST_RANGES, 1 + turns // shard_size),
            )
        )
        if journal is None:
            return False
        every = 1 if options.contexts else max(1, turns // CONTEXTS_KEPT)
        self._progress("reading dialogues", 0.0, "")
        work = Workspace(self.folder / WORK, journal.job)
        staged = work.step("occurrences", lambda out: stage_occurrences(tables, out, options, journal.ranges, every))
        self._progress("reading dialogues", 1.0, "")
        if not any(staged.rglob("*.parquet")) and self._last is None:
            shutil.rmtree(self.folder)
            raise TurnloomError(f"{tables[0]} holds no replies", "name the speakers who answer, or take everyone's")
        dimension = self._dimension()
        replies = self.store.create(journal.replies, reply_schema(dimension))
        occurrences = self.store.create(journal.occurrences, occurrence_schema(dimension if options.contexts else None))
        self._each_range(
            journal, "indexing replies", lambda number: self._add_range(journal, staged, number, replies, occurrences)
        )
        self._finish(journal)
        return True

    def _add_range(self, journal: PendingWrite, staged: Path, number: int, replies: Any, occurrences: Any) -> None:
        rows = read_range(staged, number)
        if not len(rows):
            return
        ranges = KeyRanges(journal.ranges)
        known = self.store.rows(occurrences, ranges.predicate("reply", number), GROUPED)
        fresh = rows.filter(pc.invert(pc.is_in(rows["occurrence"], known["occurrence"].combine_chunks())))
        with_contexts = self.manifest.options.contexts
        self.store.upsert(occurrences, self._with_vectors(fresh, "context") if with_contexts else fresh, "occurrence")
        grouped = group_occurrences(pa.concat_tables([known, fresh.select(GROUPED)]))
        self._write_replies(replies, grouped, rows, ranges.predicate("key", number))

    def _write_replies(self, replies: Any, grouped: pa.Table, said: pa.Table, condition: str) -> None:
        """Write the rows of these replies; a known reply keeps its text and vector."""
        grouped = grouped.filter(pc.is_in(grouped["key"], said["reply"].combine_chunks()))
        known = self.store.rows(replies, condition, ["key", "text", "vector"])
        known = known.filter(pc.is_in(known["key"], grouped["key"].combine_chunks()))
        _, firsts = np.unique(said["reply"].to_numpy(), return_index=True)
        new = said.take(pa.array(firsts)).select(["reply", "text"]).rename_columns(["key", "text"])
        new = new.filter(pc.invert(pc.is_in(new["key"], known["key"].combine_chunks())))
        if len(new):
            known = pa.concat_tables([known, self._with_vectors(new, "text").cast(known.schema)])
        self.store.upsert(replies, beside(grouped, known), "key")

    def delete(self, condition: str, what: str) -> bool:
        """Delete occurrences, and replies without any left; return False if that was the last write."""
        last = self._whole()
        occurrences = self.store.open(last.occurrences.name)
        replies = self.store.open(last.replies.name)
        keys = self.store.rows(occurrences, condition, ["reply"])["reply"].unique().to_pylist()
        journal = self._begin(
            PendingWrite(
                operation="delete",
                job=_job("delete", condition),
                what=what,
                replies=last.replies.name,
                occurrences=last.occurrences.name,
                condition=condition,
                keys=keys,
            )
        )
        if journal is None:
            return False
        occurrences.delete(journal.condition)
        left = group_occurrences(self.store.rows_with(occurrences, "reply", journal.keys, GROUPED))
        gone = sorted(set(journal.keys) - set(left["key"].to_pylist()))
        self.store.delete_with(replies, "key", gone)
        known = self.store.rows_with(replies, "key", left["key"].to_pylist(), ["key", "text", "vector"])
        self.store.upsert(replies, beside(left, known), "key")
        self._finish(journal)
        return True

    def reembed(self, shard_size: int) -> bool:
        """Encode everything again with another encoder; return False if the vectors are already its own."""
        last = self._whole()
        if self._pending() is None and last.fingerprint == self.encoder.fingerprint:
            return False
        contexts, number = self.manifest.options.contexts, last.number + 1
        journal = self._begin(
            PendingWrite(
                operation="reembed",
                job=_job("reembed", last.number, self.encoder.fingerprint),
                what=f"new vectors by {self.encoder.name}",
                fingerprint=self.encoder.fingerprint,
                replies=f"replies_{number}",
                occurrences=f"occurrences_{number}" if contexts else last.occurrences.name,
                ranges=min(MOST_RANGES, 1 + last.replies.rows // shard_size),
            )
        )
        if journal is None:
            return False
        dimension = self._dimension()
        # Read the finished version, whatever unfinished writes have begun on its tables.
        replies = self.store.create(journal.replies, reply_schema(dimension))
        copies: list[tuple[str, Literal["text", "context"], Any, Any]] = [("key", "text", last.replies, replies)]
        if contexts:
            known = self.store.open(last.occurrences.name, last.occurrences.version).schema.names
            fields = [field for field in occurrence_schema(dimension) if field.name in (*known, "vector")]
            table = self.store.create(journal.occurrences, pa.schema(fields))
            copies.append(("reply", "context", last.occurrences, table))

        def copy_range(number: int) -> None:
            for key, column, old, new in copies:
                condition = KeyRanges(journal.ranges).predicate(key, number)
                columns = [name for name in new.schema.names if name != "vector"]
                rows = self.store.rows(self.store.open(old.name, old.version), condition, columns)
                self.store.upsert(new, self._with_vectors(rows, column), rows.column_names[0])

        self._each_range(journal, "embedding replies", copy_range)
        self._finish(journal)
        return True

    def rollback(self) -> str | None:
        """Undo the unfinished write, and return its description; None if there is none."""
        journal = self._pending()
        if journal is None:
            return None
        used = {table.name for version in self.manifest.versions for table in (version.replies, version.occurrences)}
        for name in set(self.store.names()) - used:
            self.store.drop(name)
        if self._last is None:
            (self.folder / MANIFEST).unlink()
        else:
            for table in (self._last.replies, self._last.occurrences):
                self.store.open(table.name).restore(table.version)
        write_checksums(self.folder)
        self._clean()
        return journal.what

    def _whole(self) -> IndexVersion:
        if self._last is None:
            raise TurnloomError(f"{self.folder} is not built yet", "finish it with: turnloom replies build")
        return self._last

    def _dimension(self) -> int:
        return int(self.encoder.encode_document(["turnloom"]).shape[1])

    def _with_vectors(self, rows: pa.Table, column: Literal["text", "context"]) -> pa.Table:
        """Add the vectors of replies or contexts to the rows."""
        if not len(rows):
            return rows
        encode: Callable[..., Vectors] = self.encoder.encode_document if column == "text" else self.encoder.encode_query
        return rows.append_column("vector", vector_array(unit_rows(encode(rows[column].to_pylist()))))

    def _pending(self) -> PendingWrite | None:
        """Return the unfinished write; one that was killed after its last step counts as finished."""
        pending = read_pending(self.folder)
        if pending is not None and self._last is not None and self._last.job == pending.job:
            self._clean()
            return None
        return pending

    def refuse_unfinished(self) -> None:
        """Raise an error if there is an unfinished write."""
        pending = self._pending()
        if pending is not None:
            raise TurnloomError(
                f"{self.folder} has a write that is not finished ({pending.what})",
                f"run it again, or undo it with: turnloom replies rollback {self.folder}",
            )

    def _begin(self, wanted: PendingWrite) -> PendingWrite | None:
        """Start or resume the journal of this write; None if it was the last write."""
        pending = self._pending()
        if pending is not None and pending.job == wanted.job:
            return pending
        self.refuse_unfinished()
        if self._last is not None and self._last.job == wanted.job:
            return None
        wanted.write(self.folder / JOURNAL)
        return wanted

    def _each_range(self, journal: PendingWrite, step: str, write: Callable[[int], None]) -> None:
        for number in range(journal.ranges):
            if number not in journal.done:
                write(number)
                journal.done.append(number)
                journal.write(self.folder / JOURNAL)
            self._progress(step, (number + 1) / journal.ranges, f"part {number + 1} of {journal.ranges}")

    def _finish(self, journal: PendingWrite) -> None:
        version = finished_version(self.store, self.manifest, journal, self._encoder, self._progress)
        self.manifest.versions.append(version)
        self.manifest.write(self.folder / MANIFEST)
        write_checksums(self.folder)
        self._clean()

    def _clean(self) -> None:
        shutil.rmtree(self.folder / WORK, ignore_errors=True)
        (self.folder / JOURNAL).unlink(missing_ok=True)


def beside(grouped: pa.Table, known: pa.Table) -> pa.Table:
    """Join the texts and vectors of replies to their counts."""
    texts = known.take(pc.index_in(grouped["key"], known["key"].combine_chunks()))
    return grouped.append_column("text", texts["text"]).append_column("vector", texts["vector"])
