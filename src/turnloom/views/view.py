"""The base of all views: recipe options, how rows are made, and how training reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.table import read_manifest, read_tables
from turnloom.corpus.turn_arrays import buckets_of
from turnloom.errors import TurnloomError
from turnloom.runtime.context_format import ContextFormat
from turnloom.views.shuffle import bucket_count, copies


class Workspace:
    """A view under construction in a temporary folder; files in `partial` are removed afterwards."""

    def __init__(
        self, inputs: Sequence[Path], partial: Path, seed: int, weights: dict[str, float], tokens: list[str]
    ) -> None:
        self.inputs, self.partial, self.seed, self.weights, self.tokens = inputs, partial, seed, weights, tokens
        self.buckets = 1

    def table(self) -> Any:
        """All dialogue tables as one Daft DataFrame."""
        table = read_tables(self.inputs)
        if self.weights:
            self.check_sources([row["source"] for row in table.select("source").distinct().to_pylist()])
        return table

    def check_sources(self, known: Sequence[str]) -> None:
        """Reject weights for unknown sources."""
        unknown = sorted(set(self.weights) - set(known))
        if unknown:
            raise TurnloomError(
                f"there is no source {', '.join(unknown)} to weight", f"sources are {', '.join(sorted(known))}"
            )

    def choose_buckets(self, texts: int, groups: int = 1) -> None:
        """Choose the number of buckets for this many texts."""
        self.buckets = bucket_count(round(texts * max([1.0, *self.weights.values()])), groups)

    def staged(self, rows: Any) -> Any:
        """Store rows with a `row_key` whose number is not known in advance, then weight and order them."""
        folder = self.partial / "pairs"
        rows.write_parquet(str(folder))
        pairs = daft().read_parquet(f"{folder}/*.parquet")
        self.choose_buckets(2 * pairs.count_rows())
        return self.ordered(pairs)

    def ordered(self, rows: Any) -> Any:
        """Weight existing rows, and replace `row_key` by `order` and `bucket`."""
        col, kinds = daft().col, daft().DataType
        fields = {"order": kinds.uint64(), "bucket": kinds.int32()}

        @batch_function(kinds.list(kinds.struct(fields)))
        def drawn(keys: pa.Array, sources: pa.Array) -> pa.Array:
            weights = source_weights(sources, self.weights)
            taken, order = copies(keys.to_numpy(zero_copy_only=False), weights, self.seed)
            columns = [pa.array(order), pa.array(buckets_of(order, self.buckets))]
            return grouped(columns, fields, taken, len(keys))

        listed = rows.with_column("draw", drawn(col("row_key"), col("source"))).exclude("row_key")
        return exploded(listed, "draw", fields, [name for name in rows.column_names if name != "row_key"])


def grouped(columns: list[pa.Array], names: Iterable[str], owners: npt.NDArray[np.int64], count: int) -> pa.Array:
    """Collect rows into one list per owner; rows must be in the order of their owners."""
    offsets = np.searchsorted(owners, np.arange(count + 1))
    rows = pa.StructArray.from_arrays(columns, names=list(names))
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), rows)


def exploded(frame: Any, column: str, fields: Iterable[str], kept: Iterable[str] = ("source",)) -> Any:
    """Return one row per struct in a column of lists, with its fields as columns beside the kept ones."""
    col = daft().col
    rows = frame.explode(column).where(col(column).not_null())
    return rows.select(*map(col, kept), *[col(column).get(name).alias(name) for name in fields])


def source_weights(sources: pa.Array, weights: dict[str, float]) -> npt.NDArray[np.float64]:
    """Return the weight of each row's source; 1 by default."""
    table = np.array([*weights.values(), 1.0])
    place = pc.index_in(sources.cast(pa.large_string()), pa.array(list(weights), pa.large_string()))
    return table[np.asarray(place.fill_null(-1), np.int64)]


def with_frequencies(rows: Any, counted: Any) -> Any:
    """Add how often each row's reply occurs; `counted` omits replies that occur once."""
    col, kinds = daft().col, daft().DataType
    joined = rows.join(counted, on="response", how="left")
    return joined.with_column("frequency", col("count").fill_null(1).cast(kinds.int64())).exclude("count")


Rows = dict[str, list[Any]]
"""Some rows, as columns."""


@dataclass(frozen=True)
class Reading:
    """How a model reads rows during training.

    Attributes:
        limit: The maximum number of tokens that the model reads.
        seed: The seed for random choices made while reading.
        objective: The options of the loss.
        rows: Finds the labels of texts, for a loss whose labels are rows of vector tables.
    """

    context: ContextFormat
    tokenizer: Any
    limit: int
    seed: int = 0
    objective: Any = None
    rows: Callable[[Sequence[str]], list[int]] | None = None

    def length(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self.tokenizer.tokenize(text))

    def text(self, turns: Sequence[str]) -> str:
        """Join a context to one text; the oldest turns of a long one are dropped."""
        if len(turns) == 1:
            return turns[0]
        return self.context.apply(turns, self.length, self.limit, self.tokenizer.sep_token)


class View(BaseModel):
    """A view. Its fields are its recipe options; its properties follow from them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reads_tables: ClassVar[bool] = True
    """Whether it reads dialogue tables rather than other files."""

    def input_hashes(self, inputs: Sequence[Path]) -> list[str]:
        """Return hashes that identify its inputs."""
        return [read_manifest(path).content_hash for path in inputs]

    def make_rows(self, workspace: Workspace) -> Any:
        """Return its rows as a Daft DataFrame, each with its position in the shuffled order."""
        raise NotImplementedError

    def transform(self, rows: Any, reading: Reading) -> Callable[[Rows], Rows]:  # noqa: ARG002 - for views that draw
        """Return the function that converts rows to the loss's columns as they are read."""
        return partial(self._columns, reading)

    def _columns(self, reading: Reading, rows: Rows) -> Rows:
        columns: Rows = {"context": [reading.text(turns) for turns in rows["context"]]}
        columns |= {name: list(rows[name]) for name in ("reply", "negative") if name in rows}
        if "label" in rows:
            columns["label"] = list(rows["label"])
        if getattr(reading.objective, "wants_frequencies", False):
            columns["label"] = [float(count) for count in rows["frequency"]]
        if reading.rows is not None:
            columns["label"] = reading.rows(columns["context"])
        return columns

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the row groups; by default one group without a name."""
        return ("",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of every row."""
        return ("context", "reply", "frequency", "source")

    @property
    def tokens(self) -> list[str]:
        """Extra tokens in the texts that no tokenizer knows, such as speaker marks."""
        return []

    @property
    def context_turns(self) -> int | None:
        """The maximum number of turns read together as one context; None for any number."""
        return 1

    @property
    def one_per_text(self) -> bool:
        """Whether to keep only one of several rows with the same reply."""
        return False
