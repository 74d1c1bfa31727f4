"""What no reader recognises is described with the command that reads it, and JSON of any shape is read by paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.variant_reading import said_in
from turnloom.corpus import convert, find_logs, read_table
from turnloom.corpus.preview import preview_dialogues
from turnloom.corpus.readers.detection import UnknownFormatError, read_head
from turnloom.corpus.readers.json_paths import read_path, values_at
from turnloom.corpus.readers.suggestions import describe
from turnloom.corpus.schema import dialogues_from_arrow
from turnloom.errors import TurnloomError

NESTED = [
    {
        "ref": f"A{number}",
        "shop": {"country": "AT"},
        "events": [
            {"by": {"name": "Ann"}, "says": f"my card {number} was stolen", "on": "2024-05-01T10:00:00Z"},
            {"by": {"name": "Ben"}, "says": "we block it now", "on": "2024-05-01T10:01:00Z"},
        ],
    }
    for number in range(2)
]
FLAT = [
    {"session": session, "who": who, "payload": {"words": f"{who} says hello to {session}"}, "n": number}
    for number, (session, who) in enumerate([("s1", "Ann"), ("s2", "Cleo"), ("s1", "Ben"), ("s2", "Ben")])
]


def mapping_of(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split(","))


def write(folder: Path, value: Any, name: str = "log.json") -> str:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def read(path: str, **mapping: str) -> list[list[tuple[str, ...]]]:
    return [said_in(dialogue) for dialogue in preview_dialogues(find_logs([path], mapping=mapping), most=10).dialogues]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (NESTED, "dialogue_id=ref,text=events[].says,speaker=events[].by.name,time=events[].on"),
        (FLAT, "dialogue_id=session,text=payload.words,speaker=who"),
    ],
)
def test_the_suggested_paths_read_the_file(value: Any, expected: str, tmp_path: Path) -> None:
    path = write(tmp_path, value)
    description = describe(read_head(path))
    assert description.mapping == expected
    assert any("← text" in line for line in description.lines)
    with pytest.raises(UnknownFormatError, match="--map") as raised:
        find_logs([path])
    assert raised.value.seen == description.lines
    dialogues = read(path, **mapping_of(description.mapping))
    assert len(dialogues) == 2
    assert all(len(dialogue) == 2 for dialogue in dialogues)


def test_nested_messages_are_read_by_paths(tmp_path: Path) -> None:
    path = write(tmp_path, {"data": {"sessions": NESTED}})
    mapping = {"dialogue_id": "data.sessions[].ref", "text": "$.data.sessions[*].events[*].says"}
    assert read(path, **mapping)[0] == [("", "my card 0 was stolen"), ("", "we block it now")]
    mapping["speaker"] = "data.sessions.events.by.name"
    logs = find_logs([path], mapping=mapping)
    assert convert(logs, tmp_path / "out").manifest.dialogues == 2
    ids = [dialogue.dialogue_id for dialogue in dialogues_from_arrow(read_table(tmp_path / "out").to_arrow())]
    assert sorted(ids) == ["A0", "A1"]


def test_single_messages_are_joined_by_their_id(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(json.dumps(record) + "\n" for record in FLAT))
    dialogues = read(path, dialogue_id="session", text="payload.words", speaker="who")
    assert dialogues == [
        [("Ann", "Ann says hello to s1"), ("Ben", "Ben says hello to s1")],
        [("Cleo", "Cleo says hello to s2"), ("Ben", "Ben says hello to s2")],
    ]


def test_without_an_id_a_record_with_messages_is_a_dialogue(tmp_path: Path) -> None:
    assert len(read(write(tmp_path, NESTED), text="events.says")) == 2


def test_wrong_paths_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, NESTED)
    with pytest.raises(TurnloomError, match=r"nothing at the path 'events\[\]\.who'"):
        find_logs([path], mapping={"text": "events[].says", "speaker": "events[].who"})
    with pytest.raises(TurnloomError, match="the path of the text is missing"):
        find_logs([path], format="json")


def test_paths() -> None:
    assert read_path("$.a[0].b[*].c[]") == ("a", "b", "c")
    assert values_at({"a": [{"b": 1}, {"c": 2}, {"b": [3, 4]}]}, ("a", "b")) == [1, 3, 4]
    assert values_at({"a": 1}, ("a", "b")) == []


def test_a_table_with_strange_columns_is_described(tmp_path: Path) -> None:
    path = write(tmp_path, "vorgang;was\n7;guten Tag alle\n7;wie geht es\n8;noch ein Satz\n", "log.csv")
    with pytest.raises(UnknownFormatError, match="--map dialogue_id=COLUMN") as raised:
        find_logs([path])
    assert raised.value.seen[-1].endswith("--map dialogue_id=vorgang,text=was --out corpus")
    assert len(read(path, dialogue_id="vorgang", text="was")) == 2


def test_prose_and_binary_files_are_described(tmp_path: Path) -> None:
    assert describe(read_head(write(tmp_path, "just some prose\nin lines\n"))).lines[1:] == [
        "  just some prose",
        "  in lines",
    ]
    (tmp_path / "a.bin").write_bytes(b"\x7fELF\x00\x00\x00")
    assert "binary" in describe(read_head(str(tmp_path / "a.bin"))).lines[0]


def test_agents_can_be_named(tmp_path: Path) -> None:
    chat = "13/05/2024, 10:15 - Ann: hello\n13/05/2024, 10:16 - Shop Berlin: hi\n13/05/2024, 10:17 - Ben: wait\n"
    (dialogue,) = read(write(tmp_path, chat, "chat.txt"), agent="Shop Berlin|Ben")
    assert [speaker for speaker, *_ in dialogue] == ["customer", "agent", "agent"]


def test_a_first_line_without_end_is_no_header(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormatError, match="none of the known formats"):
        find_logs([write(tmp_path, "a," * 200_000, "log.csv")])
