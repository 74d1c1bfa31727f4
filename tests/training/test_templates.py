"""TaDSE from utterances with slots to a model, and semantic compression with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer

from tests.training.toy import TOPICS, VOCABULARY
from turnloom.corpus.tagging import slot_table
from turnloom.errors import TurnloomError
from turnloom.runtime import SemanticCompression, choose_weight, load_encoder
from turnloom.training import load_recipe, train
from turnloom.views.templates import templater


@pytest.fixture(scope="module")
def slots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slots")
    tags = ["O", "O", "O", "O", "B-topic", "O", "B-topic"]
    rows = [{"text": f"please tell me about q{n} and q{(n * 7) % TOPICS}", "slots": tags} for n in range(TOPICS)] + [
        {"text": f"the a{n} is that was", "slots": ["O", "B-answer", "O", "O", "O"]} for n in range(TOPICS)
    ]
    (folder / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    slot_table([str(folder / "said.jsonl")], folder / "table")
    return folder / "table"


def train_tadse(slots: Path, start: Path, out: Path, other: dict[str, str] | None = None) -> Path:
    changes = {"stages.0.batch_size": "8", "stages.0.steps": "6", "stages.0.encoder_rate": "1e-3", "bf16": "false"}
    recipe = load_recipe("tadse", {**changes, **(other or {}), "model.start": str(start), "report_to": "none"})
    train(recipe, [slots], out)
    return out


@pytest.fixture(scope="module")
def trained(slots: Path, start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_tadse(slots, start, tmp_path_factory.mktemp("tadse") / "model")


def test_of_the_words_only_the_new_ones_are_learned(trained: Path, slots: Path, start: Path, tmp_path: Path) -> None:
    name = "embeddings.word_embeddings.weight"
    before, after = load_file(start / "model.safetensors")[name], load_file(trained / "model.safetensors")[name]
    assert len(after) == len(VOCABULARY) + 1
    assert torch.equal(after[: len(VOCABULARY)], before)
    model = SentenceTransformer(str(trained))
    assert model.tokenizer.tokenize("tell me about {SLOT}")[-1] == "{SLOT}"
    still = tmp_path / "still"
    train_tadse(slots, start, still, {"stages.0.steps": "1", "stages.0.encoder_rate": "0"})
    assert not torch.equal(after[-1], load_file(still / "model.safetensors")[name][-1])


def test_the_layer_for_templates_is_kept(trained: Path) -> None:
    model = SentenceTransformer(str(trained))
    template, plain = model.encode(["about {SLOT}"], task="template"), model.encode(["about {SLOT}"])
    assert not np.allclose(template, plain)
    assert np.linalg.norm(template) == pytest.approx(1, abs=1e-5)
    encoder = load_encoder(str(trained))
    assert not encoder.has_heads
    assert np.allclose(encoder.encode_query([["about {SLOT}"]]), plain, atol=1e-6)
    assert "SemanticCompression" in (trained / "README.md").read_text(encoding="utf-8")


def find_topics(texts: object) -> list[list[tuple[str, int, int]]]:
    assert isinstance(texts, list)
    return [[("topic", text.index("q"), text.index("q") + 2)] if "q" in text else [] for text in texts]


def test_compression_is_the_papers_sum(trained: Path) -> None:
    model = SentenceTransformer(str(trained))
    texts = ["tell me about q1", "thanks"]
    wrapped = SemanticCompression(model, templater(find_topics), 0.3)
    utterances = model.encode(texts)
    templates = model.encode(["tell me about {SLOT}", "thanks"], task="template")
    expected = 0.3 * templates + 0.7 * utterances
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(wrapped.encode(texts), expected, atol=1e-6)
    assert np.allclose(wrapped.encode(texts[0]), expected[0], atol=1e-6)
    assert torch.is_tensor(wrapped.encode(texts, convert_to_tensor=True))
    assert np.allclose(SemanticCompression(model, templater(find_topics), 0.0).encode(texts), utterances, atol=1e-6)
    assert load_encoder(wrapped).encode(texts).shape == (2, 32)
    with pytest.raises(TurnloomError, match="weight of templates"):
        SemanticCompression(model, templater(find_topics), 1.5)


def test_the_smallest_of_the_best_weights_is_chosen() -> None:
    weight, scores = choose_weight(lambda weight: min(weight, 0.4))
    assert weight == pytest.approx(0.4)
    assert len(scores) == 11
