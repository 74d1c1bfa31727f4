"""`turnloom intents` and `turnloom embed` on a tiny model, in pipes and with mistakes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.cli.test_commands import run
from tests.intents.guide_model import write_model
from tests.replies.toy import write_table
from turnloom.cli.intents_inputs import read_pool
from turnloom.corpus import Dialogue, Turn
from turnloom.runtime import load_encoder

Captured = pytest.CaptureFixture[str]
WORDS = {
    "lost": ["my card is lost", "i lost my card", "card gone", "cannot find my card", "where is my card"],
    "balance": [
        "what is my balance",
        "show the balance",
        "how much money do i have",
        "money left",
        "my account balance",
    ],
}
TEXTS = [text for texts in WORDS.values() for text in texts]
AWAY = ["sing a song", "tell me a joke", "who won the game", "play a song", "sing another song", "a song please"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny") / "model"
    return write_model(folder, " ".join([*TEXTS, *AWAY]))


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    path = tmp_path / "examples.jsonl"
    rows = [{"text": text, "label": label} for label, texts in WORDS.items() for text in texts]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def fitted(capsys: Captured, monkeypatch: pytest.MonkeyPatch, model: Path, examples: Path, tmp_path: Path) -> Path:
    out = tmp_path / "intents"
    code, text, _ = run(capsys, monkeypatch, "intents", "fit", str(examples), "--model", str(model), "--out", str(out))
    assert code == 0
    assert "2 intents with 5 examples each, 10 in all" in text
    assert "in-scope messages turned away:" in text
    assert f"Next: turnloom intents predict {out} MESSAGES" in text
    return out


def test_predict_reads_a_pipe_and_writes_json_lines(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, fitted: Path
) -> None:
    given = ["my card is lost", "show the balance", *AWAY]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(given) + "\n"))
    code, out, err = run(capsys, monkeypatch, "intents", "predict", str(fitted), "--examples", "2")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["text"] for row in rows] == given
    assert rows[0]["nearest"][0] == {"text": "my card is lost", "intents": ["lost"], "similarity": 1.0}
    assert rows[1]["candidates"][0]["intent"] == "balance"
    assert all(len(row["nearest"]) == 2 for row in rows)
    counts = {kind: sum(row["decision"] == kind for row in rows) for kind in ("accept", "ask", "out_of_scope")}
    assert f"{counts['accept']} accepted, {counts['ask']} to ask about, {counts['out_of_scope']} out of scope" in err


def test_names_and_a_pool_are_enough(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path
) -> None:
    names, pool, out = tmp_path / "names.yaml", tmp_path / "pool.txt", tmp_path / "out"
    names.write_text("lost: my card is lost\nbalance: what is my balance\n")
    pool.write_text("\n".join([*TEXTS, *AWAY, *TEXTS]))
    code, text, _ = run(
        capsys, monkeypatch, "intents", "fit", str(names), "--pool", str(pool), "--model", str(model), "--out", str(out)
    )
    assert code == 0
    assert "2 intents with 0 examples each, 0 in all" in text
    assert "of 16 messages clearly have an intent" in text
    assert "In scope from" in text
    monkeypatch.setattr(sys, "stdin", io.StringIO("i lost my card\nshow the balance\n"))
    code, answers, _ = run(capsys, monkeypatch, "intents", "predict", str(out))
    assert code == 0
    assert [json.loads(line)["candidates"][0]["intent"] for line in answers.splitlines()] == ["lost", "balance"]


def test_a_pool_can_be_the_customers_turns_of_a_table(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, model: Path, examples: Path, tmp_path: Path
) -> None:
    said = [f"please {text}" for text in TEXTS]  # Not the examples themselves, which a pool leaves out.
    answered = [Turn(speaker, text) for text in said for speaker in ("customer", "Agent")]
    unnamed = [Turn("x", AWAY[0]), Turn("y", "never")]
    write_table(tmp_path / "table", [Dialogue("1", "chats", answered), Dialogue("2", "chats", unnamed)])
    assert sorted(read_pool(str(tmp_path / "table"), 0)) == sorted((text,) for text in [*said, AWAY[0]])
    assert (said[0], said[1]) in read_pool(str(tmp_path / "table"), 1)
    arguments = ["--pool", str(tmp_path / "table"), "--model", str(model), "--out", str(tmp_path / "out")]
    code, text, _ = run(capsys, monkeypatch, "intents", "fit", str(examples), *arguments)
    assert code == 0
    assert "Pool: " in text
    assert "left-out examples recognised: " in text


def test_evaluate_and_discover(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, fitted: Path, examples: Path, tmp_path: Path
) -> None:
    test = tmp_path / "test.csv"
    rows = [*[f"{text},{label}" for label, texts in WORDS.items() for text in texts], *[f"{text},oos" for text in AWAY]]
    test.write_text("text,label\n" + "\n".join(rows) + "\n")
    numbers = tmp_path / "n.json"
    code, out, _ = run(capsys, monkeypatch, "intents", "evaluate", str(fitted), str(test), "--json", str(numbers))
    assert code == 0
    found = json.loads(numbers.read_text())
    assert (found["in_scope"], found["out_of_scope"]) == (10, 6)
    assert f"accuracy: {100 * found['accuracy']:.1f} %" in out
    assert "false reject: " in out
    code, out, err = run(
        capsys, monkeypatch, "intents", "discover", str(fitted), str(test), "--min-size", "2", "--members"
    )
    assert code == 0
    groups = [json.loads(line) for line in out.splitlines()]
    assert all(len(group["members"]) == group["size"] >= 2 for group in groups)
    assert f"{len(groups)} groups with {sum(group['size'] for group in groups)} of 16 messages" in err


def test_discover_needs_no_classifier(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, model: Path, examples: Path, tmp_path: Path
) -> None:
    command = ["intents", "discover", str(examples), "--model", str(model), "--min-size", "3", "--members"]
    code, out, err = run(capsys, monkeypatch, *command)
    assert code == 0
    groups = [json.loads(line) for line in out.splitlines()]
    assert len(groups) >= 2
    assert all(len(group["members"]) == group["size"] >= 3 for group in groups)
    assert len({group["name"] for group in groups}) == len(groups)
    assert "of 10 messages; the rest stands alone" in err
    assert "turnloom intents fit" in err
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(TEXTS)))
    code, piped, _ = run(capsys, monkeypatch, "intents", "discover", "-", *command[3:])
    assert code == 0
    assert piped == out
    (tmp_path / "empty.txt").write_text("")
    code, out, err = run(capsys, monkeypatch, "intents", "discover", str(tmp_path / "empty.txt"), "--model", str(model))
    assert (code, out) == (0, "")
    assert "0 groups with 0 of 0 messages" in err


def test_embed_gives_the_models_vectors(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, model: Path, examples: Path, tmp_path: Path
) -> None:
    texts = TEXTS
    code, out, err = run(capsys, monkeypatch, "embed", str(model), str(examples))
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["text"] for row in rows] == texts
    expected = load_encoder(model).encode(texts)
    assert np.array([row["vector"] for row in rows]) == pytest.approx(expected, abs=1e-5)
    assert "10 messages by model (" in err
    code, _, _ = run(capsys, monkeypatch, "embed", str(model), str(examples), "--out", str(tmp_path / "v.parquet"))
    assert code == 0
    table = pq.read_table(tmp_path / "v.parquet")
    assert table["text"].to_pylist() == texts
    assert np.array(table["vector"].to_pylist()) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["intents", "fit", "{tmp}/none.csv", "--model", "{model}", "--out", "{tmp}/o"], "none.csv is not a file"),
        (["intents", "fit", "{tmp}/unlabelled.csv", "--model", "{model}", "--out", "{tmp}/o"], "message 1: no label"),
        (["intents", "fit", "{examples}", "--model", "{tmp}", "--out", "{tmp}/o"], "holds no model"),
        (["intents", "fit", "{tmp}/none.yaml", "--model", "{model}", "--out", "{tmp}/o"], "none.yaml cannot be read"),
        (
            [
                "intents",
                "fit",
                "{examples}",
                "--descriptions",
                "{tmp}/text.yaml",
                "--model",
                "{model}",
                "--out",
                "{tmp}/o",
            ],
            "text.yaml holds no names. Fix: write '- name' or 'name: description' lines",
        ),
        (
            ["intents", "fit", "{tmp}/text.yaml", "--no-names", "--model", "{model}", "--out", "{tmp}/o"],
            "--no-names does not go with a file of names",
        ),
        (
            ["intents", "fit", "{examples}", "--pool", "{tmp}/none.txt", "--model", "{model}", "--out", "{tmp}/o"],
            "none.txt is not a file",
        ),
        (
            ["intents", "fit", "{examples}", "--model", "{model}", "--out", "{tmp}/o", "--method", "tree"],
            "there is no method 'tree'. Fix: choose auto, prototypes, knn, logistic",
        ),
        (
            ["intents", "fit", "{examples}", "--model", "{model}", "--out", "{tmp}/o", "--frequencies", "{examples}"],
            "holds no frequencies",
        ),
        (
            ["intents", "predict", "{tmp}", "{examples}"],
            "holds no intents. Fix: make them with 'turnloom intents fit'",
        ),
        (
            ["intents", "discover", "{examples}"],
            "no model is named. Fix: give --model FOLDER, or a classifier's folder",
        ),
        (["intents", "discover", "{tmp}", "{examples}", "{examples}"], "3 files are named"),
        (["intents", "discover", "{tmp}/none", "{examples}"], "none holds no intents"),
        (["intents", "discover", "{examples}", "--model", "{tmp}/none"], "none holds no model"),
        (["embed", "{model}", "{examples}", "--view", "side"], "there is no view 'side'. Fix: choose one of text"),
        (["embed", "{model}", "{examples}", "--out", "{tmp}/v.npy"], "is neither .parquet nor .jsonl"),
        (["embed", "{model}", "{tmp}/empty.txt"], "holds no message"),
    ],
)
def test_mistakes_are_one_line(
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    examples: Path,
    tmp_path: Path,
    arguments: list[str],
    message: str,
) -> None:
    (tmp_path / "unlabelled.csv").write_text("text\nhello\n")
    (tmp_path / "text.yaml").write_text("hello\n")
    (tmp_path / "empty.txt").write_text("")
    filled = [each.format(tmp=tmp_path, model=model, examples=examples) for each in arguments]
    code, _, err = run(capsys, monkeypatch, *filled)
    assert code == 2
    assert message in " ".join(err.split())
    assert "Traceback" not in err
