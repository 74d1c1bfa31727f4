"""Baselines against what they should compute, on the tiny model and hand-written text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.known_answers import write_sets
from tests.runtime.test_encoder import tiny_model
from turnloom.benchmarks import suite_tasks
from turnloom.benchmarks.baselines import baseline, lexical_tasks, training_texts
from turnloom.errors import TurnloomError

TEXTS = ["hello there", "my card is lost", "yes please help"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tiny_model.folder = tmp_path_factory.mktemp("tiny")  # type: ignore[attr-defined]
    model: Any = tiny_model()
    saved = tmp_path_factory.mktemp("saved") / "tiny"
    model.save(str(saved), create_model_card=False)
    return saved


@pytest.fixture(autouse=True)
def _training_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ["hello you", "my i", "yes please", "no is", "card can", "lost how"]
    rows = [
        {"id": str(n), "turns": [{"speaker": "u", "text": f"{text} {'help ' * n}".strip()} for text in said]}
        for n in range(8)
    ]
    path = tmp_path / "sgd" / "train.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))


def test_static_words_are_a_mean_of_rows(folder: Path) -> None:
    from turnloom.runtime.encoder import SentenceTransformerEncoder, load_encoder

    own = load_encoder(folder)
    assert isinstance(own, SentenceTransformerEncoder)
    module: Any = own.model[0]
    table = module.auto_model.get_input_embeddings().weight.detach().numpy()
    ids = own.model.tokenizer(TEXTS[1], add_special_tokens=False)["input_ids"]
    assert baseline("static", folder).encode(TEXTS)[1] == pytest.approx(table[ids].mean(axis=0), abs=1e-6)
    assert not baseline("static", folder).encode([""]).any()


def test_poolings(folder: Path) -> None:
    from turnloom.runtime import load_encoder

    assert baseline("mean", folder).encode(TEXTS) == pytest.approx(load_encoder(folder).encode(TEXTS), abs=1e-5)
    cls = baseline("cls", folder)
    assert cls.name == "cls-tiny"
    assert np.abs(cls.encode(TEXTS) - load_encoder(folder).encode(TEXTS)).max() > 0.01


def test_whitened_training_text_is_white(folder: Path) -> None:
    vectors = baseline("whitening", folder).encode(training_texts())
    assert vectors.mean(axis=0) == pytest.approx(np.zeros(vectors.shape[1]), abs=1e-2)
    spread = vectors.astype(float).var(axis=0, ddof=1)
    assert spread[spread > 0.5] == pytest.approx(np.ones((spread > 0.5).sum()), abs=0.05)


def test_rare_words_weigh_more_in_tfidf() -> None:
    rare, common = baseline("tfidf", None).encode(["zebra help", "help"])
    assert rare.max() > (rare * (common > 0)).max()


def test_what_is_no_baseline_is_said(folder: Path) -> None:
    with pytest.raises(TurnloomError, match="static:FOLDER"):
        baseline("static", None)
    with pytest.raises(TurnloomError, match="no baseline 'magic'"):
        baseline("magic", folder)


def test_bm25_finds_shared_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sets(tmp_path / "sets")
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path / "sets"))
    tasks = {task.info.name: task for task in lexical_tasks(suite_tasks("all"))}
    assert len(tasks) == 21
    # A question and its answer share their key, and nothing else is shared by so few.
    assert tasks["select-amazon_qa"].evaluate(None, 1, 0)[0].scores["top1"] == pytest.approx(100)  # type: ignore[arg-type]
    assert tasks["appropriate-sgd"].evaluate(None, 1, 0)[0].scores["exact_top1"] == pytest.approx(100)  # type: ignore[arg-type]
    assert tasks["retrieve-multidogo"].evaluate(None, 1, 0)[0].scores["map"] > 50  # type: ignore[arg-type]
