"""Parquet: one turn per row with a column mapping, or one conversation per row (`turns`, `messages`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from turnloom.corpus.readers import messages, turns
from turnloom.corpus.readers.base import Head, ReadOptions
from turnloom.corpus.readers.json_records import JsonRecord
from turnloom.corpus.readers.location import open_raw
from turnloom.corpus.readers.logfile import ByteStream, Parsed, Rejection
from turnloom.corpus.readers.rows import Row, find_columns, group_rows

ROWS_AT_A_TIME = 1_000
_NESTED = {"turns": turns.READER, "messages": messages.READER, "conversations": messages.READER}


def _nested(names: list[str]) -> str | None:
    """Return the column that holds whole conversations, if any."""
    return next((name for name in _NESTED if name in names), None)


class ParquetReader:
    """Reads Parquet files, such as Hugging Face datasets and warehouse exports."""

    name = "parquet"
    title = "Parquet, one row a turn or a conversation"
    pieces = True

    def recognise(self, head: Head) -> str | None:
        """Recognise the four bytes that every Parquet file starts with."""
        if not head.content.startswith(b"PAR1"):
            return None
        nested = _nested(self._columns(head))
        return f"it is a Parquet table with a {nested!r} column" if nested else "it is a Parquet table of rows"

    def check(self, head: Head, options: ReadOptions) -> None:
        """Require a column for the dialogue's id and one for the text if rows are turns."""
        names = self._columns(head)
        if names and not _nested(names):
            find_columns(names, options.mapping, head.path)

    def _columns(self, head: Head) -> list[str]:
        """Return the column names; empty if the file is broken, which `read` reports."""
        try:
            with open_raw(head.path) as raw:
                names: list[str] = pq.ParquetFile(raw).schema_arrow.names
        except (pa.ArrowException, OSError):
            return []
        return names

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:
        """Yield the table's dialogues."""
        try:
            file = pq.ParquetFile(stream)
            names = file.schema_arrow.names
            nested = _nested(names)
            if nested:
                for row in self._rows(file):
                    yield _NESTED[nested].parsed(JsonRecord(row.line, row.values), options)
            else:
                yield from group_rows(self._rows(file), find_columns(names, options.mapping, path), options)
        except pa.ArrowException as error:
            yield Rejection(0, f"the Parquet file is broken: {error}")

    def _rows(self, file: Any) -> Iterator[Row]:
        rows = itertools.chain.from_iterable(batch.to_pylist() for batch in file.iter_batches(ROWS_AT_A_TIME))
        for number, values in enumerate(rows, 1):
            yield Row(number, values)


READER = ParquetReader()
