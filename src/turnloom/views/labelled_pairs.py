"""Human-labelled pairs (DSE-dianli, supervised SimCSE): files of anchors, positives and hard negatives."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field

from turnloom.corpus.cleaning.duplicates import repeated_responses, response_keys
from turnloom.corpus.engine import daft
from turnloom.corpus.labelled import read_rows
from turnloom.corpus.readers.location import open_raw, stem
from turnloom.corpus.turn_arrays import hash_strings
from turnloom.errors import TurnloomError
from turnloom.views.shuffle import seeded
from turnloom.views.view import View, Workspace, with_frequencies

ROWS_AT_A_TIME = 50_000
_FORMATS = {"jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl", "csv": "csv", "tsv": "tsv", "parquet": "parquet"}


class LabelledPairs(View):
    """Labelled pairs from JSON Lines, CSV, TSV or Parquet files, optionally compressed with gzip or zstd.

    The files replace the dialogue table, and each file's name is the source. Anchors become contexts of one turn,
    positives become replies. Rows without an anchor, a positive or, if its column is named, a hard negative are
    skipped, as are rows that do not match `where`, such as ``{label: entailment}``.
    """

    reads_tables = False

    kind: Literal["labelled_pairs"] = "labelled_pairs"
    anchor: str = "anchor"
    positive: str = "positive"
    negative: str | None = None
    where: dict[str, str] = Field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The row columns, with `negative` if its column is named."""
        return ("context", "reply", *(["negative"] if self.negative else []), "frequency", "source")

    @property
    def file_columns(self) -> list[str]:
        """The columns to read from the files."""
        named = [self.anchor, self.positive, *([self.negative] if self.negative else []), *self.where]
        return list(dict.fromkeys(named))

    def input_hashes(self, inputs: Sequence[Path]) -> list[str]:
        """Hash the files' names and contents."""
        return [f"{stem(str(path))}-{_file_hash(path)}" for path in inputs]

    def make_rows(self, workspace: Workspace) -> Any:
        """Return the rows of the files, with frequencies."""
        if workspace.weights:
            workspace.check_sources([stem(str(path)) for path in workspace.inputs])
        staged = workspace.partial / "pairs.parquet"
        count, writer = 0, None
        for path in workspace.inputs:
            for batch in pair_rows(path, self):
                writer = writer or pq.ParquetWriter(staged, batch.schema)
                writer.write_table(batch)
                count += len(batch)
        if writer is None:
            raise TurnloomError(f"{workspace.inputs[0]} holds no rows", "name files with labelled pairs")
        writer.close()
        workspace.choose_buckets(count * len(self.columns))
        pairs = daft().read_parquet(str(staged))
        return with_frequencies(workspace.ordered(pairs), repeated_responses(pairs.select("response")))


def _file_hash(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while piece := stream.read(2**20):
                digest.update(piece)
    except OSError as error:
        raise TurnloomError(f"{path} cannot be read ({error.strerror})", "check the path") from error
    return digest.hexdigest()


def _rows(path: Path, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Return the named columns of each row."""
    endings = [ending.lower().lstrip(".") for ending in reversed(path.suffixes)]
    format = next((_FORMATS[ending] for ending in endings if ending in _FORMATS), None)
    if format is None:
        fix = "name files .jsonl, .csv, .tsv, .parquet"
        raise TurnloomError(f"{path} is neither JSON Lines, CSV, TSV nor Parquet", fix)
    if format != "parquet":
        for row in read_rows(path, format):
            # Headers of delimited files are read in lower case.
            yield {name: row.values.get(name.lower() if row.delimited else name) for name in columns}
        return
    with open_raw(str(path)) as raw:
        for batch in pq.ParquetFile(raw).iter_batches(ROWS_AT_A_TIME, columns=columns):
            texts = {name: batch.column(name).cast(pa.large_string()) for name in batch.schema.names}
            yield from ({**dict.fromkeys(columns), **row} for row in pa.table(texts).to_pylist())


def pair_rows(path: Path, view: LabelledPairs) -> Iterator[pa.Table]:
    """Read a file's rows as Arrow tables: `source`, `context`, `reply`, optional `negative`, `response`, `row_key`."""
    rows, line, missing = _rows(path, view.file_columns), 0, set(view.file_columns)
    try:
        while piece := list(itertools.islice(rows, ROWS_AT_A_TIME)):
            texts = {name: pa.array([row[name] for row in piece], pa.large_string()) for name in view.file_columns}
            missing -= {name for name in missing if texts[name].null_count < len(piece)}
            yield _pairs(view, texts, stem(str(path)), line)
            line += len(piece)
        if missing:
            raise pa.ArrowInvalid(f"no row has {', '.join(sorted(missing))}")
    except (pa.ArrowException, OSError, EOFError) as error:
        reason = str(error).splitlines()[0]
        raise TurnloomError(f"{path} cannot be read ({reason})", "check the file and the view's columns") from error


def _pairs(view: LabelledPairs, texts: dict[str, pa.Array], source: str, line: int) -> pa.Table:
    """Convert rows of a file, the first of which is at line `line`, to rows of the view."""
    named = {"anchor": view.anchor, "reply": view.positive, **({"negative": view.negative} if view.negative else {})}
    keep = np.ones(len(texts[view.anchor]), bool)
    for name in named.values():
        keep &= np.asarray(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(texts[name])), 0).fill_null(False))
    for name, wanted in view.where.items():
        keep &= np.asarray(pc.equal(texts[name], wanted).fill_null(False))
    places = np.flatnonzero(keep)
    columns = {column: texts[name].take(pa.array(places)) for column, name in named.items()}
    anchors = columns.pop("anchor")
    # The line number separates equal rows, so that they are not adjacent in the shuffled order.
    keys = hash_strings(anchors) ^ seeded(hash_strings(columns["reply"]), 0, source, places + line)
    return pa.table(
        {
            "source": pa.array([source] * len(places), pa.large_string()),
            "context": pa.LargeListArray.from_arrays(pa.array(np.arange(len(places) + 1)), anchors),
            **columns,
            "response": pa.array(response_keys(columns["reply"])),
            "row_key": pa.array(keys),
        }
    )
