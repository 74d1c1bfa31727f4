"""`turnloom vectors` on a table, and against the project's own service."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.service.toy import HeadedEncoder, listening, loaders, settings
from tests.training.toy import conversations, write_start, write_table
from turnloom.cli.main import app
from turnloom.runtime import load_encoder
from turnloom.runtime.encoder import SentenceTransformerEncoder
from turnloom.runtime.endpoint import KEY_VARIABLE
from turnloom.service.app import create_app
from turnloom.vectors import VectorTable


def test_a_table_is_encoded_and_unscrubbed_ones_are_warned_of(tmp_path: Path) -> None:
    table, model = write_table(tmp_path / "t", conversations(30)), write_start(tmp_path / "m")
    command = ["vectors", str(table), "--model", str(model), "--out", str(tmp_path / "v")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "personal data was not replaced" in done.stderr
    vectors = VectorTable(tmp_path / "v")
    assert f"{len(vectors):,} distinct texts of 60 turns" in done.stdout
    text = "please tell me about q1 and q2"
    both = [text] if vectors.rows([text])[0] >= 0 else [str(conversations(1)[0]["turns"][0]["text"])]  # type: ignore[index]
    stored = vectors.vectors[vectors.rows(both)].astype(np.float32)
    assert np.allclose(stored, load_encoder(model).encode(both), atol=2e-3)
    again = CliRunner().invoke(app, command)
    assert "; 0 encoded now" in again.stdout


def test_a_prepared_table_is_not_warned_of(tmp_path: Path) -> None:
    table, model = write_table(tmp_path / "t", conversations(30)), write_start(tmp_path / "m")
    assert CliRunner().invoke(app, ["prepare", str(table), "--out", str(tmp_path / "p")]).exit_code == 0
    done = CliRunner().invoke(
        app, ["vectors", str(tmp_path / "p"), "--model", str(model), "--out", str(tmp_path / "v")]
    )
    assert done.exit_code == 0, done.output
    assert "warning" not in done.stderr


def test_an_endpoint_gives_the_vectors_of_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    encoder = HeadedEncoder()
    table = write_table(tmp_path / "t", conversations(100))
    with listening(create_app(settings(tmp_path), loaders(encoder))) as address:
        command = ["vectors", str(table), "--endpoint", f"{address}/v1", "--model", encoder.name]
        done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "v")])
        assert done.exit_code == 0, done.output
        wrong = CliRunner().invoke(app, [*command[:-1], "another", "--out", str(tmp_path / "w")])
    assert wrong.exit_code == 1
    vectors = VectorTable(tmp_path / "v")
    text = str(conversations(1)[0]["turns"][0]["text"])  # type: ignore[index]
    said = encoder.encode([text])[0]
    assert np.allclose(vectors.vectors[vectors.rows([text])[0]], said / np.linalg.norm(said), atol=1e-3)


def test_replies_and_evaluation_take_stored_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, model = write_table(tmp_path / "t", conversations(150)), write_start(tmp_path / "m")
    out = ["--model", str(model), "--out"]
    assert CliRunner().invoke(app, ["vectors", str(table), *out, str(tmp_path / "v")]).exit_code == 0
    encoded = texts_encoded(monkeypatch)
    build = ["replies", "build", str(table), *out, str(tmp_path / "r"), "--vectors", str(tmp_path / "v")]
    done = CliRunner().invoke(app, build)
    assert done.exit_code == 0, done.output
    assert set(encoded) <= {"turnloom"}  # By which the width is found.
    command = ["evaluate", str(model), "--responses", str(table), "--out", str(tmp_path / "e"), "--draws", "1"]
    command += ["--cache", str(tmp_path / "c"), "--vectors", str(tmp_path / "v")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert set(encoded) <= {"turnloom"}


def texts_encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that every text goes to which a model reads from now on."""
    encoded: list[str] = []
    run = SentenceTransformerEncoder._run

    def noted(self: SentenceTransformerEncoder, encode: Callable[..., Any], texts: Sequence[str]) -> Any:
        encoded.extend(texts)
        return run(self, encode, texts)

    monkeypatch.setattr(SentenceTransformerEncoder, "_run", noted)
    return encoded


def test_intents_take_stored_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = conversations(60)
    table, model = write_table(tmp_path / "t", said), write_start(tmp_path / "m")
    vectors = ["--vectors", str(tmp_path / "v")]
    assert CliRunner().invoke(app, ["vectors", str(table), "--model", str(model), "--out", vectors[1]]).exit_code == 0
    rows = [
        {"text": turn["text"], "label": turn["speaker"]}
        for one in said
        for turn in one["turns"]  # type: ignore[attr-defined]
    ]
    (tmp_path / "turns.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    turns, made = str(tmp_path / "turns.jsonl"), str(tmp_path / "intents")
    encoded = texts_encoded(monkeypatch)
    outputs = {}
    for command in (
        ["fit", turns, "--model", str(model), "--out", made, "--no-names"],
        ["predict", made, turns],
        ["evaluate", made, turns],
        ["discover", turns, "--model", str(model)],
        ["discover", made, turns],
    ):
        done = CliRunner().invoke(app, ["intents", *command, *vectors])
        assert done.exit_code == 0, done.output
        assert encoded == [], command
        outputs[command[0]] = done.stdout
    assert json.loads((tmp_path / "intents/intents.json").read_text())["model"] == str(model)
    plain = CliRunner().invoke(app, ["intents", "predict", made, turns])
    assert len(set(encoded)) == len(VectorTable(tmp_path / "v"))
    decisions = [
        [json.loads(line)["decision"] for line in out.splitlines()] for out in (outputs["predict"], plain.stdout)
    ]
    assert np.mean([one == other for one, other in zip(*decisions, strict=True)]) > 0.98
