"""What a table, CSV or Excel, may hold: turns in rows, a vendor's rows, or a whole transcript in each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.logfile import Parsed, Rejection, shorten
from turnloom.corpus.readers.rows import Row, group_rows
from turnloom.corpus.schema import BadDialogueError


class TableKind(Protocol):
    """One way in which tables hold conversations."""

    @property
    def name(self) -> str:
        """The value of ``--format``."""

    @property
    def title(self) -> str:
        """The name for people."""

    def sign(self, names: list[str], rows: list[Row]) -> str | None:
        """Say in a few words why the header and the first rows look like this kind; None if they do not."""

    def read(
        self, rows: Iterator[Row | Rejection], names: list[str], options: ReadOptions
    ) -> Iterator[Parsed | Rejection]:
        """Yield the dialogues of the rows."""


def normal_name(name: str) -> str:
    """Return a column's name as it is compared: ``Created By: User Type`` is ``createdbyusertype``."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


@dataclass(frozen=True)
class VendorTable:
    """A vendor's table with a message per row, under column names that only this vendor has.

    Args:
        columns: The names of each column that is used, as `normal_name` gives them, most usual first.
        needed: The columns without which it is another table.
        parse: Converts the values of a row, by the names above, to `dialogue_id`, `text`, `speaker` and `time`.
    """

    name: str
    title: str
    columns: Mapping[str, tuple[str, ...]]
    needed: tuple[str, ...]
    parse: Callable[[dict[str, Any]], dict[str, Any]]

    def _columns(self, names: list[str]) -> dict[str, str]:
        by_name = {normal_name(name): name for name in reversed(names)}
        pairs = {
            column: next((by_name[known] for known in aliases if known in by_name), None)
            for column, aliases in self.columns.items()
        }
        return {column: name for column, name in pairs.items() if name is not None}

    def sign(self, names: list[str], rows: list[Row]) -> str | None:  # noqa: ARG002
        """Recognise the vendor's columns."""
        found = self._columns(names)
        if all(column in found for column in self.needed):
            return f"its columns are those of {self.title} ({', '.join(found[column] for column in self.needed)})"
        return None

    def read(
        self, rows: Iterator[Row | Rejection], names: list[str], options: ReadOptions
    ) -> Iterator[Parsed | Rejection]:
        """Yield the dialogues of the rows."""
        fields = {name: name for name in ("dialogue_id", "text", "speaker", "time")}
        yield from group_rows(self._turns(rows, self._columns(names)), fields, options)

    def _turns(self, rows: Iterator[Row | Rejection], columns: dict[str, str]) -> Iterator[Row | Rejection]:
        for row in rows:
            if isinstance(row, Rejection):
                yield row
                continue
            try:
                yield Row(row.line, self.parse({column: row.values.get(name) for column, name in columns.items()}))
            except BadDialogueError as error:
                yield Rejection(row.line, error.reason, shorten(error.piece))


def cell_text(values: Mapping[str, Any], *names: str) -> str:
    """Return the first cell with a text; empty if there is none."""
    for name in names:
        value = values.get(name)
        if value is not None and str(value).strip():
            return str(value)
    return ""


def is_yes(value: Any) -> bool:
    """Whether a cell means yes: ``true``, ``1``, ``yes``."""
    return str(value).strip().lower() in ("true", "1", "yes", "wahr", "vrai", "1.0")


def is_no(value: Any) -> bool:
    """Whether a cell means no; an empty one does not."""
    return str(value).strip().lower() in ("false", "0", "no", "falsch", "faux", "0.0")
