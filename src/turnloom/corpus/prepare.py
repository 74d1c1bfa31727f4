"""From a dialogue table to one that can be trained on: clean, without copies, private, free of benchmark material."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import turnloom
from turnloom.corpus.clean import clean, count_merged_turns, merge_turns, with_text_keys
from turnloom.corpus.decontaminate import cut_dialogues, overlap_counts
from turnloom.corpus.dedup import (
    NearOptions,
    copies_in,
    near_copies,
    shared_groups,
    twins_in,
    with_bands,
    without,
    without_keys,
)
from turnloom.corpus.engine import daft, frugally
from turnloom.corpus.fingerprint import with_row_keys
from turnloom.corpus.frequency import response_frequencies
from turnloom.corpus.holdout import HoldOut, load_hold_out
from turnloom.corpus.privacy import personal_counts, scrubbed
from turnloom.corpus.schema import ARROW_SCHEMA, SCHEMA_VERSION
from turnloom.corpus.stages import Workspace
from turnloom.corpus.table import MANIFEST, WORK, Manifest, TableWriter, read_manifest, read_table

__all__ = ["PrepareOptions", "prepare"]


class PrepareOptions(BaseModel):
    """What `prepare` does.

    Attributes:
        min_turns: Dialogues with fewer turns are dropped.
        merge_speakers: Whether consecutive turns of one speaker become one.
        exact_duplicates: Whether dialogues with the texts of another one are dropped. If not, and one of them goes as
            a near duplicate of another text, its copies go too.
        near_duplicates: When dialogues that are nearly equal to another one are dropped; None for never.
        scrub: Whether personal data becomes placeholders.
        names_model: A spaCy model, by name or path, to find names and addresses with; None for neither.
        hold_out: Names of public sets whose evaluation splits are cut out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_turns: int = Field(2, ge=1)
    merge_speakers: bool = False
    exact_duplicates: bool = True
    near_duplicates: NearOptions | None = Field(default_factory=NearOptions)
    scrub: bool = True
    names_model: str | None = None
    hold_out: tuple[str, ...] = ()


class _Job:
    """One run over one input: its plan, its steps and what they counted."""

    def __init__(self, source: Path, options: PrepareOptions, work: Workspace) -> None:
        self.options = options
        self.work = work
        self.manifest = read_manifest(source)
        # Turns as they were said: hold-out compares these with a benchmark's, which has no merged turns.
        self.cleaned = with_row_keys(clean(read_table(source)))
        if options.merge_speakers:
            self.cleaned = count_merged_turns(self.cleaned)
        self.hold_out: HoldOut | None = load_hold_out(list(options.hold_out)) if options.hold_out else None
        self.counts: list[dict[str, Any]] = []
        self._count("read", self.manifest.dialogues, self.manifest.turns)

    def _count(self, step: str, dialogues: int, turns: int) -> None:
        self.counts.append({"step": step, "dialogues": dialogues, "turns": turns})

    def _count_less(self, step: str, dropped: Any) -> None:
        """Count what is left after some dialogues, of known numbers of turns, were dropped."""
        col = daft().col
        found = dropped.agg(col("turn_count").count().alias("n"), col("turn_count").sum().alias("turns")).to_pylist()[0]
        before = self.counts[-1]
        self._count(step, before["dialogues"] - found["n"], before["turns"] - (found["turns"] or 0))

    def keys(self) -> Any:
        """The keys of all dialogues that are long enough."""
        near = self.options.near_duplicates
        wanted = ["row_key", "text_key", "turn_count"]
        wanted += ["words", *[f"band_{band}" for band in range(near.bands)]] if near else []

        def build(folder: Path) -> None:
            keyed = with_text_keys(self._merged(self.cleaned), words=near is not None)
            _save((with_bands(keyed, near) if near else keyed).select(*wanted), folder)

        col = daft().col
        keys = daft().read_parquet(f"{self.work.step('keys', build)}/*.parquet")
        sizes = keys.agg(col("turn_count").count().alias("n"), col("turn_count").sum().alias("turns")).to_pylist()[0]
        self._count(
            "normalise" + (" and merge" if self.options.merge_speakers else ""), sizes["n"], sizes["turns"] or 0
        )
        self._count_less(
            f"at least {self.options.min_turns} turns", keys.where(col("turn_count") < self.options.min_turns)
        )
        return keys.where(col("turn_count") >= self.options.min_turns)

    def copies(self, keys: Any) -> tuple[Any | None, Any | None]:
        """The row keys of dialogues to drop, and those of rows that occur more than once."""
        exact, near = self.options.exact_duplicates, self.options.near_duplicates
        if not exact and not near:
            return None, None
        rows = keys.select("row_key", "text_key", "turn_count")
        folder = self.work.step("exact", lambda path: _save(shared_groups(rows, "text_key"), path))
        members = daft().read_parquet(f"{folder}/*.parquet")
        copies = copies_in(members).select("row_key", "turn_count")
        twins = self._count_exact(members, copies) if exact else None
        if not near:
            return copies.select("row_key"), twins
        found = self._near(keys, copies, near).select("row_key")
        return copies.select("row_key").concat(found) if exact else found, twins

    def _count_exact(self, members: Any, copies: Any) -> Any | None:
        """Count what is left without exact copies; the result is the row keys that occur more than once, if any do."""
        twins = twins_in(members)
        surplus = members.join(twins, on="row_key", how="semi")
        repeated = surplus.count_rows() - twins.count_rows()
        self._count_less("without exact duplicates", copies)
        if repeated:
            extra = surplus.select("turn_count").agg(daft().col("turn_count").sum()).to_pydict()["turn_count"][0]
            kept = surplus.distinct("row_key").agg(daft().col("turn_count").sum()).to_pydict()["turn_count"][0]
            self.counts[-1]["dialogues"] -= repeated
            self.counts[-1]["turns"] -= extra - kept
        return twins if repeated else None

    def _near(self, keys: Any, copies: Any, near: NearOptions) -> Any:
        """The dialogues that are nearly equal to one of another text, and their exact copies if those are kept."""
        left = without_keys(keys, copies.select("row_key"))
        wanted = ("row_key", "text_key", "turn_count")

        def build(folder: Path) -> None:
            found = near_copies(left, self._merged(self.cleaned), near, folder)
            _save(left.select(*wanted).join(found, on="row_key", how="semi"), folder / "copies")

        folder = self.work.step("near", build)
        found = daft().read_parquet(f"{folder}/copies/*.parquet").distinct()
        if not self.options.exact_duplicates:
            found = keys.select(*wanted).join(found.select("text_key"), on="text_key", how="semi")
        self._count_less("without near duplicates", found)
        return found

    def table(self, copies: Any | None, twins: Any | None) -> Any:
        """The dialogues that stay, cut, merged and scrubbed."""
        kept = self._merged(self._cut_as_said(self._kept(copies, twins)))
        if self.hold_out:
            kept = cut_dialogues(kept, self.hold_out, self.options.min_turns)
        return scrubbed(kept, self.options.names_model) if self.options.scrub else kept

    def contamination(self, copies: Any | None, twins: Any | None) -> dict[str, int]:
        """For each set that is held out, in how many turns and pairs it was found."""
        if not self.hold_out:
            return {}
        kept = self._kept(copies, twins)
        found = overlap_counts(kept, self.hold_out)
        if self.options.merge_speakers:
            made = overlap_counts(self._merged(self._cut_as_said(kept)), self.hold_out)
            found = {name: count + made[name] for name, count in found.items()}
        return found

    def _kept(self, copies: Any | None, twins: Any | None) -> Any:
        long = self.cleaned.where(daft().col("turn_count") >= self.options.min_turns)
        return (without(long, copies, twins) if copies is not None else long).select(*ARROW_SCHEMA.names)

    def _cut_as_said(self, kept: Any) -> Any:
        """Cut what will be merged: merging hides a held-out turn in a longer one, and can also make one of two others.

        So what is merged is cut before and after; how many turns a piece has counts only afterwards.
        """
        if not self.hold_out or not self.options.merge_speakers:
            return kept
        return cut_dialogues(kept, self.hold_out, min_turns=1)

    def _merged(self, table: Any) -> Any:
        return merge_turns(table) if self.options.merge_speakers else table


