"""CSV and TSV: one turn per row, a header, quoted fields that may span lines."""

from __future__ import annotations

import csv
import io
import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from turnloom.corpus.readers import cells
from turnloom.corpus.readers.base import Head, ReadOptions
from turnloom.corpus.readers.column_names import folded_name
from turnloom.corpus.readers.logfile import UTF_8, ByteStream, Line, Parsed, Rejection, read_lines, shorten
from turnloom.corpus.readers.rows import FIELDS, Row, find_columns, group_rows
from turnloom.corpus.readers.tables import TableKind
from turnloom.corpus.readers.vendors import salesforce
from turnloom.errors import TurnloomError

DELIMITERS = "\t,;|"
SAMPLE_ROWS = 50
MAX_HEADER_CHARS = 100_000
MAX_RECORD_LINES = 1_000
"""A quoted field with more lines than this is a quote that was never closed."""


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _parse(text: str, delimiter: str) -> list[str] | None:
    """Return the fields of a record; None while a quote is open."""
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            return None
        # A stray quote inside a field is common and harmless: read it as spreadsheets do.
        return next(csv.reader([text], delimiter=delimiter), [])


def _never_closed(text: str, delimiter: str) -> bool:
    """Whether lines that were joined over an open quote do not belong together after all."""
    try:
        next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        return "unexpected end of data" not in str(error)
    return False


class _Lines:
    """The remaining lines; some may have been put back."""

    def __init__(self, lines: Iterator[Line | Rejection]) -> None:
        self._lines = lines
        self._waiting: deque[Line | Rejection] = deque()

    def take(self) -> Line | Rejection | None:
        return self._waiting.popleft() if self._waiting else next(self._lines, None)

    def put_back(self, lines: list[Line | Rejection]) -> None:
        self._waiting.extendleft(reversed(lines))


def _record(first: Line, lines: _Lines, delimiter: str, width: int) -> list[str] | Rejection:
    """Read the record that starts at a line, continuing while a quote is open and the lines belong together."""
    text = first.content.decode("utf-8")
    fields = _parse(text, delimiter)
    taken: list[Line | Rejection] = []
    while fields is None:
        following = lines.take()
        if following is not None:
            taken.append(following)
        if isinstance(following, Line) and len(taken) < MAX_RECORD_LINES:
            text += "\n" + following.content.decode("utf-8", "surrogateescape")
            if b'"' not in following.content:
                continue
            if not _never_closed(text, delimiter):
                fields = _parse(text, delimiter)
                if fields is None or len(fields) == width:
                    continue
        lines.put_back(taken)
        return Rejection(first.number, "a quote is opened and never closed", shorten(first.content))
    return fields


def split_records(
    stream: Iterator[Line | Rejection], delimiter: str, width: int
) -> Iterator[tuple[int, list[str]] | Rejection]:
    """Yield the records of a delimited file of `width` columns, with the number of their first line.

    Every physical line belongs to exactly one record or Rejection: an unclosed quote costs its own line, not the rest
    of the file.
    """
    lines = _Lines(stream)
    while (line := lines.take()) is not None:
        if isinstance(line, Rejection):
            yield line
            continue
        if not line.content.strip():
            continue
        try:
            record = _record(line, lines, delimiter, width)
        except UnicodeDecodeError as error:
            yield Rejection(line.number, f"it is not UTF-8 (byte {error.start})", shorten(line.content))
        except csv.Error as error:
            yield Rejection(line.number, f"it is not CSV: {error}", shorten(line.content))
        else:
            yield record if isinstance(record, Rejection) else (line.number, record)


def _header(line: bytes, path: str) -> tuple[str, list[str]]:
    """Return the delimiter and the column names."""
    text = line.decode("utf-8-sig", "replace").strip("\r\n")
    if not text.strip():
        raise TurnloomError(f"{path} has no header line", "its first line must name the columns")
    delimiter = _delimiter(text)
    try:
        return delimiter, _parse(text, delimiter) or []
    except csv.Error as error:
        raise TurnloomError(f"{path} has no header line ({error})", "its first line must name the columns") from error


_SEPARATORS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}


def sample_rows(head: Head) -> tuple[list[str], list[Row]]:
    """Return the column names and the first rows of a file's start; no names if it is no table."""
    lines = head.lines()
    if head.container is not None or not lines or b"\x00" in head.content[:1_000] or len(lines[0]) > MAX_HEADER_CHARS:
        return [], []
    delimiter, names = _header(lines[0].encode(UTF_8), head.path) if lines[0].strip() else (",", [])
    if len(names) < 2:
        return [], []
    stream = io.BufferedReader(io.BytesIO(head.content))
    stream.readline()
    rows = (row for row in _rows(read_lines(stream), names, delimiter) if isinstance(row, Row))
    return names, list(itertools.islice(rows, SAMPLE_ROWS))


