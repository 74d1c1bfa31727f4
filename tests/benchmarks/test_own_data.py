"""The same tasks on a user's own files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.benchmarks.known_answers import Oracle, score
from turnloom.benchmarks.baselines import lexical_tasks
from turnloom.benchmarks.suites import intent_tasks, read_labelled_messages, reply_tasks
from turnloom.corpus import convert, find_logs
from turnloom.errors import TurnloomError


def write_csv(path: Path, rows: list[tuple[str, ...]], columns: tuple[str, ...] = ("text", "label")) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def messages(split: str = "") -> list[tuple[str, str]]:
    return [(f"{split} message {n} about key{n % 4}", f"label{n % 4}") for n in range(200)]


def test_intents_are_split_by_their_text_and_measured(tmp_path: Path) -> None:
    strangers = [(f"stranger key{n + 100}", "oos") for n in range(60)]
    tasks = intent_tasks(write_csv(tmp_path / "mine.csv", [*messages(), *strangers]))
    names = [task.info.name for task in tasks]
    assert names == ["intent-1shot-mine", "intent-5shot-mine", "knn-mine", "oos-1shot-mine", "oos-5shot-mine"]
    for task in tasks:
        assert task.info.licence == "your own data"
        # Strangers are no intent: were they, an oracle could not tell sixty of them from so few examples.
        assert score(task, Oracle()) == pytest.approx(100, abs=0.5)


def test_own_splits_are_kept(tmp_path: Path) -> None:
    columns = ("text", "label", "split")
    rows = [(text, label, "train") for text, label in messages("train")]
    path = write_csv(tmp_path / "mine.csv", [*rows, ("asked about key1", "label1", "test")], columns)
    splits = read_labelled_messages(path)
    assert len(splits["train"]) == 200
    assert splits["test"].texts == ["asked about key1"]
    assert [task.info.name for task in intent_tasks(path)] == ["intent-1shot-mine", "intent-5shot-mine", "knn-mine"]


def test_no_stranger_needs_to_be_in_the_validation_part(tmp_path: Path) -> None:
    rows = [(text, label, split) for split in ("train", "dev", "test") for text, label in messages(split)]
    strangers = [(f"stranger key{n + 100}", "oos", "test") for n in range(60)]
    tasks = intent_tasks(write_csv(tmp_path / "mine.csv", [*rows, *strangers], ("text", "label", "split")))
    assert score(tasks[-1], Oracle()) == pytest.approx(100, abs=0.5)


def test_mistakes_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match=r"mine\.csv, line 3: no label"):
        intent_tasks(write_csv(tmp_path / "mine.csv", [("a", "b"), ("c", "")]))
    with pytest.raises(TurnloomError, match=r"mine\.csv, line 2: no text"):
        intent_tasks(write_csv(tmp_path / "mine.csv", [("a", "b")], ("message", "label")))
    with pytest.raises(TurnloomError, match=r"2 distinct messages"):
        intent_tasks(write_csv(tmp_path / "mine.csv", [("a", "b"), ("c", "d")]))
    with pytest.raises(TurnloomError, match="1 intents"):
        intent_tasks(write_csv(tmp_path / "mine.csv", [(f"text {n}", "same") for n in range(50)]))
    with pytest.raises(TurnloomError, match="is not a file"):
        intent_tasks(tmp_path / "nothing.csv")
    (tmp_path / "latin.csv").write_bytes("text,label\ncafé,b\n".encode("latin-1"))
    with pytest.raises(TurnloomError, match=r"latin\.csv is not UTF-8"):
        intent_tasks(tmp_path / "latin.csv")
    (tmp_path / "mine.jsonl").write_text(json.dumps({"text": "a", "label": "b"}) + "\n\n[1]\n")
    with pytest.raises(TurnloomError, match=r"mine\.jsonl, line 3: no JSON object"):
        intent_tasks(tmp_path / "mine.jsonl")


def test_replies_of_a_dialogue_table(tmp_path: Path) -> None:
    turns = [("a", "said x in key{}"), ("b", "said y in key{}"), ("c", "said z in key{}"), ("b", "answer to key{}")]
    dialogues = [
        {"id": str(n), "turns": [{"speaker": who, "text": text.format(n)} for who, text in turns]} for n in range(150)
    ]
    (tmp_path / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dialogues))
    convert(find_logs([str(tmp_path / "logs.jsonl")]), tmp_path / "table")
    tasks = [task for task in reply_tasks(tmp_path / "table") if not task.info.name.endswith("-heads")]
    assert [task.info.name for task in tasks] == ["select-table-next", "select-table-context3", "select-table-all"]
    assert score(tasks[1], Oracle()) == pytest.approx(100)
    by_words = lexical_tasks(tasks)[1].evaluate(None, 1, 0)[0]  # type: ignore[arg-type]
    assert by_words.scores["top1"] == pytest.approx(100)  # Replies name the key of their dialogue.
    (tmp_path / "few.jsonl").write_text(json.dumps(dialogues[0]) + "\n")
    convert(find_logs([str(tmp_path / "few.jsonl")]), tmp_path / "few")
    with pytest.raises(TurnloomError, match="fewer than 100 replies"):
        reply_tasks(tmp_path / "few")
