from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any

import pytest

from turnloom.corpus.schema import (
    ARROW_SCHEMA,
    BadDialogueError,
    Dialogue,
    Slot,
    Turn,
    check_dialogue,
    dialogues_to_arrow,
)

GOOD = Dialogue("1", "s", [Turn("u", "hello")])


def changed(**values: Any) -> Dialogue:
    turn_fields = {field.name for field in dataclasses.fields(Turn)}
    turn = {key: value for key, value in values.items() if key in turn_fields}
    rest = {key: value for key, value in values.items() if key not in turn_fields}
    return dataclasses.replace(GOOD, turns=[dataclasses.replace(GOOD.turns[0], **turn)], **rest)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"dialogue_id": ""}, "id is empty"),
        ({"dialogue_id": 3}, "id is int"),
        ({"dialogue_id": "x" * 1_001}, "1,001 characters"),
        ({"text": "   "}, "text is empty"),
        ({"text": None}, "text is NoneType"),
        ({"text": "a\x00b"}, "NUL"),
        ({"text": "\ud83d"}, "not UTF-8"),
        ({"speaker": None}, "speaker is NoneType"),
        ({"acts": "greet"}, "acts is str"),
        ({"acts": [1]}, "entry of a turn's acts is int"),
        ({"slots": [Slot("x", "y", 0, 9)]}, "outside its text"),
        ({"slots": [Slot("x", "y", 0, None)]}, "outside its text"),
        ({"slots": [Slot("x", "y", 3, 2)]}, "outside its text"),
        ({"intent": 3}, "intent is int"),
        ({"domains": "hotel"}, "domains is str"),
        ({"labels": [None]}, "entry of labels is NoneType"),
        ({"language": 1}, "language is int"),
    ],
)
def test_what_is_wrong_is_said(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadDialogueError, match=reason):
        check_dialogue(changed(**values))


def test_what_is_right_passes() -> None:
    slots = [Slot("a", "hell", 0, 4), Slot("b", "not in the text")]
    time = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
    check_dialogue(changed(slots=slots, acts=[], intent="greet", time=time, domains=[], language="en", labels=["x"]))


def test_the_table_has_the_schema_of_the_design() -> None:
    assert dialogues_to_arrow([]).schema == ARROW_SCHEMA
    assert ARROW_SCHEMA.names == ["dialogue_id", "source", "turns", "domains", "language", "labels"]
    turn = ARROW_SCHEMA.field("turns").type.value_type
    assert [field.name for field in turn] == ["speaker", "text", "acts", "slots", "intent", "time"]
    assert [field.name for field in turn.field("slots").type.value_type] == ["name", "value", "start", "end"]
