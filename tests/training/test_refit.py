"""Heads refitted on a finished encoder: better at what they were fitted for, and nothing else changed."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Dataset
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer

from tests.training.toy import write_start
from turnloom.errors import TurnloomError
from turnloom.objectives import ContextReplyHeads
from turnloom.runtime import load_encoder
from turnloom.training import load_recipe, train
from turnloom.training.recipe import Refit
from turnloom.training.refit import COMPARED, refit_heads
from turnloom.vectors import VectorOptions, VectorTable, build_vectors


def run(start: Path, table: Path, out: Path, validate: Any = None, vectors: Any = None, **changes: str) -> Path:
    base = {"stages.0.batch_size": "16", "stages.0.steps": "6", "bf16": "false", "report_to": "none"}
    recipe = load_recipe("wmdc-heads", {**base, "model.start": str(start), "stages.0.view.sizes": "[1]", **changes})
    train(recipe, [table], out, validate=validate, vectors=vectors)
    return out


def top1(folder: Path) -> float:
    """How often the true reply of a topic is the nearest, among those of all topics."""
    model = SentenceTransformer(str(folder))
    contexts = model.encode_query([f"please tell me about q{n} and q{n}" for n in range(40)])
    replies = model.encode_document([f"the a{n} is that a{n} was" for n in range(40)])
    return float(np.mean((contexts @ replies.T).argmax(1) == np.arange(40)))


def what_is_encoded(model: SentenceTransformer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that every text goes to which the model encodes from now on."""
    encoded: list[str] = []
    encode = model.encode

    def noted(texts: list[str], **options: Any) -> Any:
        encoded.extend(texts)
        return encode(texts, **options)

    monkeypatch.setattr(model, "encode", noted)
    return encoded


def test_refitted_heads_find_replies_and_leave_the_encoder_alone(table: Path, start: Path, tmp_path: Path) -> None:
    before = run(start, table, tmp_path / "before")
    after = run(start, table, tmp_path / "after", refit="{pairs: 300, passes: 150, batch_size: 100, rate: 0.003}")
    old, new = (load_file(folder / "model.safetensors") for folder in (before, after))
    assert all((old[name] == new[name]).all() for name in old)
    assert top1(after) > top1(before) + 0.15


def test_refitted_heads_are_the_last_point_of_the_curve(table: Path, start: Path, tmp_path: Path) -> None:
    seen = []

    def validate(model: SentenceTransformer) -> dict[str, float]:
        seen.append(model.encode_query(["please tell me about q1"]))
        return {"score": float(len(seen))}

    changes = {"refit": "{pairs: 100, passes: 2, batch_size: 50}", "evaluate_every": "6"}
    out = run(start, table, tmp_path / "model", validate, **changes)
    curve = json.loads((out / "training" / "result.json").read_text(encoding="utf-8"))["curve"]
    assert [(point["step"], point["score"]) for point in curve] == [(6, 1.0), (6, 2.0)]
    assert np.allclose(seen[-1], SentenceTransformer(str(out)).encode_query(["please tell me about q1"]), atol=1e-6)


