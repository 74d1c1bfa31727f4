"""The LanceDB tables of an index."""

from __future__ import annotations

import itertools
import os
from collections.abc import Coroutine, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from turnloom.errors import TurnloomError
from turnloom.replies.occurrences import CONVERSATION, OCCURRENCE_TYPES, reply_keys
from turnloom.runtime.onnx_backend import usable_cores
from turnloom.runtime.protocols import Vectors

KEYS_AT_A_TIME = 5_000
"""The most keys in one SQL condition."""
FILE_FORMAT = "2.1"
"""Lance's file format. In 2.2, reading rows of a constant column (every count 1, one source) takes 4 times as long."""
_NEVER = timedelta(days=36_500)
_MARGINS = (0.05, 0.5, 5, 50, 500)
Answer = TypeVar("Answer")


def lancedb() -> Any:
    """Import lancedb on first use."""
    # By default Lance reserves two cores for reading. On a two-core machine that leaves one thread, so two lists could
    # not be searched in parallel.
    os.environ.setdefault("LANCE_CPU_THREADS", str(usable_cores()))
    try:
        import lancedb
    except ImportError as error:
        raise TurnloomError("an index of replies needs LanceDB", "pip install 'turnloom[replies]'") from error
    return lancedb


def answered(question: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a query on a table of `Store.reader` and return its result."""
    from lancedb.background_loop import LOOP

    answer: Answer = LOOP.run(question)
    return answer


def reply_schema(dimension: int) -> pa.Schema:
    """The columns of the replies table."""
    return pa.schema(
        [
            ("key", pa.int64()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), dimension)),
            ("count", pa.int64()),
            ("weight", pa.float32()),
            ("conversations", pa.list_(CONVERSATION)),
            ("sources", pa.list_(pa.string())),
            ("domains", pa.list_(pa.string())),
        ]
    )


def occurrence_schema(dimension: int | None) -> pa.Schema:
    """The columns of the occurrences table, with context vectors if contexts are indexed."""
    fields = [(name, kind) for name, kind in OCCURRENCE_TYPES.items() if name != "text"]
    return pa.schema([*fields, *([("vector", pa.list_(pa.float32(), dimension))] if dimension else [])])


def quoted(text: str) -> str:
    """Quote a text for an SQL condition.

    Example:
        >>> quoted("it's")
        "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def vector_array(vectors: Vectors) -> pa.Array:
    """Convert vectors to an Arrow column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])


def named_condition(conversations: Sequence[str], replies: Sequence[str], where: str | None) -> str:
    """Return the SQL condition for occurrences of these conversations or replies, or that meet a condition.

    Raises:
        TurnloomError: If nothing is named.

    Example:
        >>> named_condition(["chat-1", "o'clock"], [], "source = 'web'")
        "(source = 'web') OR dialogue_id IN ('chat-1', 'o''clock')"
    """
    conditions = [f"({where})"] if where else []
    if conversations:
        conditions.append(f"dialogue_id IN ({', '.join(map(quoted, conversations))})")
    if replies:
        conditions.append(f"reply IN ({', '.join(map(str, reply_keys(pa.array(list(replies)))))})")
    if not conditions:
        raise TurnloomError("nothing to delete was named", "name conversations or replies")
    return " OR ".join(conditions)


class Store:
    """The LanceDB database in an index's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._connection = lancedb().connect(
            self._folder, storage_options={"new_table_data_storage_version": FILE_FORMAT}
        )

    def open(self, name: str, version: int | None = None) -> Any:
        """Open a table pinned at a version, or at the latest version for writing."""
        table = self._connection.open_table(name)
        if version is not None:
            table.checkout(version)
        return table

    @cached_property
    def _reading(self) -> Any:
        return answered(lancedb().connect_async(self._folder))

    def reader(self, name: str, version: int | None = None) -> Any:
        """Open a table for queries with `answered`, at a version or the latest one.

        Queries take about a millisecond less than on a table of `open`, and several can run at once.
        """

        async def opened(connection: Any) -> Any:
            table = await connection.open_table(name)
            if version is not None:
                await table.checkout(version)
            return table

        return answered(opened(self._reading))

    def create(self, name: str, schema: pa.Schema) -> Any:
        """Create a table unless it exists."""
        return self._connection.create_table(name, schema=schema, exist_ok=True)

    def write(self, name: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Any:
        """Create a table of these rows in one version."""
        filled = (batch for batch in batches if len(batch))
        first = next(filled, None)
        rows = None if first is None else itertools.chain([first], filled)
        return self._connection.create_table(name, schema=schema, data=rows)

    def names(self) -> list[str]:
        """List all tables."""
        return list(self._connection.list_tables().tables)

    def drop(self, name: str) -> None:
        """Remove a table with all its versions."""
        self._connection.drop_table(name)

    @staticmethod
    def rows(table: Any, where: str, columns: Sequence[str]) -> pa.Table:
        """Return the rows that meet a condition."""
        return table.search().where(where).select(list(columns)).to_arrow()

    @classmethod
    def rows_with(cls, table: Any, column: str, keys: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Return the rows whose column is one of these keys."""
        pieces = [cls.rows(table, condition, columns) for condition in _in_lists(column, keys)]
        return pa.concat_tables(pieces) if pieces else cls.rows(table, "false", columns)

    @staticmethod
    def batches(table: Any, columns: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        """Iterate over all rows in batches."""
        yield from table.search().select(list(columns)).to_batches(size)

    @staticmethod
    def upsert(table: Any, rows: pa.Table, on: str) -> None:
        """Insert rows, or replace those with the same key, in one atomic commit."""
        if len(rows):
            merge = table.merge_insert(on).when_matched_update_all().when_not_matched_insert_all()
            merge.execute(rows.select(table.schema.names).cast(table.schema))

    @staticmethod
    def delete_with(table: Any, column: str, keys: Sequence[int]) -> None:
        """Delete the rows whose column is one of these keys."""
        for condition in _in_lists(column, keys):
            table.delete(condition)

    @staticmethod
    def compact(table: Any) -> None:
        """Merge small files and update indices; every version is kept."""
        table.optimize(cleanup_older_than=_NEVER)

    @staticmethod
    def tag(table: Any, name: str) -> int:
        """Tag the current version, which protects it from cleanup, and return its number."""
        version = int(table.version)
        if name in table.tags.list():
            table.tags.update(name, version)
        else:
            table.tags.create(name, version)
        return version

    @staticmethod
    def forget(table: Any, keep: set[str]) -> None:
        """Remove all tags but those to keep, and every version older than the kept ones."""
        tags = table.tags.list()
        for name in set(tags) - keep:
            table.tags.delete(name)
        oldest = min(tags[name]["version"] for name in keep)
        made = next(version["timestamp"] for version in table.list_versions() if version["version"] == oldest)
        any(_cleaned(table, datetime.now() - made + timedelta(seconds=margin)) for margin in _MARGINS)


def _cleaned(table: Any, older_than: timedelta) -> bool:
    """Whether versions of that age could be removed.

    LanceDB measures ages when it gets to the cleanup. By then a version that we keep may be too old; its tag protects
    it, and LanceDB refuses the whole cleanup.
    """
    try:
        table.optimize(cleanup_older_than=older_than)
    except RuntimeError as error:
        if "tagged version" not in str(error):
            raise
        return False
    return True


def _in_lists(column: str, keys: Sequence[int]) -> Iterator[str]:
    for start in range(0, len(keys), KEYS_AT_A_TIME):
        yield f"{column} IN ({', '.join(str(int(key)) for key in keys[start : start + KEYS_AT_A_TIME])})"
