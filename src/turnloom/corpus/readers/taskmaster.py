"""Taskmaster 1 to 4: arrays of conversations with `utterances` and annotated segments."""

from __future__ import annotations

import re
from typing import Any

from turnloom.corpus.readers.base import JsonReader, ReadOptions, identifier, list_of, strings, value_of
from turnloom.corpus.readers.json_records import JsonRecord
from turnloom.corpus.schema import BadDialogueError, Dialogue, Slot, Turn


def _segment(segment: Any, text: str) -> list[Slot]:
    """Return one slot per distinct name that annotators gave the segment."""
    start = value_of(segment, "start_index", int, "a segment")
    end = value_of(segment, "end_index", int, "a segment")
    if not 0 <= start <= end:
        raise BadDialogueError("a segment ends before it starts", segment)
    end = min(end, len(text))  # A few published segments extend one character past their text.
    annotations = list_of(segment, "annotations", "a segment")
    names = dict.fromkeys(value_of(annotation, "name", str, "an annotation") for annotation in annotations)
    return [Slot(name, text[start:end], start, end) for name in names if start < end]


def _turn(utterance: Any) -> Turn:
    text = value_of(utterance, "text", str, "an utterance")
    segments = list_of(utterance, "segments", "an utterance")
    slots = [slot for segment in segments for slot in _segment(segment, text)]
    return Turn(value_of(utterance, "speaker", str, "an utterance").lower(), text, slots=slots or None)


def _domain(value: dict[str, Any]) -> list[str] | None:
    """Return the domain. Taskmaster 3 and 4 name a vertical; in 1 and 2 the instruction's name ends in a number."""
    if isinstance(value.get("instruction_id"), str) and "vertical" not in value:
        return [re.sub(r"-\d+[a-z]?$", "", value["instruction_id"])]
    return strings(value.get("vertical"), "vertical")


def parse(record: JsonRecord, options: ReadOptions) -> Dialogue:
    """Convert a record to a dialogue."""
    value = record.value
    utterances = value_of(value, "utterances", list, "a record")
    return Dialogue(
        dialogue_id=identifier(value.get("conversation_id"), record, options),
        source=options.source,
        turns=[_turn(utterance) for utterance in utterances],
        domains=_domain(value),
        language=options.language,
    )


READER = JsonReader(
    name="taskmaster",
    title="Taskmaster 1 to 4",
    start=re.compile(r'\{\s*"conversation_id"\s*:'),
    signs={("utterances", "text"): "its records have 'utterances' with 'text'"},
    parse=parse,
)