class _FirstCells:
    """What the first cells of a table's rows look like: with digits, letters, spaces or none of them."""

    def __init__(self) -> None:
        self._seen: set[tuple[bool, ...]] = set()

    @staticmethod
    def _look(cell: str) -> tuple[bool, ...]:
        return tuple(any(map(test, cell.strip())) for test in (str.isdigit, str.isalpha, str.isspace))

    def add(self, cell: str) -> None:
        self._seen.add(self._look(cell))

    def are_unlike(self, cell: str) -> bool:
        return bool(self._seen) and self._look(cell) not in self._seen


def _rows(lines: Iterator[Line | Rejection], names: list[str], delimiter: str) -> Iterator[Row | Rejection]:
    """Yield the rows. Lines below a broken one that don't start as rows do are the rest of its text, and go with it."""
    starts = _FirstCells()
    broken: Rejection | None = None
    for record in split_records(lines, delimiter, len(names)):
        entry = _row(record, names, delimiter)
        if isinstance(entry, Row):
            starts.add(entry.values[names[0]])
        elif broken is not None and starts.are_unlike(entry.piece.partition(delimiter)[0]):
            broken = replace(broken, piece=shorten(f"{broken.piece}\n{entry.piece}"))
            continue
        if broken is not None:
            yield broken
            broken = None
        if isinstance(entry, Row):
            yield entry
        else:
            broken = entry
    if broken is not None:
        yield broken


def _row(record: tuple[int, list[str]] | Rejection, names: list[str], delimiter: str) -> Row | Rejection:
    if isinstance(record, Rejection):
        return record
    number, fields = record
    if len(fields) == len(names):
        return Row(number, dict(zip(names, fields, strict=True)))
    reason = f"it has {len(fields)} fields, the header has {len(names)}"
    return Rejection(number, reason, shorten(delimiter.join(fields)))


class TurnRows:
    """Tables with a turn per row, under any column names."""

    name = "csv"
    title = "CSV or TSV, one row a turn"

    def sign(self, names: list[str], rows: list[Row]) -> str | None:  # noqa: ARG002
        """Recognise a known column name."""
        by_name = [folded_name(name) for name in names]
        known = [name for name in by_name if any(name in aliases for aliases in FIELDS.values())]
        return ", ".join(known) or None

    def read(
        self, rows: Iterator[Row | Rejection], names: list[str], options: ReadOptions
    ) -> Iterator[Parsed | Rejection]:
        """Yield the dialogues of the rows."""
        yield from group_rows(rows, find_columns(names, options.mapping, options.stem), options)


class DelimitedReader:
    """Reads a text file with a delimiter that holds one kind of table."""

    pieces = True

    def __init__(self, kind: TableKind) -> None:
        self._kind = kind
        self.name, self.title = kind.name, kind.title

    def recognise(self, head: Head) -> str | None:
        """Recognise a header with a delimiter and the columns of this kind of table, or a telling file name."""
        names, rows = sample_rows(head)
        if not names:
            return None
        turns = self._kind.name == TURN_ROWS.name
        if not turns:
            # Whoever names the columns of turns means turns.
            return None if {"dialogue_id", "text"} & set(head.mapping) else self._kind.sign(names, rows)
        separator = _SEPARATORS[_delimiter(head.lines()[0])]
        if known := self._kind.sign(names, rows):
            return f"its first line is a {separator}-separated header with {known}"
        ending = head.path.lower().removesuffix(".gz").removesuffix(".zst").rsplit(".", 1)[-1]
        if ending in ("csv", "tsv", "tab"):
            return f"its name ends in .{ending} and its first line has {len(names)} {separator}-separated names"
        return None

    def check(self, head: Head, options: ReadOptions) -> None:
        """Require a header, and for turns a column for the dialogue's id and one for the text."""
        _, names = _header(head.content.partition(b"\n")[0], head.path)
        if self._kind.name == TURN_ROWS.name:
            find_columns(names, options.mapping, head.path)

    def read(self, stream: ByteStream, path: str, options: ReadOptions) -> Iterator[Parsed | Rejection]:
        """Yield the file's dialogues, row by row."""
        lines = read_lines(stream)
        header = next(lines, None)
        delimiter, names = _header(header.content if isinstance(header, Line) else b"", path)
        yield from self._kind.read(_rows(lines, names, delimiter), names, options)


TURN_ROWS = TurnRows()
KINDS: tuple[TableKind, ...] = (salesforce.COMMENTS, salesforce.EMAILS, cells.KIND, TURN_ROWS)
"""Every kind of table, most distinctive first; Excel workbooks hold the same."""
READERS = tuple(DelimitedReader(kind) for kind in KINDS)
