"""MultiWOZ 2.0 and 2.1 (``data.json``: an object of dialogues with a `log`); version 2.2 is read as `sgd`."""

from __future__ import annotations

import re
from typing import Any

from turnloom.corpus.readers.base import JsonReader, ReadOptions, identifier, list_of, value_of
from turnloom.corpus.readers.json_records import JsonRecord
from turnloom.corpus.schema import BadDialogueError, Dialogue, Slot, Turn

_NOT_DOMAINS = {"message", "topic"}


def _acts(turn: dict[str, Any]) -> list[str]:
    """Return ``domain-act:slot`` in lower case, sorted and distinct."""
    acts = turn.get("dialog_act") or {}
    if not isinstance(acts, dict):
        return []  # Unlabelled turns contain the text "No Annotation".
    found = set()
    for act, arguments in acts.items():
        if not isinstance(arguments, list):
            raise BadDialogueError(f"the arguments of act {act!r} are not a list", arguments)
        for argument in arguments:
            slot = argument[0] if isinstance(argument, list) and argument else "none"
            found.add(f"{act}:{slot}".lower())
    return sorted(found)


def _slots(turn: dict[str, Any], text: str) -> list[Slot]:
    """Return the slot values that occur in the text; the file's positions count tokens of another tokenizer."""
    found = []
    for span in list_of(turn, "span_info", "a turn"):
        if not isinstance(span, list) or len(span) < 3 or not all(isinstance(part, str) for part in span[:3]):
            raise BadDialogueError("an entry of 'span_info' is not [act, slot, value, …]", span)
        place = re.search(re.escape(span[2]), text, re.IGNORECASE) if span[2] else None
        if place:
            found.append(Slot(span[1].lower(), place.group(), place.start(), place.end()))
    return found


def _turn(turn: Any, position: int) -> Turn:
    text = value_of(turn, "text", str, "a turn").strip()
    speaker = "user" if position % 2 == 0 else "system"
    return Turn(speaker, text, acts=_acts(turn) or None, slots=_slots(turn, text) or None)


def _domains(goal: Any) -> list[str] | None:
    """Return the domains of the user's goal; other domains have an empty value."""
    if not isinstance(goal, dict):
        return None
    return [name for name, value in goal.items() if value and name not in _NOT_DOMAINS] or None


def parse(record: JsonRecord, options: ReadOptions) -> Dialogue:
    """Convert a record to a dialogue: turns alternate, the user first."""
    log = value_of(record.value, "log", list, "a dialogue")
    name = record.key.removesuffix(".json") if record.key else record.value.get("dialogue_id")
    return Dialogue(
        dialogue_id=identifier(name, record, options),
        source=options.source,
        turns=[_turn(turn, position) for position, turn in enumerate(log)],
        domains=_domains(record.value.get("goal")),
        language=options.language,
    )


READER = JsonReader(
    name="multiwoz",
    title="MultiWOZ 2.0 and 2.1 (data.json)",
    start=re.compile(r'"[^"\n]{1,100}"\s*:\s*\{\s*"(?:goal|log)"'),
    signs={("log", "text"): "its dialogues have a 'log' of turns with 'text'"},
    parse=parse,
)
