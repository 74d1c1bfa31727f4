"""Build a view: dialogue tables in, shuffled Parquet shards out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import turnloom
from turnloom.corpus.engine import daft, frugally
from turnloom.corpus.frequency import repeated_responses, response_frequencies
from turnloom.corpus.logfile import stem
from turnloom.corpus.table import MANIFEST, read_manifest, read_table
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder
from turnloom.plugins import find_plugin
from turnloom.views.labelled_pairs import LabelledPairs, pair_rows
from turnloom.views.manifest import VIEW_VERSION, ViewManifest, read_view_manifest
from turnloom.views.options import GROUP, ViewOptions
from turnloom.views.rows import dialogue_rows, drawn_rows
from turnloom.views.shared_replies import SharedReplies, shared_reply_rows
from turnloom.views.shuffle import bucket_count, write_shards
from turnloom.views.spans import DialogueView
from turnloom.views.template_rows import Templates, find_templates
from turnloom.views.view import View

__all__ = ["build_view"]

CACHE = ".arrow"
"""Where `load_view` keeps its memory-mapped copy."""

Progress = Callable[[str, float], None]


class _Build:
    """One view being built in a folder that is not yet a view."""

    def __init__(self, inputs: list[Path], partial: Path, seed: int, weights: dict[str, float]) -> None:
        self.inputs = inputs
        self.partial = partial
        self.seed = seed
        self.weights = weights
        self.buckets = 1

    def dialogue_rows(self, view: DialogueView) -> Any:
        """The rows of a view over dialogue tables, with frequencies."""
        table = self._table()
        sizes = [read_manifest(path) for path in self.inputs]
        texts = view.texts(sum(size.turns for size in sizes), sum(size.dialogues for size in sizes))
        self._choose_buckets(texts, len(view.groups))
        rows = dialogue_rows(table, view, seed=self.seed, weights=self.weights, buckets=self.buckets)
        if "frequency" not in view.columns:
            return rows
        return _with_frequencies(rows, response_frequencies(table, first_turns=view.counts_first_turns))

    def template_rows(self, view: Templates) -> tuple[Any, list[str]]:
        """The rows of templates over dialogue tables, and the tokens of their slots."""
        found = find_templates(self._table())
        return self._drawn(found.rows(view, self.seed)), found.tokens(view)

    def shared_reply_rows(self, view: SharedReplies) -> Any:
        """The rows of turns that were answered alike."""
        return self._drawn(shared_reply_rows(self._table(), view, self.seed))

    def _drawn(self, rows: Any) -> Any:
        """Rows whose number is not known before they are made, in their order."""
        staged = self.partial / "pairs"
        rows.write_parquet(str(staged))
        pairs = daft().read_parquet(f"{staged}/*.parquet")
        self._choose_buckets(2 * pairs.count_rows())
        return drawn_rows(pairs, seed=self.seed, weights=self.weights, buckets=self.buckets)

    def _table(self) -> Any:
        """All dialogue tables as one."""
        table = read_table(self.inputs[0])
        for path in self.inputs[1:]:
            table = table.concat(read_table(path))
        if self.weights:
            self._check_sources([row["source"] for row in table.select("source").distinct().to_pylist()])
        return table

    def labelled_rows(self, view: LabelledPairs) -> Any:
        """The rows of files of labelled pairs, with frequencies."""
        if self.weights:
            self._check_sources([stem(str(path)) for path in self.inputs])
        staged = self.partial / "pairs.parquet"
        count, writer = 0, None
        for path in self.inputs:
            for batch in pair_rows(path, view):
                writer = writer or pq.ParquetWriter(staged, batch.schema)
                writer.write_table(batch)
                count += len(batch)
        if writer is None:
            raise TurnloomError(f"{self.inputs[0]} holds no rows", "name files with labelled pairs")
        writer.close()
        self._choose_buckets(count * len(view.columns))
        pairs = daft().read_parquet(str(staged))
        rows = drawn_rows(pairs, seed=self.seed, weights=self.weights, buckets=self.buckets)
        return _with_frequencies(rows, repeated_responses(pairs.select("response")))

    def _choose_buckets(self, texts: int, groups: int = 1) -> None:
        self.buckets = bucket_count(round(texts * max([1.0, *self.weights.values()])), groups)

    def _check_sources(self, known: Sequence[str]) -> None:
        unknown = sorted(set(self.weights) - set(known))
        if unknown:
            raise TurnloomError(
                f"there is no source {', '.join(unknown)} to weight", f"sources are {', '.join(sorted(known))}"
            )


def _with_frequencies(rows: Any, counted: Any) -> Any:
    """Rows with how often their reply occurs; `counted` leaves out what occurs once."""
    col, kinds = daft().col, daft().DataType
    joined = rows.join(counted, on="response", how="left")
    return joined.with_column("frequency", col("count").fill_null(1).cast(kinds.int64())).exclude("count")


def _file_hash(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while piece := stream.read(2**20):
                digest.update(piece)
    except OSError as error:
        raise TurnloomError(f"{path} cannot be read ({error.strerror})", "check the path") from error
    return digest.hexdigest()


def _planned(inputs: list[Path], view: View, seed: int, weights: dict[str, float], limit: int | None) -> ViewManifest:
    """The manifest of the view to be, which has no rows yet."""
    if isinstance(view, LabelledPairs):
        hashes = [f"{stem(str(path))}-{_file_hash(path)}" for path in inputs]
    else:
        hashes = [read_manifest(path).content_hash for path in inputs]
    job: dict[str, Any] = {
        "inputs": sorted(hashes),
        "options": view.model_dump(mode="json"),
        "seed": seed,
        "source_weights": dict(sorted(weights.items())),
        "limit": limit,
    }
    made_by: list[Any] = [VIEW_VERSION, turnloom.__version__]
    if plugin := find_plugin(GROUP, job["options"].get("kind", ""), own=()):
        made_by += [plugin.package, plugin.version]
    fingerprint = hashlib.sha256(json.dumps([job, made_by], sort_keys=True).encode()).hexdigest()
    return ViewManifest(fingerprint=fingerprint, columns=list(view.columns), tokens=view.tokens, rows={}, **job)


def build_view(
    table: Path | Sequence[Path],
    out: Path,
    options: ViewOptions,
    *,
    seed: int = 0,
    source_weights: dict[str, float] | None = None,
    limit: int | None = None,
    on_progress: Progress = lambda _step, _share: None,
) -> ViewManifest:
    """Write the rows of a view as Parquet shards in a shuffled order, so that training can read them one after another.

    The same rows, options and seed give the same files, however the tables are cut into files and however many threads
    work. A folder that already holds this view is left as it is; another view or half a view in it is replaced.
    Frequencies are counted over all of the tables, before weights and limit.

    Args:
        table: The folder of a dialogue table, or several; for `LabelledPairs` the files of pairs.
        out: The view's folder.
        options: Which view.
        seed: For what is drawn, and for the order.
        source_weights: How often rows of a source are taken: less than 1 leaves some out, more repeats some.
        limit: The most rows of each group; they are a random sample.
        on_progress: Called with the name of a step and the part of it that is done.

    Raises:
        TurnloomError: If an input is no whole table, a source to weight is unknown, or the folder holds other files.
    """
    inputs = [Path(path) for path in ([table] if isinstance(table, (str, Path)) else table)]
    weights = source_weights or {}
    if not inputs or any(weight < 0 for weight in weights.values()) or (limit is not None and limit < 1):
        raise TurnloomError("a view needs a table, weights from 0 and a limit from 1", "check the view's settings")
    manifest = _planned(inputs, options, seed, weights, limit)
    if (out / MANIFEST).exists() and read_view_manifest(out).fingerprint == manifest.fingerprint:
        return read_view_manifest(out)
    whole = WholeFolder(out, MANIFEST, "a view", caches=[CACHE])
    build = _Build(inputs, whole.partial, seed, weights)
    on_progress("making rows", 0.0)
    with frugally():
        if isinstance(options, Templates):
            rows, manifest.tokens = build.template_rows(options)
        elif isinstance(options, SharedReplies):
            rows = build.shared_reply_rows(options)
        elif isinstance(options, LabelledPairs):
            rows = build.labelled_rows(options)
        else:
            assert isinstance(options, DialogueView)
            rows = build.dialogue_rows(options)
        rows.write_parquet(str(whole.partial / "buckets"), partition_cols=["bucket"])
    manifest.rows = _shuffled(build, options, manifest, whole.new, on_progress)
    (whole.new / MANIFEST).write_text(json.dumps(manifest.model_dump(), indent=2) + "\n", encoding="utf-8")
    whole.commit()
    return manifest


def _shuffled(
    build: _Build, view: View, manifest: ViewManifest, out: Path, on_progress: Progress
) -> dict[str, dict[str, int]]:
    """Write every group's shards, and count their rows."""
    done, total = 0, build.buckets * len(view.groups)

    def on_bucket() -> None:
        nonlocal done
        done += 1
        on_progress("shuffling", done / total)

    return {
        group: write_shards(
            build.partial / "buckets",
            range(number * build.buckets, (number + 1) * build.buckets),
            out / group,
            manifest.columns,
            one_per_text=view.one_per_text,
            limit=manifest.limit,
            on_bucket=on_bucket,
        )
        for number, group in enumerate(view.groups)
    }
