"""Messages with the same intent, against a loop over dialogues, and as labels that an objective masks by."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from turnloom.corpus import convert, find_logs
from turnloom.runtime.context_format import ContextFormat
from turnloom.views import SharedIntents, build_view, load_view
from turnloom.views.shared_intents import drawn_pairs
from turnloom.views.view import Reading

DIALOGUES = {
    "a": [("u", "I want a table for two", "book"), ("s", "When shall it be?", None), ("u", "at seven please", "book")],
    "b": [("u", "can you book me a restaurant", "book"), ("u", "and how is the weather", "weather")],
    "c": [("u", "Can you book me a restaurant", "book"), ("s", "It rains all day", "weather")],
    "d": [("u", "we would like to eat there tonight", "book"), ("u", "will it rain tomorrow", "weather")],
    "e": [("u", "a taxi to the station", "taxi"), ("u", "hi", "book")],
}
BOOK = {"I want a table for two", "can you book me a restaurant", "we would like to eat there tonight"}
WEATHER = {"and how is the weather", "It rains all day", "will it rain tomorrow"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("intents")
    rows = [
        {"id": name, "turns": [{"speaker": who, "text": text, "intent": intent} for who, text, intent in turns]}
        for name, turns in DIALOGUES.items()
    ]
    logs = folder / "chat.jsonl"
    logs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    convert(find_logs([str(logs)]), folder / "table")
    return folder / "table"


def test_messages_in_which_the_same_intent_begins_are_paired(table: Path, tmp_path: Path) -> None:
    build_view(table, tmp_path / "view", SharedIntents())
    rows = load_view(tmp_path / "view")
    found = {
        frozenset((context[0].casefold(), reply.casefold()))
        for context, reply in zip(rows["context"], rows["reply"], strict=True)
    }
    expected = [
        frozenset(text.casefold() for text in pair)
        for texts in (BOOK, WEATHER)
        for pair in itertools.combinations(texts, 2)
    ]
    assert found == set(expected)  # "at seven please" says nothing of booking, "hi" is one word, one taxi has no pair.
    assert len(rows) == len(expected)
    by_label: dict[int, set[str]] = {}
    for label, context in zip(rows["label"], rows["context"], strict=True):
        by_label.setdefault(label, set()).add(context[0].casefold())
    assert len(by_label) == 2
    assert min(by_label) >= 0


def test_a_frequent_intent_gives_no_more_pairs_than_asked_for(table: Path, tmp_path: Path) -> None:
    build_view(table, tmp_path / "view", SharedIntents(pairs_per_intent=1))
    assert len(load_view(tmp_path / "view")) == 2


@pytest.mark.parametrize("count", range(2, 8))
def test_each_pair_is_drawn_once(count: int) -> None:
    pairs = drawn_pairs([f"text {number}" for number in range(count)], list(range(count)), 1_000)
    drawn = [frozenset((pair["context"][0], pair["reply"])) for pair in pairs]
    assert len(drawn) == len(set(drawn)) == count * (count - 1) // 2
    assert len({pair["row_key"] for pair in pairs}) == len(pairs)


def test_training_reads_the_label(table: Path, tmp_path: Path) -> None:
    build_view(table, tmp_path / "view", SharedIntents())
    rows = load_view(tmp_path / "view")
    read = SharedIntents().transform(rows, Reading(ContextFormat(), None, 32))
    columns = read(rows[:3])
    assert columns["label"] == rows["label"][:3]
    assert columns["context"] == [turns[0] for turns in rows["context"][:3]]


def test_a_table_without_intents_has_no_pairs(tmp_path: Path) -> None:
    logs = tmp_path / "chat.jsonl"
    logs.write_text(json.dumps({"id": "1", "turns": [{"speaker": "u", "text": "hello you there"}]}), encoding="utf-8")
    convert(find_logs([str(logs)]), tmp_path / "table")
    assert build_view(tmp_path / "table", tmp_path / "view", SharedIntents()).rows == {"": {}}
