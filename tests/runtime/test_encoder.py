"""The encoder protocol over a real, tiny SentenceTransformer made here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnloom.benchmarks.baselines import baseline
from turnloom.errors import TurnloomError
from turnloom.runtime import Encoder, TrainableEncoder, load_encoder
from turnloom.runtime.context_format import ContextFormat

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, *re.findall(r"\w+", "hello there how can i help you my card is lost yes no please")]


def tiny_model() -> Any:
    """Two layers of width 32 over twenty words, with fixed weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = Path(tiny_model.folder)  # type: ignore[attr-defined]
    if not (folder / "config.json").exists():
        torch.manual_seed(0)
        BertTokenizerFast(vocab={word: place for place, word in enumerate(WORDS)}).save_pretrained(folder)
        config = BertConfig(
            vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
        )
        BertModel(config).save_pretrained(folder)
    transformer = Transformer(str(folder), max_seq_length=16)
    return SentenceTransformer(modules=[transformer, Pooling(32, "mean")], device="cpu")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    tiny_model.folder = tmp_path_factory.mktemp("tiny")  # type: ignore[attr-defined]
    return tiny_model()


@pytest.fixture
def folder(model: Any, tmp_path: Path) -> Path:
    model.save(str(tmp_path / "model"), create_model_card=False)
    return tmp_path / "model"


def test_a_folder_gives_what_sentence_transformers_gives(model: Any, folder: Path) -> None:
    encoder = load_encoder(folder)
    assert isinstance(encoder, Encoder)
    assert encoder.name == "model"
    assert not encoder.has_heads
    texts = ["hello there", "my card is lost"]
    assert encoder.encode(texts) == pytest.approx(model.encode(texts), abs=1e-6)
    assert encoder.encode_document(texts) == pytest.approx(encoder.encode(texts), abs=1e-6)
    assert encoder.encode_query([("hello there",)])[0] == pytest.approx(encoder.encode(texts)[0], abs=1e-6)
    rough = load_encoder(folder, bf16=True)
    assert rough.fingerprint != encoder.fingerprint
    assert rough.encode(texts) == pytest.approx(encoder.encode(texts), abs=0.05)


def test_contexts_are_cut_from_the_front(folder: Path) -> None:
    encoder = load_encoder(folder)
    turns = ["hello there how can i help you", "my card is lost", "yes please"]
    assert encoder.format_context(turns) == "my card is lost [SEP] yes please"
    assert encoder.format_context(turns[1:]) == "my card is lost [SEP] yes please"
    (folder / "turnloom.json").write_text(json.dumps({"separator": "please", "max_turns": 1}))
    assert load_encoder(folder).format_context(turns) == "yes please"
    (folder / "turnloom.json").write_text(json.dumps({"cut": "middle"}))
    with pytest.raises(TurnloomError, match=r"turnloom\.json is not a context format"):
        load_encoder(folder)


def test_the_last_turn_always_stays() -> None:
    def length(text: str) -> int:
        return len(text.split())

    assert ContextFormat().apply(["a", "b c d e f g"], length, 4) == "b c d e f g"
    assert ContextFormat().apply(["a", "b"], length, 5) == "a\nb"
    assert ContextFormat().apply(["a", "b"], length, 5, "[SEP]") == "a [SEP] b"


def test_the_fingerprint_follows_the_weights(model: Any, folder: Path) -> None:
    before = load_encoder(folder).fingerprint
    assert load_encoder(folder).fingerprint == before
    (folder / "turnloom.json").write_text("{}")
    assert load_encoder(folder).fingerprint != before
    assert load_encoder(model).fingerprint == load_encoder(model).fingerprint


def test_a_copy_is_trained_alone_and_cut_where_asked(model: Any) -> None:
    import torch

    encoder = load_encoder(model)
    assert isinstance(encoder, TrainableEncoder)
    text, start, end = "hello there my card is lost", "hello there my", "card is lost"
    assert encoder.copy().encode([text]) == pytest.approx(encoder.encode([text]), abs=1e-6)
    assert encoder.copy(5).encode([text]) == pytest.approx(encoder.encode([start]), abs=1e-6)
    front = encoder.copy(5, "front")
    assert front.encode([text]) == pytest.approx(encoder.encode([end]), abs=1e-6)
    before, many = encoder.encode([end]), [text, "yes", end] * 20
    for module in front.model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    vectors = front.embed(many)
    assert front.model.training
    assert vectors.detach().numpy() == pytest.approx(front.encode(many), abs=1e-5)
    vectors.sum().backward()
    assert front.parameters()[0].grad is not None
    with torch.no_grad():
        front.parameters()[0].add_(1)
    assert np.array_equal(encoder.encode([end]), before)
    assert front.fingerprint != encoder.fingerprint


def test_declared_languages(folder: Path) -> None:
    assert load_encoder(folder).languages == frozenset()
    (folder / "README.md").write_text("---\nlanguage:\n- en\n- de\n---\n# model\n")
    assert load_encoder(folder).languages == {"en", "de"}
    (folder / "README.md").write_text("---\nlanguage: zh\n---\n")
    assert load_encoder(folder).languages == {"zh"}


def test_any_object_that_encodes() -> None:
    class Plain:
        def encode(self, texts: list[str]) -> list[list[float]]:
            return [[float(len(text))] for text in texts]

    class Headed(Plain):
        def encode_query(self, texts: list[str]) -> list[list[float]]:
            return [[-1.0] for _ in texts]

        def encode_document(self, texts: list[str]) -> list[list[float]]:
            return [[-2.0] for _ in texts]

    plain, headed = load_encoder(Plain()), load_encoder(Headed())
    assert isinstance(plain, Encoder)
    assert plain.encode_query([("a", "b")]).tolist() == [[3.0]]
    assert not plain.has_heads
    assert headed.has_heads
    assert headed.encode_query([("a",)]).tolist() == [[-1.0]]
    assert headed.encode_document(["a"]).tolist() == [[-2.0]]
    assert headed.encode(["ab"]).dtype == np.float32


def test_what_is_no_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="holds no model"):
        load_encoder(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(TurnloomError, match="no safetensors"):
        load_encoder(tmp_path)
    with pytest.raises(TurnloomError, match="has no 'encode'"):
        load_encoder(object())


def test_loading_prints_nothing_and_leaves_the_setting_alone(
    folder: Path, bars_on: None, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers.utils import logging

    load_encoder(folder)
    baseline("mean", folder)
    assert logging.is_progress_bar_enabled()
    assert capfd.readouterr() == ("", "")
