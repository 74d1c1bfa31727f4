"""The view of templates: what is in it, and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnloom.corpus import read_table
from turnloom.corpus.tagging import load_tagger, slot_table
from turnloom.errors import TurnloomError
from turnloom.views import Templates, build_view, load_view
from turnloom.views.template_rows import find_templates

TAGS = ["O", "O", "B-device", "O", "B-room"]
SAID = [
    {"text": "turn on television in lounge", "slots": TAGS},
    {"text": "turn on lamp in bedroom", "slots": TAGS, "label": "lights"},
    {"text": "turn on fan in study", "slots": TAGS},
    {"text": "turn on fan in study", "slots": TAGS},
    {"text": "thank you"},
]
DEVICES, ROOMS = ("television", "lamp", "fan"), ("lounge", "bedroom", "study")


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    slot_table([write(tmp_path / "home.jsonl", SAID)], tmp_path / "table")
    return tmp_path / "table"


def rows_of(folder: Path) -> set[tuple[str, str]]:
    rows = load_view(folder)
    found = [(context[0], reply) for context, reply in zip(rows["context"], rows["reply"], strict=True)]
    assert len({reply for _, reply in found}) == len(found)
    return set(found)


def test_each_utterance_once_and_all_that_fill_its_template(table: Path, tmp_path: Path) -> None:
    manifest = build_view(table, tmp_path / "view", Templates(top_k=3))
    filled = {("turn on {SLOT} in {SLOT}", f"turn on {device} in {room}") for device in DEVICES for room in ROOMS}
    assert rows_of(tmp_path / "view") == {*filled, ("thank you", "thank you")}
    assert manifest.tokens == ["{SLOT}"]
    assert manifest.rows == {"": {"home": 10}}


def test_frequent_values_alone_and_none_at_all(table: Path, tmp_path: Path) -> None:
    # The fan in the study is said twice; of the others the first of the alphabet would come next.
    build_view(table, tmp_path / "one", Templates(top_k=1))
    said = {row["text"] for row in SAID}
    assert {text for _, text in rows_of(tmp_path / "one")} == said
    build_view(table, tmp_path / "none", Templates(top_k=0))
    assert {text for _, text in rows_of(tmp_path / "none")} == said


def test_slots_by_name(table: Path, tmp_path: Path) -> None:
    manifest = build_view(table, tmp_path / "view", Templates(top_k=2, names=True))
    assert manifest.tokens == ["{DEVICE}", "{ROOM}"]
    assert {template for template, _ in rows_of(tmp_path / "view")} == {"turn on {DEVICE} in {ROOM}", "thank you"}


def test_an_utterance_keeps_the_template_it_was_said_with(tmp_path: Path) -> None:
    # Another template makes "play two" too, with a verb that it has from a third one.
    rows = [{"text": "play two", "slots": ["O", "B-song"]}, {"text": "stop two", "slots": ["B-verb", "O"]}]
    rows += [{"text": "play it", "slots": ["B-verb", "O"]}]
    slot_table([write(tmp_path / "a.jsonl", rows)], tmp_path / "table")
    build_view(tmp_path / "table", tmp_path / "view", Templates(names=True))
    assert dict(reversed(row) for row in rows_of(tmp_path / "view"))["play two"] == "play {SONG}"  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_rows_in_the_same_order(table: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        build_view(table, tmp_path / name, Templates(top_k=3, cap=4), seed=seed)
    found = {name: list(load_view(tmp_path / name)["reply"]) for name in "abc"}
    assert found["a"] == found["b"] != found["c"]
    assert len(found["a"]) <= 4 + len(SAID)


def test_the_table_of_the_paper(table: Path) -> None:
    found = find_templates(read_table(table))
    counted = found.statistics(k=3, cap=100)
    assert (counted.entities, counted.values, counted.templates, counted.utterances) == (2, 6, 2, 5)
    assert counted.augmented == 10
    assert counted.ratio == 5
    for template, text in found.samples(5, k=3, cap=100):
        assert template == "turn on {DEVICE} in {ROOM}"
        assert text.startswith("turn on ")


def test_a_tagger_finds_slots_where_there_are_none(table: Path, tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns(
        [{"label": "PERSON", "pattern": "you"}, {"label": "X", "pattern": "fan"}]
    )
    pipeline.to_disk(tmp_path / "pipeline")
    slot_table([str(table)], tmp_path / "tagged", tagger=load_tagger(f"spacy:{tmp_path / 'pipeline'}"))
    book = find_templates(read_table(tmp_path / "tagged")).book
    assert dict(book.counts["person"]) == {"you": 1}
    assert set(book.counts) == {"device", "room", "person"}  # What was annotated stays as it was.


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('{"text": "a b", "slots": ["O"]}', r"line 2: 'a b' has 2 words and 1 tags"),
        ('{"txt": "a b"}', r"line 2: no utterance"),
        ("nonsense", r"line 2: no utterance"),
        ("[1]", r"line 2: no utterance"),
        ('{"text": ""}', r"line 2: no utterance"),
        ('{"text": 5}', r"line 2: no utterance"),
    ],
)
def test_mistakes_name_the_line(row: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    path.write_text('{"text": "hello"}\n' + row + "\n", encoding="utf-8")
    with pytest.raises(TurnloomError, match=problem):
        slot_table([str(path)], tmp_path / "table")


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="is not a folder, file or public set"):
        slot_table(["nowhere"], tmp_path / "table")
    for name, problem in (("spacy", "there is no tagger"), ("no_module:f", "cannot be loaded"), ("json:no", "cannot")):
        with pytest.raises(TurnloomError, match=problem):
            load_tagger(name)
    with pytest.raises(TurnloomError, match="is not a spaCy pipeline"):
        load_tagger(f"spacy:{tmp_path}")
    slot_table([write(tmp_path / "plain.jsonl", [{"text": "hello there"}])], tmp_path / "plain")
    with pytest.raises(TurnloomError, match="no turn has a slot"):
        build_view(tmp_path / "plain", tmp_path / "view", Templates())
