"""The whole way from a CSV to a service, on a small model; run again, and with what a user may have wrong."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import yaml

from tests.cli.test_commands import run
from tests.training.toy import conversations, write_start
from turnloom.corpus import read_manifest, read_table
from turnloom.service.config import load_config
from turnloom.service.run import check_folders

Capture = pytest.CaptureFixture[str]


def write_chats(path: Path, count: int = 700) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["conversation_id", "role", "message"])
        for row in conversations(count):
            for turn in row["turns"]:  # type: ignore[attr-defined]
                speaker = {"user": "customer", "system": "agent"}[turn["speaker"]]
                rows.writerow([row["id"], speaker, turn["text"]])
    return path


def test_from_a_csv_to_a_service_and_again(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chats, start, out = write_chats(tmp_path / "chats.csv"), write_start(tmp_path / "start"), tmp_path / "made"
    command = ["quickstart", str(chats), "--start", str(start), "--out", str(out), "--minutes", "0.02"]
    code, said, _ = run(capsys, monkeypatch, *command)
    assert code == 0
    for step in range(1, 7):
        assert f"{step}/6 " in said
    assert "after one turn: " in said
    assert f"turnloom serve {out}/service.yaml" in said

    # What is kept apart is not learned from.
    train, apart = (
        {row["dialogue_id"] for row in read_table(out / name).iter_rows()} for name in ("train", "held-out")
    )
    assert not train & apart
    assert len(train) + len(apart) == read_manifest(out / "prepared").dialogues
    assert 0.1 < len(apart) / len(train | apart) < 0.3

    config = load_config(out / "service.yaml")
    check_folders(config)
    assert config.replies is not None
    assert (config.intents is not None) == (out / "intents").exists()
    assert yaml.safe_load((out / "model" / "training" / "recipe.yaml").read_text())["name"] == "dse-heads"

    # Again, nothing is trained or built anew, and what the user changed stays.
    trained = (out / "model" / "model.safetensors").stat().st_mtime_ns
    (out / "service.yaml").write_text("model: {path: model}\nport: 9000\n", encoding="utf-8")
    (out / "intents.csv").write_text(
        "text,label\nplease tell me about q1,one\nplease tell me about q2,two\n", encoding="utf-8"
    )
    code, said, _ = run(capsys, monkeypatch, *command)
    assert code == 0
    assert "2 intents: one, two" in said
    assert (out / "model" / "model.safetensors").stat().st_mtime_ns == trained
    assert load_config(out / "service.yaml").port == 9000
    assert json.loads((out / "intents" / "intents.json").read_text())["intents"] == ["one", "two"]

    code, _, error = run(capsys, monkeypatch, *command[:-1], "0.03")
    assert code == 2
    assert "made of other logs or with other settings. Fix: choose another --out" in error


def test_little_is_enough_to_see_how_it_works(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    start = write_start(tmp_path / "start")
    few = write_chats(tmp_path / "few.csv", 40)
    command = ["quickstart", "--start", str(start), "--minutes", "0.02"]
    code, said, _ = run(capsys, monkeypatch, *command, str(few), "--out", str(tmp_path / "few"))
    assert code == 0
    assert "has fewer than 100 replies. With more conversations this step will tell." in said
    one = write_chats(tmp_path / "one.csv", 4)
    code, _, error = run(capsys, monkeypatch, *command, str(one), "--out", str(tmp_path / "one"))
    assert code == 2
    assert "pairs of turns to learn from. Fix: give more conversations" in error
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    code, _, error = run(capsys, monkeypatch, "quickstart", str(one), "--out", str(tmp_path / "none"))
    assert code == 2
    assert "Fix: give --start FOLDER" in error
