"""The Schema-Guided Dialogue format: arrays of dialogues whose turns carry frames with actions, slots and a state."""

from __future__ import annotations

import re
from typing import Any

from turnloom.corpus.readers.base import JsonReader, ReadOptions, identifier, list_of, strings, value_of
from turnloom.corpus.readers.json_records import JsonRecord
from turnloom.corpus.schema import BadDialogueError, Dialogue, Slot, Turn


def _objects(record: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects of an optional list."""
    found = list_of(record, key, "a turn")
    if not all(isinstance(entry, dict) for entry in found):
        raise BadDialogueError(f"a turn's {key!r} is not a list of objects", found)
    return found


def _acts(frames: list[dict[str, Any]]) -> list[str]:
    """Return ``ACT:slot``, or ``ACT`` without a slot; sorted and distinct, because they are compared as sets."""
    found = set()
    for frame in frames:
        for action in _objects(frame, "actions"):
            act, slot = value_of(action, "act", str, "an action"), action.get("slot")
            found.add(f"{act}:{slot}" if slot else act)
    return sorted(found)


def _slots(frames: list[dict[str, Any]], text: str) -> list[Slot]:
    """Return the spans of slot values; MultiWOZ 2.2 slots copied from elsewhere have no span and are skipped."""
    found = []
    for frame in frames:
        for slot in _objects(frame, "slots"):
            start, end = slot.get("start"), slot.get("exclusive_end")
            if isinstance(start, int) and isinstance(end, int):
                found.append(Slot(value_of(slot, "slot", str, "a slot"), text[max(start, 0) : end], start, end))
    return found


def _intent(frames: list[dict[str, Any]]) -> str | None:
    states = [frame["state"] for frame in frames if isinstance(frame.get("state"), dict)]
    intents = [state.get("active_intent") for state in states]
    return "+".join(intent for intent in intents if isinstance(intent, str) and intent != "NONE") or None


def _turn(turn: Any) -> Turn:
    text = value_of(turn, "utterance", str, "a turn")
    frames = _objects(turn, "frames")
    return Turn(
        speaker=value_of(turn, "speaker", str, "a turn").lower(),
        text=text,
        acts=_acts(frames) or None,
        slots=_slots(frames, text) or None,
        intent=_intent(frames),
    )


def parse(record: JsonRecord, options: ReadOptions) -> Dialogue:
    """Convert a record to a dialogue."""
    value = record.value
    return Dialogue(
        dialogue_id=identifier(value.get("dialogue_id"), record, options),
        source=options.source,
        turns=[_turn(turn) for turn in value_of(value, "turns", list, "a record")],
        domains=strings(value.get("services"), "services"),
        language=options.language,
    )


READER = JsonReader(
    name="sgd",
    title="Schema-Guided Dialogue (also MultiWOZ 2.2)",
    start=re.compile(r'\{\s*"dialogue_id"\s*:'),
    signs={("turns", "utterance", "frames"): "its dialogues have turns with 'utterance' and 'frames'"},
    parse=parse,
)