def test_a_text_is_encoded_once(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SentenceTransformer(str(start))
    encoded = what_is_encoded(model, monkeypatch)
    one = Dataset.from_dict({"context": ["hi", "hi", "more"], "reply": ["hello", "more", "bye"]})
    two = Dataset.from_dict({"context": ["hi hello", "x more"], "reply": ["more", "bye"]})
    heads = ContextReplyHeads(model.get_embedding_dimension() or 0)
    refit_heads(model, heads, {"1": one, "2": two}, Refit(pairs=6, passes=1, batch_size=2), bf16=False, seed=0)
    assert sorted(encoded) == ["bye", "hello", "hi", "hi hello", "more", "x more"]


def test_sources_are_taken_evenly_as_far_as_they_go(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = SentenceTransformer(str(start))
    encoded = what_is_encoded(model, monkeypatch)
    sources = ["much"] * 50 + ["some"] * 5 + ["few"] * 2
    order = np.random.default_rng(0).permutation(len(sources))
    columns = {
        "context": [f"{sources[place]} {place}" for place in order],
        "reply": ["yes"] * len(order),
        "source": [sources[place] for place in order],
    }
    options = Refit(pairs=12, even_sources=True, passes=1, batch_size=4)
    rows = Dataset.from_dict(columns)
    texts = rows.with_transform(lambda batch: {"context": batch["context"], "reply": batch["reply"]})
    heads = ContextReplyHeads(model.get_embedding_dimension() or 0)
    refit_heads(model, heads, {"": texts}, options, bf16=False, seed=0)
    assert Counter(text.split()[0] for text in encoded) == {"much": 5, "some": 5, "few": 2, "yes": 1}


def test_refit_needs_heads(table: Path, start: Path, tmp_path: Path) -> None:
    changes = {"stages.0.objective.head": "linear", "keep_heads": "false", "refit": "{pairs: 10}"}
    with pytest.raises(TurnloomError, match="refit needs the head 'context-reply'"):
        run(start, table, tmp_path / "model", **changes)


HEADS_ONLY = {"stages.0.encoder_rate": "0", "refit": "{pairs: 300, passes: 20, batch_size: 100, rate: 0.003}"}


def write_vectors(out: Path, table: Path, model: Path) -> Path:
    build_vectors([table], out, VectorOptions(partial(load_encoder, model)))
    return out


def head_weights(model: Path) -> dict[str, Any]:
    """All weights of the heads, by file."""
    files = sorted(model.glob("*_Router/**/model.safetensors"))
    return {
        str(file.relative_to(model)): np.concatenate([value.numpy().ravel() for value in load_file(file).values()])
        for file in files
    }


def test_stored_vectors_give_the_same_heads(
    table: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = write_vectors(tmp_path / "v", table, start)
    unfitted = run(start, table, tmp_path / "unfitted", **{**HEADS_ONLY, "refit": "null"})
    plain = run(start, table, tmp_path / "plain", **HEADS_ONLY)
    encoded: list[str] = []
    encode = SentenceTransformer.encode

    def noted(self: SentenceTransformer, texts: list[str], **options: Any) -> Any:
        encoded.extend(texts)
        return encode(self, texts, **options)

    monkeypatch.setattr(SentenceTransformer, "encode", noted)
    stored = run(start, table, tmp_path / "stored", vectors=vectors, **HEADS_ONLY)
    kept = VectorTable(vectors)
    # Some are none of ours: examples of sentence-transformers.
    assert sum(kept.rows([text])[0] >= 0 for text in encoded) == COMPARED < len(kept)
    before, own, same = (head_weights(model) for model in (unfitted, plain, stored))
    assert before.keys() == own.keys() == same.keys() != set()
    for name, weights in own.items():
        learned = np.abs(weights - before[name]).max()
        assert learned > 0.01
        assert np.abs(weights - same[name]).max() < 0.02 * learned


def test_vectors_that_cannot_fit_are_refused_before_training(table: Path, start: Path, tmp_path: Path) -> None:
    vectors = write_vectors(tmp_path / "v", table, start)
    with pytest.raises(TurnloomError, match="trains the encoder") as refused:
        run(start, table, tmp_path / "a", vectors=vectors, **{**HEADS_ONLY, "stages.0.encoder_rate": "1e-5"})
    assert "--set stages.0.encoder_rate=0" in refused.value.fix
    with pytest.raises(TurnloomError, match="does not refit heads"):
        run(start, table, tmp_path / "b", vectors=vectors, **{**HEADS_ONLY, "refit": "null"})
    other = write_start(tmp_path / "other", width=16)
    with pytest.raises(TurnloomError, match="holds vectors of start, not of the base model"):
        run(other, table, tmp_path / "c", vectors=vectors, **HEADS_ONLY)
    assert not [name for name in "abc" if (tmp_path / name / "model.safetensors").exists()]


def test_vectors_that_the_heads_do_not_read_are_refused(table: Path, start: Path, tmp_path: Path) -> None:
    """A model may normalise vectors for meaning only: its heads read them as they were before."""
    headed = run(start, table, tmp_path / "headed")
    vectors = write_vectors(tmp_path / "v", table, headed)
    with pytest.raises(TurnloomError, match="the heads do not read the vectors in"):
        run(headed, table, tmp_path / "m", vectors=vectors, **HEADS_ONLY)
