"""Group rows of turns into dialogues, for CSV, TSV and Parquet tables.

Adjacent rows of one dialogue become a dialogue at once, so a table sorted by dialogue streams. A dialogue with
scattered rows comes out in pieces, each with its sort keys; `convert` joins them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from turnloom.corpus.readers.base import ReadOptions
from turnloom.corpus.readers.column_names import column_names, folded_name
from turnloom.corpus.readers.logfile import Parsed, Rejection, shorten
from turnloom.corpus.readers.markup import plain_cell
from turnloom.corpus.readers.times import DateOrder, TimeReader
from turnloom.corpus.schema import BadDialogueError, Dialogue, Turn, check_string, check_turn
from turnloom.errors import TurnloomError

FIELDS = column_names()
"""The fields of a row, and the column names recognised for each."""

DATES = "dates"
"""The `--map` values for the order of day and month."""
AGENT = "agent"
"""`--map agent=ANNA|BEN` names the speakers who are agents; all others are customers."""
NO_TIME = "none"
"""`--map time=none` ignores all times."""
NO_ORDER = -(2**63)
"""The order of a turn without a time: it follows the turn on the line before it."""

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
MAX_RUN = 10_000
"""The most rows of one dialogue held at a time; a longer dialogue comes out in pieces."""


@dataclass(slots=True, frozen=True)
class Row:
    """One row of a table: its line and its values by column name."""

    line: int
    values: dict[str, Any]


def read_mapping(mapping: dict[str, str]) -> tuple[dict[str, str], TimeReader, frozenset[str]]:
    """Normalise a mapping to field names, and extract its settings for times and the names of agents.

    A field may have any of its recognised column names: ``role`` means ``speaker``.
    """
    by_field: dict[str, str] = {}
    for name, column in mapping.items():
        field = next((field for field, names in FIELDS.items() if name in names), name)
        if field not in (*FIELDS, DATES, AGENT):
            raise TurnloomError(f"--map has no field {name!r}", f"its fields are {', '.join([*FIELDS, DATES, AGENT])}")
        if field in by_field:
            raise TurnloomError(f"--map names the {field} twice", f"name one column: {field}=COLUMN")
        by_field[field] = column
    order = by_field.pop(DATES, None)
    if order not in (None, "day-first", "month-first"):
        raise TurnloomError(f"--map dates cannot be {order!r}", "write dates=day-first or dates=month-first")
    agents = frozenset(name.strip() for name in by_field.pop(AGENT, "").split("|") if name.strip())
    return by_field, TimeReader(cast("DateOrder | None", order), off=by_field.get("time") == NO_TIME), agents


def find_columns(names: list[str], mapping: dict[str, str], path: str) -> dict[str, str]:
    """Match columns to fields: by the user's mapping, else by column name.

    Example:
        >>> find_columns(["conv", "who", "body"], {"text": "body"}, "chats.csv")
        {'dialogue_id': 'conv', 'text': 'body', 'speaker': 'who'}
    """
    wanted = dict(mapping)
    off = wanted.get("time") == NO_TIME and wanted.pop("time")
    for column in wanted.values():
        if column not in names:
            raise TurnloomError(f"{path} has no column {column!r}", f"its columns are {', '.join(names)}")
    by_name = {folded_name(name): name for name in reversed(names)}
    columns = {}
    for field, known in FIELDS.items():
        found = wanted.get(field) or next((by_name[name] for name in known if name in by_name), None)
        if found is not None and not (off and field == "time"):
            columns[field] = found
    for field in ("dialogue_id", "text"):
        if field not in columns:
            raise TurnloomError(
                f"{path} has no column that looks like {field} (its columns are {', '.join(names)})",
                f"name it with --map {field}=COLUMN",
            )
    return columns


def _cell(row: Row, column: str | None) -> str:
    value = row.values.get(column) if column else None
    if value is None:
        return ""
    if isinstance(value, (list, dict, bytes)):
        raise BadDialogueError(f"column {column!r} holds {type(value).__name__}, not text", value)
    return str(value)


def time_order(time: dt.datetime | None) -> int:
    """Return the sort key of a turn by its time."""
    return (time - _EPOCH) // dt.timedelta(microseconds=1) if time else NO_ORDER


def _order(row: Row, columns: dict[str, str], turn: Turn) -> int:
    """Return the turn's number if the table has one, else its time, else its line."""
    if "turn" in columns:
        try:
            return int(float(_cell(row, columns["turn"])))
        except (ValueError, OverflowError) as error:
            raise BadDialogueError(
                f"column {columns['turn']!r} is not a number", _cell(row, columns["turn"])
            ) from error
    if "time" in columns:
        return time_order(turn.time)
    return row.line


def _turn(row: Row, columns: dict[str, str], options: ReadOptions) -> tuple[str, Turn, int, str | None]:
    dialogue_id = _cell(row, columns["dialogue_id"]).strip()
    if not dialogue_id:
        raise BadDialogueError(f"column {columns['dialogue_id']!r} is empty", repr(row.values))
    time = row.values.get(columns["time"]) if "time" in columns else None
    intent = _cell(row, columns.get("intent")) or None
    speaker = _cell(row, columns.get("speaker")).strip()
    turn = Turn(speaker, plain_cell(_cell(row, columns["text"])), intent=intent, time=options.times.read(time))
    order = _order(row, columns, turn)
    if not -(2**63) <= order < 2**63:
        raise BadDialogueError("a turn's number does not fit into 64 bits", str(order))
    language = _cell(row, columns.get("language")) or None
    check_string(dialogue_id, "the dialogue's id")
    if turn.text.strip():  # An empty cell is an attachment or a join event; counted and skipped below.
        check_turn(turn)
    if language is not None:
        check_string(language, "language")
    return dialogue_id, turn, order, language


def group_rows(
    rows: Iterator[Row | Rejection], columns: dict[str, str], options: ReadOptions
) -> Iterator[Parsed | Rejection]:
    """Yield dialogues from rows, and a Rejection for each row that is not a turn."""
    run: Parsed | None = None  # Adjacent rows of one dialogue.
    orders: list[int] = []
    lines: list[int] = []
    for row in rows:
        if isinstance(row, Rejection):
            yield row
            continue
        try:
            dialogue_id, turn, order, language = _turn(row, columns, options)
        except BadDialogueError as error:
            yield Rejection(row.line, error.reason, shorten(error.piece))
            continue
        if run is None or run.dialogue.dialogue_id != dialogue_id or run.records >= MAX_RUN:
            if run is not None:
                yield _finished(run, options)
            orders, lines = [], []
            run = Parsed(Dialogue(dialogue_id, options.source, []), 0, 0, orders, lines)
        run.records += 1
        run.dialogue.language = run.dialogue.language or language
        if turn.text.strip():
            run.dialogue.turns.append(turn)
            orders.append(order)
            lines.append(row.line)
        else:
            run.dropped_turns += 1
    if run is not None:
        yield _finished(run, options)


def _finished(run: Parsed, options: ReadOptions) -> Parsed:
    run.dialogue.language = run.dialogue.language or options.language
    return run
