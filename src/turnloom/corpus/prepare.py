"""Prepare a dialogue table for training: clean, without copies, personal data or benchmark text."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import turnloom
from turnloom.corpus.cleaning.duplicates import (
    copies_in,
    shared_groups,
    twins_in,
    without,
    without_keys,
)
from turnloom.corpus.cleaning.hold_out import HoldOut, cut_dialogues, load_hold_out, overlap_counts
from turnloom.corpus.cleaning.near import PRINTS, NearOptions, band_names, near_copies, with_bands
from turnloom.corpus.cleaning.normalise import clean, count_merged_turns, merge_speakers, with_text_keys
from turnloom.corpus.engine import daft, frugally
from turnloom.corpus.privacy import personal_counts, scrubbed
from turnloom.corpus.privacy.replacements import Replacement
from turnloom.corpus.schema import ARROW_SCHEMA, SCHEMA_VERSION
from turnloom.corpus.table import MANIFEST, WORK, Manifest, TableWriter, Workspace, read_manifest, read_table
from turnloom.corpus.turn_arrays import map_turns, with_row_keys
from turnloom.errors import TurnloomError


class PrepareOptions(BaseModel):
    """Options of `prepare`.

    Attributes:
        since: Keep dialogues that begin on this day or later; those without times are dropped, as with `before`.
        before: Keep dialogues that begin before this day, in UTC.
        min_turns: Drop dialogues with fewer turns.
        merge_speakers: Whether to merge consecutive turns of one speaker.
        exact_duplicates: Whether to drop exact copies of a dialogue. If not, the copies of a dropped near duplicate are
            still dropped with it.
        near_duplicates: When to drop dialogues that nearly equal another one; None for never.
        scrub: Whether to replace personal data by placeholders.
        names_model: A spaCy model, by name or path, that finds names and addresses; None to keep them.
        replace: Patterns of one's own for what else is replaced, before personal data is.
        hold_out: Names of public sets whose evaluation splits to remove.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    since: dt.date | None = None
    before: dt.date | None = None
    min_turns: int = Field(2, ge=1)
    merge_speakers: bool = False
    exact_duplicates: bool = True
    near_duplicates: NearOptions | None = Field(default_factory=NearOptions)
    scrub: bool = True
    names_model: str | None = None
    replace: tuple[Replacement, ...] = ()
    hold_out: tuple[str, ...] = ()


def _sizes(table: Any) -> tuple[int, int]:
    """Count dialogues and their turns."""
    count = daft().col("turn_count")
    sizes = table.agg(count.count().alias("dialogues"), count.sum().alias("turns")).to_pylist()[0]
    return sizes["dialogues"], sizes["turns"] or 0


def _begins() -> Any:
    """Return the day on which a dialogue begins."""
    return daft().col("turns").get(0).get("time").cast(daft().DataType.date())


def _between(table: Any, since: dt.date | None, before: dt.date | None) -> Any:
    """Return the dialogues that begin within these days."""
    table = table.where(_begins() >= since) if since else table
    return table.where(_begins() < before) if before else table


def _days(table: Any) -> tuple[dt.date | None, dt.date | None]:
    """Return the days on which the first and the last dialogue begin."""
    day = daft().col("day")
    found = table.select(_begins().alias("day")).agg(day.min().alias("first"), day.max().alias("last")).to_pylist()[0]
    return found["first"], found["last"]


