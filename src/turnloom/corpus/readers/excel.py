"""Excel workbooks (.xlsx): each sheet is a table with a header, as in CSV."""

from __future__ import annotations

import io
import itertools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from turnloom.corpus.readers.archives import open_archive
from turnloom.corpus.readers.base import Head, ReadOptions
from turnloom.corpus.readers.delimited import KINDS, SAMPLE_ROWS, TURN_ROWS
from turnloom.corpus.readers.location import open_raw, unpacked
from turnloom.corpus.readers.logfile import ByteStream, Parsed, Rejection
from turnloom.corpus.readers.rows import Row, find_columns
from turnloom.corpus.readers.tables import TableKind
from turnloom.errors import TurnloomError

MAX_WORKBOOK_BYTES = 256 * 2**20
MAX_UNPACKED_BYTES = 2**30
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_EXPORT = "export the sheets as CSV and convert those"


def _cell(value: Any) -> Any:
    """Return numbers as Excel shows them: 17, not 17.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence openpyxl, which warns of styles and formulas that no conversation needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _quietly(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    while True:
        with _quiet():
            row = next(rows, None)
        if row is None:
            return
        yield row


class _Workbook:
    """The sheets of a workbook as tables."""

    def __init__(self, content: bytes, path: str) -> None:
        try:
            import openpyxl
        except ImportError as error:
            raise TurnloomError(
                f"{path} is an Excel workbook, which needs openpyxl", "pip install 'turnloom[excel]'"
            ) from error
        try:
            with open_archive(io.BytesIO(content), path) as archive:
                size = sum(info.file_size for info in archive.infolist())
        except TurnloomError as error:
            why = error.problem.partition(", because ")[2]
            raise TurnloomError(f"{path} is no whole Excel workbook: {why}", _EXPORT) from error
        if size > MAX_UNPACKED_BYTES:
            raise TurnloomError(f"{path} unpacks to {size:,} bytes", _EXPORT)
        try:
            with _quiet():
                self._book = openpyxl.load_workbook(
                    io.BytesIO(content), read_only=True, data_only=True, keep_links=False
                )
        except Exception as error:  # A broken workbook raises whatever its parts run into.
            raise TurnloomError(f"{path} is no whole Excel workbook ({error})", _EXPORT) from error

    def sheets(self) -> Iterator[tuple[str, list[str], Iterator[Row]]]:
        """Yield each sheet's title, column names and rows; the first row with a text is the header."""
        for sheet in self._book.worksheets:
            sheet.reset_dimensions()
            rows = enumerate(_quietly(sheet.iter_rows(values_only=True)), 1)
            header = next((row for _, row in rows if any(cell not in (None, "") for cell in row)), ())
            names = [str(cell).strip() if cell is not None else f"column {n}" for n, cell in enumerate(header, 1)]
            if len(set(names)) > 1:
                yield sheet.title, names, self._rows(rows, names)

    def _rows(self, rows: Iterator[tuple[int, tuple[Any, ...]]], names: list[str]) -> Iterator[Row]:
        for number, row in rows:
            if any(cell not in (None, "") for cell in row):
                yield Row(number, dict(zip(names, map(_cell, row), strict=False)))

    def close(self) -> None:
        self._book.close()


def _choose_kind(names: list[str], rows: list[Row], mapping: dict[str, str]) -> TableKind | None:
    kinds = (TURN_ROWS,) if mapping else KINDS
    return next((kind for kind in kinds if mapping or kind.sign(names, rows)), None)


def _is_readable(kind: TableKind, names: list[str], options: ReadOptions, path: str) -> bool:
    if kind is TURN_ROWS:
        find_columns(names, options.mapping, path)
    return True


class ExcelReader:
    """Reads the sheets of a workbook."""

    name = "excel"
    title = "Excel workbook (.xlsx)"
    pieces = True

    def recognise(self, head: Head) -> str | None:
        """Recognise the parts of a workbook."""
        content = head.content
        if content.startswith(_OLD_EXCEL) and head.path.lower().endswith((".xls", ".xlsx")):
            raise TurnloomError(f"{head.path} is a workbook in Excel's old or encrypted format", "save it as .xlsx")
        named = head.path.lower().removesuffix(".gz").endswith((".xlsx", ".xlsm"))
        if content.startswith(b"PK\x03\x04") and (named or b"xl/workbook" in content or b"xl/worksheets" in content):
            return "it is an Excel workbook"
        return None

    def check(self, head: Head, options: ReadOptions) -> None:
        """Require a sheet that holds conversations."""
        with open_raw(head.path) as raw, unpacked(head.path, raw) as stream:
            book = self._open(stream, head.path)
        problem: TurnloomError | None = None
        try:
            for title, names, rows in book.sheets():
                first = list(itertools.islice(rows, SAMPLE_ROWS))
                kind = _choose_kind(names, first, options.mapping) or TURN_ROWS
                try:
                    if _is_readable(kind, names, options, f"sheet {title!r} of {head.path}"):
                        return
                except TurnloomError as error:
                    problem = problem or error
        except TurnloomError:
            raise
        except Exception as error:
            raise TurnloomError(f"{head.path} is no whole Excel workbook ({error})", _EXPORT) from error
        finally:
            book.close()
        raise problem or TurnloomError(f"{head.path} has no sheet with a header", "name the columns in its first row")

    def _open(self, stream: ByteStream, path: str) -> _Workbook:
        content = bytearray()
        while piece := stream.read1(2**20):
            content += piece
            if len(content) > MAX_WORKBOOK_BYTES:
                raise TurnloomError(f"{path} is a workbook of more than {MAX_WORKBOOK_BYTES // 2**20} MiB", _EXPORT)
        return _Workbook(bytes(content), path)

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:
        """Yield the dialogues of the sheets that hold any."""
        try:
            book = self._open(stream, path)
        except TurnloomError as error:
            yield Rejection(0, error.problem)
            return
        try:
            for title, names, rows in book.sheets():
                first = list(itertools.islice(rows, SAMPLE_ROWS))
                kind = _choose_kind(names, first, options.mapping)
                try:
                    if kind is None or not _is_readable(kind, names, options, f"sheet {title!r}"):
                        continue
                except TurnloomError as error:
                    yield Rejection(0, error.problem)
                    continue
                yield from kind.read(itertools.chain(first, rows), names, options)
        except Exception as error:  # A broken sheet raises whatever its XML runs into.
            yield Rejection(0, f"the workbook is broken: {type(error).__name__} {error}")
        finally:
            book.close()


READER = ExcelReader()