def _save(table: Any, folder: Path) -> None:
    table.write_parquet(str(folder))


def _fingerprint(source: Manifest, options: PrepareOptions) -> str:
    job = [source.content_hash, options.model_dump(mode="json"), SCHEMA_VERSION, turnloom.__version__]
    return hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()


def prepare(
    source: Path,
    out: Path,
    options: PrepareOptions | None = None,
    *,
    command: str = "turnloom.corpus.prepare",
    overwrite: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[Manifest, bool]:
    """Prepare a dialogue table for training.

    Killed at any moment, the next run goes on with the first step that is not finished; run again with the same input
    and options, it does nothing.

    Args:
        source: A table's folder.
        out: The prepared table's folder.
        options: What to do.
        command: What to name in the manifest as the table's origin.
        overwrite: Replace another table that is there.
        on_step: Called with each step's name before it starts.

    Returns:
        The prepared table's manifest, and whether anything had to be done.
    """
    with frugally():
        return _prepare(source, out, options or PrepareOptions(), command, overwrite, on_step)


def _prepare(
    source: Path, out: Path, options: PrepareOptions, command: str, overwrite: bool, on_step: Callable[[str], None]
) -> tuple[Manifest, bool]:
    job_id = _fingerprint(read_manifest(source), options)
    if (out / MANIFEST).exists() and read_manifest(out).counts.get("job") == job_id:
        return read_manifest(out), False
    writer = TableWriter(out, overwrite=overwrite)
    work = Workspace(out / WORK / "prepare", job_id)
    job = _Job(source, options, work)
    on_step("cleaning and hashing")
    keys = job.keys()
    on_step("finding duplicates")
    copies, twins = job.copies(keys)
    if options.hold_out:
        on_step("looking for benchmark material")
    contamination = job.contamination(copies, twins)
    on_step("writing the table")
    writer.write(job.table(copies, twins))
    on_step("counting responses")
    written = writer.staged()
    _save(response_frequencies(written), writer.new / "frequencies")
    personal = personal_counts(written) if options.scrub else {}
    counts = {"job": job_id, "options": options.model_dump(mode="json"), "steps": job.counts}
    manifest = writer.finish(command, {**counts, "contamination": contamination, "personal_data": personal})
    work.remove()
    return manifest, True
