"""The whole way from a CSV to a service, on a small model; run again, and with what a user may have wrong."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize

from tests.cli.test_commands import run
from tests.training.toy import conversations, write_start
from turnloom.benchmarks import RunResult, TaskResult
from turnloom.benchmarks.tasks.response_selection import ResponseSelection
from turnloom.cli.quickstart_scores import describe_scores
from turnloom.corpus import read_manifest, read_table
from turnloom.replies import ReplyIndex
from turnloom.runtime import load_encoder
from turnloom.runtime.encoder import SentenceTransformerEncoder
from turnloom.service.config_file import load_config
from turnloom.service.run import check_folders
from turnloom.training.recipe import recipe_text

Capture = pytest.CaptureFixture[str]


def write_chats(path: Path, count: int = 700, *, echo: bool = False) -> Path:
    """Chats as a table; as an echo, replies have the words of their questions, which a model without training finds."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["conversation_id", "role", "message"])
        for row in conversations(count):
            for turn in row["turns"]:  # type: ignore[attr-defined]
                speaker = {"user": "customer", "system": "agent"}[turn["speaker"]]
                rows.writerow([row["id"], speaker, re.sub(r"\ba(\d)", r"q\1", turn["text"]) if echo else turn["text"]])
    return path


def test_from_a_csv_to_a_service_and_again(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chats, start, out = write_chats(tmp_path / "chats.csv"), write_start(tmp_path / "start"), tmp_path / "made"
    (tmp_path / "own.yaml").write_text("- {name: TOPIC, pattern: 'q7[0-9]*'}\n", encoding="utf-8")
    own = ["--replace", str(tmp_path / "own.yaml")]
    command = ["quickstart", str(chats), "--start", str(start), *own, "--out", str(out), "--minutes", "0.02"]
    code, said, _ = run(capsys, monkeypatch, *command)
    assert code == 0
    said_texts = [turn["text"] for row in read_table(out / "prepared").iter_rows() for turn in row["turns"]]
    assert any("<TOPIC>" in text for text in said_texts)
    assert not any("q7" in text for text in said_texts)
    for step in range(1, 7):
        assert f"{step}/6 " in said
    assert re.search(r"after one turn: [\d.]+ % before, [\d.]+ % after training\n", said)
    assert re.search(r"the true reply came first in \d+ of 100 cases, against \d+ before\.\n", said)
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
    assert "made with other minutes. Fix: give the same, or another --out" in error
    code, _, error = run(capsys, monkeypatch, *(word for word in command if word not in own))
    assert (code, "made with other replace. Fix:" in error) == (2, True)


@pytest.mark.parametrize("worse", [False, True])
def test_a_model_encodes_each_text_once(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, worse: bool
) -> None:
    """Over measuring, indexing and intents, with the trained model and when it goes back to the base model."""
    plain = SentenceTransformer(str(write_start(tmp_path / "plain")))
    plain.append(Normalize())  # As most models do, so that heads read the vector for meaning.
    plain.save_pretrained(str(tmp_path / "start"), create_model_card=False)
    recipe = yaml.safe_load(recipe_text("dse-heads"))
    if worse:
        recipe["stages"][0] |= {"encoder_rate": 0.3, "head_rate": 0.3}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    chats, out = write_chats(tmp_path / "chats.csv", echo=worse), tmp_path / "made"
    encoded: Counter[tuple[str, str]] = Counter()
    read = SentenceTransformerEncoder._run

    def noted(self: SentenceTransformerEncoder, encode: Any, texts: Sequence[str]) -> Any:
        encoded.update((self.fingerprint, text) for text in texts)
        return read(self, encode, texts)

    monkeypatch.setattr(SentenceTransformerEncoder, "_run", noted)
    command = ["quickstart", str(chats), "--start", str(tmp_path / "start"), "--out", str(out), "--minutes", "0.02"]
    command += ["--recipe", str(tmp_path / "recipe.yaml")]
    code, said, _ = run(capsys, monkeypatch, *command)
    assert code == 0
    assert ("use the base model, which is better" in said) == worse
    assert len({model for model, _ in encoded}) == 2
    assert encoded.most_common(1)[0][1] == 1
    texts = {turn["text"] for row in read_table(out / "prepared").iter_rows() for turn in row["turns"]}
    chosen = load_encoder(out / ("base-model" if worse else "model")).fingerprint
    assert texts <= {text for model, text in encoded if model == chosen}
    assert (
        f"{len(texts):,} distinct texts of {read_manifest(out / 'prepared').turns:,} turns, each encoded once" in said
    )
    encoded.clear()
    code, _, _ = run(capsys, monkeypatch, *command)
    assert code == 0
    assert set(encoded.values()) <= {1}
    assert not texts & {text for _, text in encoded}


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


def test_a_model_that_training_made_worse_is_not_used(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chats, start, out = (
        write_chats(tmp_path / "chats.csv", echo=True),
        write_start(tmp_path / "start"),
        tmp_path / "made",
    )
    recipe = yaml.safe_load(recipe_text("dse-heads"))
    recipe["stages"][0] |= {"encoder_rate": 0.3, "head_rate": 0.3}  # Far too much.
    (tmp_path / "wild.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    command = ["quickstart", str(chats), "--start", str(start), "--out", str(out), "--minutes", "0.02"]
    code, said, _ = run(capsys, monkeypatch, *command, "--recipe", str(tmp_path / "wild.yaml"))
    assert code == 0
    assert "Replies and intents below use the base model, which is better." in said
    assert f"turnloom replies search {out}/replies --model {out}/base-model" in said
    config = load_config(out / "service.yaml")
    check_folders(config)
    assert config.model.path == out / "base-model"
    assert load_encoder(config.model.path).fingerprint == load_encoder(start).fingerprint
    assert ReplyIndex(out / "replies", load_encoder(out / "base-model")).suggest(["please tell me about q1 and q2"], 1)


def scored(heads: bool, **scores: float) -> RunResult:
    """A run with 200 contexts a task, `next=30, next_heads=20` being right so often."""
    found = {}
    for turns, space in ((1, "plain"), (1, "heads"), (3, "plain"), (3, "heads")):
        if space == "heads" and not heads:
            continue
        info = ResponseSelection("held-out", turns, space, list).info  # type: ignore[arg-type]
        right = scores[("next" if turns == 1 else "context3") + ("_heads" if space == "heads" else "")]
        each = [100.0 * (place % 100 < right) for place in range(200)]
        found[info.name] = TaskResult(info=info, draws=[{"top1": right}], groups=[each])
    return RunResult(model="model", fingerprint="f", languages=["en"], tasks=found)


def test_each_length_of_context_is_named() -> None:
    tasks = {}
    for turns in (1, 3, None):
        info = ResponseSelection("held-out", turns, "plain", list).info  # type: ignore[arg-type]
        tasks[info.name] = TaskResult(info=info, draws=[{"top1": 5.0}], groups=[[5.0] * 50])
    run = RunResult(model="model", fingerprint="f", languages=["en"], tasks=tasks)
    lines = describe_scores(run, run)[0]
    assert [line.partition(":")[0] for line in lines[:3]] == ["after one turn", "after three turns", "after all turns"]


def test_scores_are_compared_like_with_like_and_once_each() -> None:
    before = scored(True, next=5, next_heads=20, context3=6, context3_heads=30)
    after = scored(True, next=50, next_heads=40, context3=50, context3_heads=32)
    lines, is_worse = describe_scores(before, after)
    assert lines == [
        "after one turn: 20.0 % before, 40.0 % after training",
        "after three turns: 30.0 % before, 32.0 % after training",
        "After training, the true reply came first in 36 of 100 cases, against 25 before.",
    ]
    assert not is_worse
    plain = scored(False, next=5, context3=6)
    assert describe_scores(plain, after)[0][0] == "after one turn: 5.0 % before, 40.0 % after training"
    lines, is_worse = describe_scores(after, before)
    assert is_worse
    assert "use the base model, which is better" in lines[-1]
    lines, is_worse = describe_scores(before, before)
    assert not is_worse
    assert "no clear difference" in lines[-1]
