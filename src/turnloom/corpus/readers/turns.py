"""`turns` records: ``{"id": …, "turns": [{"speaker": …, "text": …}, …]}``, Turnloom's own JSON format."""

from __future__ import annotations

import re
from typing import Any

from turnloom.corpus.readers.base import JsonReader, ReadOptions, identifier, list_of, strings, value_of
from turnloom.corpus.readers.json_records import JsonRecord
from turnloom.corpus.schema import BadDialogueError, Dialogue, Slot, Turn


def _slot(slot: Any) -> Slot:
    name, value = value_of(slot, "name", str, "a slot"), value_of(slot, "value", str, "a slot")
    start, end = slot.get("start"), slot.get("end")
    for position in (start, end):
        if position is not None and (isinstance(position, bool) or not isinstance(position, int)):
            raise BadDialogueError("a slot's position is not a whole number", slot)
    return Slot(name, value, start, end)


def _turn(turn: Any, options: ReadOptions) -> Turn:
    text = value_of(turn, "text", str, "a turn")
    # Several intents are joined by "+", as in Rasa.
    intents = strings(turn.get("intent"), "a turn's intent")
    return Turn(
        speaker=value_of(turn, "speaker", str, "a turn") if turn.get("speaker") is not None else "",
        text=text,
        acts=strings(turn["acts"] if "acts" in turn else turn.get("act"), "a turn's acts"),
        slots=[_slot(slot) for slot in list_of(turn, "slots", "a turn")] if turn.get("slots") is not None else None,
        intent="+".join(intents) if intents else None,
        time=options.times.read(turn.get("time")),
    )


def _first(record: dict[str, Any], *keys: str) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def parse(record: JsonRecord, options: ReadOptions) -> Dialogue:
    """Convert a record to a dialogue."""
    value = record.value
    turns = value_of(value, "turns", list, "a record")
    return Dialogue(
        dialogue_id=identifier(_first(value, "dialogue_id", "id"), record, options),
        source=options.source,
        turns=[_turn(turn, options) for turn in turns],
        domains=strings(_first(value, "domains", "services", "domain"), "domains"),
        language=_first(value, "language") or options.language,
        labels=strings(_first(value, "labels", "label"), "labels"),
    )


READER = JsonReader(
    name="turns",
    title="turns JSON (speaker and text)",
    start=re.compile(r'\{\s*"(?:id|dialogue_id|turns)"\s*:'),
    signs={("turns", "text"): "its records have 'turns' with 'text'"},
    parse=parse,
)