class _Job:
    """One run over one input: its plan, its steps and its counts."""

    def __init__(self, source: Path, options: PrepareOptions, work: Workspace) -> None:
        self.options = options
        self.work = work
        # Turns before merging: benchmarks have no merged turns, so hold-out compares these.
        said = _between(read_table(source), options.since, options.before)
        self.cleaned = with_row_keys(clean(said))
        if options.merge_speakers:
            self.cleaned = count_merged_turns(self.cleaned)
        self.hold_out: HoldOut | None = load_hold_out(list(options.hold_out)) if options.hold_out else None
        self.counts: list[dict[str, Any]] = []
        manifest = read_manifest(source)
        self._count("read", manifest.dialogues, manifest.turns)
        if options.since or options.before:
            self._count_days(source, said)

    def _count(self, step: str, dialogues: int, turns: int) -> None:
        self.counts.append({"step": step, "dialogues": dialogues, "turns": turns})

    def _count_days(self, source: Path, said: Any) -> None:
        dialogues, turns = _sizes(said.select(daft().col("turns").list_count().alias("turn_count")))
        if not dialogues:
            first, last = _days(read_table(source))
            has = f"it begins on {first} and ends on {last}" if first else "its turns have no times"
            raise TurnloomError(f"{source} has no dialogue of these days", f"choose other days: {has}")
        self._count("of these days", dialogues, turns)

    def _count_less(self, step: str, dialogues: int, turns: int) -> None:
        """Record what is left after dropping this many."""
        self._count(step, self.counts[-1]["dialogues"] - dialogues, self.counts[-1]["turns"] - turns)

    def _step(self, name: str, build: Callable[[], Any]) -> Any:
        """Build a step's table, or reuse it from an interrupted run."""
        folder = self.work.step(name, lambda path: build().write_parquet(str(path)))
        return daft().read_parquet(f"{folder}/*.parquet")

    def keys(self) -> Any:
        """Return the keys of all dialogues that are long enough."""
        near, min_turns = self.options.near_duplicates, self.options.min_turns
        wanted = ["row_key", "text_key", "turn_count"]
        wanted += ["words", *PRINTS, *band_names(near)] if near else []

        def build() -> Any:
            keyed = with_text_keys(self._merged(self.cleaned))
            return (with_bands(keyed, near) if near else keyed).select(*wanted)

        keys = self._step("keys", build)
        self._count("normalise" + (" and merge" if self.options.merge_speakers else ""), *_sizes(keys))
        short = daft().col("turn_count") < min_turns
        self._count_less(f"at least {min_turns} turns", *_sizes(keys.where(short)))
        return keys.where(~short)

    def copies(self, keys: Any) -> tuple[Any | None, Any | None]:
        """Return the row keys of dialogues to drop, and those of rows that occur more than once."""
        exact, near = self.options.exact_duplicates, self.options.near_duplicates
        if not exact and not near:
            return None, None
        rows = keys.select("row_key", "text_key", "turn_count")
        members = self._step("exact", lambda: shared_groups(rows, "text_key"))
        copies = copies_in(members).select("row_key", "turn_count")
        twins = self._count_exact(members, copies) if exact else None
        if not near:
            return copies.select("row_key"), twins
        similar = self._near(keys, copies, near).select("row_key")
        return copies.select("row_key").concat(similar) if exact else similar, twins

    def _count_exact(self, members: Any, copies: Any) -> Any | None:
        """Record what is left without exact copies; return the row keys that occur more than once, if any."""
        twins = twins_in(members)
        surplus = members.join(twins, on="row_key", how="semi")
        dropped, all_twins, kept_twins = (_sizes(rows) for rows in (copies, surplus, surplus.distinct("row_key")))
        dialogues, turns = (d + a - k for d, a, k in zip(dropped, all_twins, kept_twins, strict=True))
        self._count_less("without exact duplicates", dialogues, turns)
        return twins if all_twins != kept_twins else None

    def _near(self, keys: Any, copies: Any, near: NearOptions) -> Any:
        """Return the dialogues that nearly equal one of another text, and their exact copies if those are kept."""
        left = without_keys(keys, copies.select("row_key"))
        wanted = ("row_key", "text_key", "turn_count")

        def build(folder: Path) -> None:
            similar = near_copies(left, self._merged(self.cleaned), near, folder)
            left.select(*wanted).join(similar, on="row_key", how="semi").write_parquet(str(folder / "copies"))

        folder = self.work.step("near", build)
        similar = daft().read_parquet(f"{folder}/copies/*.parquet").distinct()
        if not self.options.exact_duplicates:
            similar = keys.select(*wanted).join(similar.select("text_key"), on="text_key", how="semi")
        self._count_less("without near duplicates", *_sizes(similar))
        return similar

    def table(self, copies: Any | None, twins: Any | None) -> Any:
        """Return the remaining dialogues: cut, merged and scrubbed."""
        kept = self._merged(self._cut_as_said(self._kept(copies, twins)))
        if self.hold_out:
            kept = cut_dialogues(kept, self.hold_out, self.options.min_turns)
        options = self.options
        return scrubbed(kept, options.names_model, options.replace) if options.scrub else kept

    def contamination(self, copies: Any | None, twins: Any | None) -> dict[str, int]:
        """Return how many turns and pairs of each held-out set were found."""
        if not self.hold_out:
            return {}
        kept = self._kept(copies, twins)
        counts = overlap_counts(kept, self.hold_out)
        if self.options.merge_speakers:
            made = overlap_counts(self._merged(self._cut_as_said(kept)), self.hold_out)
            counts = {name: count + made[name] for name, count in counts.items()}
        return counts

    def _kept(self, copies: Any | None, twins: Any | None) -> Any:
        long = self.cleaned.where(daft().col("turn_count") >= self.options.min_turns)
        return (without(long, copies, twins) if copies is not None else long).select(*ARROW_SCHEMA.names)

    def _cut_as_said(self, kept: Any) -> Any:
        """Cut before merging too: merging can hide a held-out turn in a longer one, or create one from two others.

        So dialogues are cut before and after merging, and the number of turns is checked only afterwards.
        """
        if not self.hold_out or not self.options.merge_speakers:
            return kept
        return cut_dialogues(kept, self.hold_out, min_turns=1)

    def _merged(self, table: Any) -> Any:
        return map_turns(table, merge_speakers) if self.options.merge_speakers else table


@frugally()
def prepare(
    source: Path,
    out: Path,
    options: PrepareOptions | None = None,
    *,
    command: str = "turnloom.corpus.prepare",
    overwrite: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[Manifest, bool]:
    """Prepare a dialogue table for training; return its manifest, and whether anything had to be done.

    After an interruption, the next run continues with the first unfinished step. Repeated with the same input and
    options, it does nothing.

    Args:
        source: A table's folder.
        out: The prepared table's folder.
        options: Which steps to run.
        command: The command line or call to record in the manifest.
        overwrite: Replace a different existing table.
        on_step: Called with each step's name before it starts.
    """
    options = options or PrepareOptions()
    if options.replace and not options.scrub:
        raise TurnloomError("patterns of your own are replaced while scrubbing, which is off", "leave out --no-scrub")
    described = options.model_dump(mode="json")
    identity = [read_manifest(source).content_hash, described, SCHEMA_VERSION, turnloom.__version__]
    job_id = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
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
    personal = personal_counts(writer.staged(), options.replace) if options.scrub else {}
    counts = {"job": job_id, "options": described, "steps": job.counts}
    manifest = writer.finish(command, {**counts, "contamination": contamination, "personal_data": personal})
    work.remove()
    return manifest, True
