"""The dialogue table: one row per dialogue with nested turns, the same everywhere in Turnloom.

One row per dialogue instead of one per turn is a measured choice: pairs, windows and templates become maps over rows,
and only de-duplication and counting need a shuffle.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pyarrow as pa

SCHEMA_VERSION = 1
"""Increased whenever a column is added, renamed or changes its meaning."""

MAX_TEXT_CHARS = 100_000
"""Nobody says this much in one turn: longer texts are pasted logs or a broken quote."""

_SLOT = pa.struct(
    [("name", pa.string()), ("value", pa.string()), ("start", pa.int32()), ("end", pa.int32())],
)
_TURN = pa.struct(
    [
        ("speaker", pa.string()),
        ("text", pa.string()),
        ("acts", pa.list_(pa.string())),
        ("slots", pa.list_(_SLOT)),
        ("intent", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
    ]
)
ARROW_SCHEMA = pa.schema(
    [
        ("dialogue_id", pa.string()),
        ("source", pa.string()),
        ("turns", pa.list_(_TURN)),
        ("domains", pa.list_(pa.string())),
        ("language", pa.string()),
        ("labels", pa.list_(pa.string())),
    ]
)


class BadDialogueError(ValueError):
    """A record that cannot become a dialogue: a reason that a person with the log open can act on, and the text."""

    def __init__(self, reason: str, piece: object = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.piece = piece if isinstance(piece, str) else repr(piece)


@dataclass(slots=True, frozen=True)
class Slot:
    """A value mentioned in a turn: ``text[start:end]`` if the source gives the span, else both are None."""

    name: str
    value: str
    start: int | None = None
    end: int | None = None


@dataclass(slots=True)
class Turn:
    """One message by one speaker."""

    speaker: str
    text: str
    acts: list[str] | None = None
    slots: list[Slot] | None = None
    intent: str | None = None
    time: dt.datetime | None = None


@dataclass(slots=True)
class Dialogue:
    """One conversation, from its first turn to its last.

    Example:
        >>> Dialogue("1", "demo", [Turn("user", "hi"), Turn("agent", "hello, how can I help?")]).turns[1].speaker
        'agent'
    """

    dialogue_id: str
    source: str
    turns: list[Turn]
    domains: list[str] | None = None
    language: str | None = None
    labels: list[str] | None = None


def check_string(value: object, what: str, *, limit: int = 1_000) -> None:
    """Raise BadDialogueError if a value cannot be stored as text."""
    if not isinstance(value, str):
        raise BadDialogueError(f"{what} is {type(value).__name__}, not text", value)
    if len(value) > limit:
        raise BadDialogueError(f"{what} has {len(value):,} characters, more than {limit:,}", value)
    if "\x00" in value:
        raise BadDialogueError(f"{what} holds a NUL character", value)
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BadDialogueError(
                f"{what} holds bytes that are not UTF-8 or half of a surrogate pair", value
            ) from error


def _check_strings(values: object, what: str) -> None:
    if values is None:
        return
    if not isinstance(values, list):
        raise BadDialogueError(f"{what} is {type(values).__name__}, not a list of texts", values)
    for value in values:
        check_string(value, f"an entry of {what}")


def check_turn(turn: Turn) -> None:
    """Raise BadDialogueError if a turn with text is invalid."""
    check_string(turn.text, "a turn's text", limit=MAX_TEXT_CHARS)
    if not turn.text.strip():
        raise BadDialogueError("a turn's text is empty")
    check_string(turn.speaker, "a turn's speaker")
    if turn.acts is not None:
        _check_strings(turn.acts, "a turn's acts")
    if turn.intent is not None:
        check_string(turn.intent, "a turn's intent")
    for slot in turn.slots or ():
        check_string(slot.name, "a slot's name")
        check_string(slot.value, "a slot's value", limit=MAX_TEXT_CHARS)
        if slot.start is None and slot.end is None:
            continue
        if slot.start is None or slot.end is None or not 0 <= slot.start <= slot.end <= len(turn.text):
            raise BadDialogueError(f"slot {slot.name!r} spans {slot.start}:{slot.end}, outside its text", turn.text)


def check_dialogue(dialogue: Dialogue) -> Dialogue:
    """Return the dialogue unchanged, or raise BadDialogueError with what is wrong.

    Example:
        >>> check_dialogue(Dialogue("7", "demo", []))
        Traceback (most recent call last):
        ...
        turnloom.corpus.schema.BadDialogueError: it has no turn with text
    """
    check_string(dialogue.dialogue_id, "the dialogue's id")
    check_string(dialogue.source, "the dialogue's source")
    if not dialogue.dialogue_id:
        raise BadDialogueError("the dialogue's id is empty")
    if not dialogue.turns:
        raise BadDialogueError("it has no turn with text")
    for turn in dialogue.turns:
        check_turn(turn)
    _check_strings(dialogue.domains, "domains")
    _check_strings(dialogue.labels, "labels")
    if dialogue.language is not None:
        check_string(dialogue.language, "language")
    return dialogue


def _list_array(lists: Sequence[Sequence[Any] | None], values: pa.Array) -> pa.Array:
    """Build a column of optional lists from one array of values."""
    offsets = [0, *itertools.accumulate(len(entries or ()) for entries in lists)]
    missing = pa.array([entries is None for entries in lists], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=missing)


def _turn_array(turns: list[Turn]) -> pa.Array:
    """Build turns column by column: building Arrow structs from Python dictionaries takes four times as long."""
    slots = [slot for turn in turns for slot in turn.slots or ()]
    slot_values = pa.StructArray.from_arrays(
        [pa.array(list(map(attrgetter(field.name), slots)), field.type) for field in _SLOT],
        fields=list(_SLOT),
    )
    columns = [
        _list_array([turn.slots for turn in turns], slot_values)
        if field.name == "slots"
        else pa.array(list(map(attrgetter(field.name), turns)), field.type)
        for field in _TURN
    ]
    return pa.StructArray.from_arrays(columns, fields=list(_TURN))


def dialogues_to_arrow(dialogues: Sequence[Dialogue]) -> pa.Table:
    """Convert dialogues to one Arrow table with the schema of the dialogue table."""
    turns = _turn_array([turn for dialogue in dialogues for turn in dialogue.turns])
    columns = [
        _list_array([dialogue.turns for dialogue in dialogues], turns)
        if field.name == "turns"
        else pa.array(list(map(attrgetter(field.name), dialogues)), field.type)
        for field in ARROW_SCHEMA
    ]
    return pa.Table.from_arrays(columns, schema=ARROW_SCHEMA)


def dialogues_from_arrow(table: pa.Table) -> Iterator[Dialogue]:
    """Yield the rows of a dialogue table as objects, for small tables, tests and debugging."""
    for row in table.to_pylist():
        turns = [Turn(**turn) for turn in row.pop("turns")]
        for turn in turns:
            turn.slots = None if turn.slots is None else [Slot(**slot) for slot in turn.slots]  # type: ignore[arg-type]
        yield Dialogue(**row, turns=turns)
