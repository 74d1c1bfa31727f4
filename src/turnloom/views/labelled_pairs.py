"""Pairs that people labelled (DSE-dianli, supervised SimCSE): files of anchors, positives and hard negatives."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field

from turnloom.corpus.cleaning.duplicates import repeated_responses, response_keys
from turnloom.corpus.engine import daft
from turnloom.corpus.readers.logfile import MAX_RECORD_BYTES, open_raw, stem, unpacked
from turnloom.corpus.turn_arrays import hash_strings
from turnloom.errors import TurnloomError
from turnloom.views.shuffle import seeded
from turnloom.views.view import View, Workspace, with_frequencies

__all__ = ["LabelledPairs", "pair_rows"]

ROWS_AT_A_TIME = 50_000


class LabelledPairs(View):
    """Labelled pairs from JSON Lines, CSV, TSV or Parquet files, gzip and zstd unpacked by the file's ending.

    The files stand in for the dialogue table, and a file's name for the source. Rows without an anchor, a positive or,
    where a column is named, a negative are left out.

    Attributes:
        anchor: The column of anchors, which become contexts of one turn.
        positive: The column of positives, which become replies.
        negative: The column of hard negatives; None for none.
        where: Rows are kept only if these columns have these values, such as ``{label: entailment}``.
    """

    reads_tables = False

    kind: Literal["labelled_pairs"] = "labelled_pairs"
    anchor: str = "anchor"
    positive: str = "positive"
    negative: str | None = None
    where: dict[str, str] = Field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """With `negative` where a column is named for it."""
        return ("context", "reply", *(["negative"] if self.negative else []), "frequency", "source")

    @property
    def file_columns(self) -> list[str]:
        """The columns of the files that are read."""
        named = [self.anchor, self.positive, *([self.negative] if self.negative else []), *self.where]
        return list(dict.fromkeys(named))

    def input_hashes(self, inputs: Sequence[Path]) -> list[str]:
        """The names of the files and hashes of what is in them."""
        return [f"{stem(str(path))}-{_file_hash(path)}" for path in inputs]

    def make_rows(self, workspace: Workspace) -> Any:
        """The rows of the files, with frequencies."""
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


def _format(path: Path) -> str:
    endings = [ending.lower().lstrip(".") for ending in path.suffixes]
    for ending in reversed(endings):
        if ending in ("jsonl", "ndjson", "json", "csv", "tsv", "parquet"):
            return ending
    raise TurnloomError(
        f"{path} is neither JSON Lines, CSV, TSV nor Parquet", "name files .jsonl, .csv, .tsv, .parquet"
    )


def _json_batches(stream: IO[bytes], columns: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow.json

    schema = pa.schema([(name, pa.string()) for name in columns])
    options = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    block = pyarrow.json.ReadOptions(block_size=MAX_RECORD_BYTES)
    missing = set(columns)
    for batch in pyarrow.json.open_json(stream, read_options=block, parse_options=options):
        missing -= {name for name in missing if batch.column(name).null_count < len(batch)}
        yield batch
    if missing:
        raise pa.ArrowInvalid(f"no record has {', '.join(sorted(missing))}")


def _delimited_batches(stream: IO[bytes], columns: list[str], delimiter: str) -> Iterator[pa.RecordBatch]:
    import pyarrow.csv

    kinds = dict.fromkeys(columns, pa.string())
    yield from pyarrow.csv.open_csv(
        stream,
        read_options=pyarrow.csv.ReadOptions(block_size=MAX_RECORD_BYTES),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(include_columns=columns, column_types=kinds),
    )


@contextmanager
def _batches(path: Path, columns: list[str]) -> Iterator[Iterator[pa.RecordBatch]]:
    """The file's record batches, whatever its format."""
    kind = _format(path)
    with open_raw(str(path)) as raw, unpacked(str(path), raw) as stream:
        if kind == "parquet":
            yield pq.ParquetFile(raw).iter_batches(ROWS_AT_A_TIME, columns=columns)
        elif kind in ("csv", "tsv"):
            yield _delimited_batches(stream, columns, "," if kind == "csv" else "\t")
        else:
            yield _json_batches(stream, columns)


def _texts(batch: pa.RecordBatch, column: str, path: Path) -> pa.Array:
    if column not in batch.schema.names:
        raise TurnloomError(f"{path} has no column {column!r}", f"its columns are {', '.join(batch.schema.names)}")
    return batch.column(column).cast(pa.large_string())


def _kept(batch: pa.RecordBatch, view: LabelledPairs, path: Path) -> tuple[dict[str, pa.Array], pa.Array]:
    """The columns of a view's rows, and where they stood in the batch."""
    named = {"anchor": view.anchor, "reply": view.positive, **({"negative": view.negative} if view.negative else {})}
    texts = {name: _texts(batch, column, path) for name, column in named.items()}
    keep = np.ones(len(batch), bool)
    for values in texts.values():
        keep &= np.asarray(pc.greater(pc.utf8_length(pc.utf8_trim_whitespace(values)), 0).fill_null(False))
    for column, wanted in view.where.items():
        keep &= np.asarray(pc.equal(_texts(batch, column, path), wanted).fill_null(False))
    places = np.flatnonzero(keep)
    return {name: values.take(pa.array(places)) for name, values in texts.items()}, places


def pair_rows(path: Path, view: LabelledPairs) -> Iterator[pa.Table]:
    """A file's rows as Arrow tables.

    They have `source`, `context`, `reply`, perhaps `negative`, the reply's key `response`, and a `row_key`.

    Raises:
        TurnloomError: If the file cannot be read or lacks a column.
    """
    source, line = stem(str(path)), 0
    try:
        with _batches(path, view.file_columns) as batches:
            for batch in batches:
                texts, places = _kept(batch, view, path)
                anchors = texts.pop("anchor")
                # The line tells equal rows apart, so that they do not stand side by side in the shuffled order.
                keys = hash_strings(anchors) ^ seeded(hash_strings(texts["reply"]), 0, source, places + line)
                line += len(batch)
                columns = {
                    "source": pa.array([source] * len(places), pa.large_string()),
                    "context": pa.LargeListArray.from_arrays(pa.array(np.arange(len(places) + 1)), anchors),
                    **texts,
                    "response": pa.array(response_keys(texts["reply"])),
                    "row_key": pa.array(keys),
                }
                yield pa.table(columns)
    except (pa.ArrowException, OSError, EOFError) as error:
        reason = str(error).splitlines()[0]
        raise TurnloomError(f"{path} cannot be read ({reason})", "check the file and the view's columns") from error
