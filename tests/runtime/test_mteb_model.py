"""Models in MTEB's form as encoders: with MTEB's own wrapper, and without MTEB at all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runtime.test_encoder import tiny_model
from turnloom.runtime import Encoder, load_encoder
from turnloom.runtime.mteb_model import MtebEncoder, is_mteb_model
from turnloom.runtime.object_encoder import ObjectEncoder

TEXTS = ["hello there", "my card is lost"]


class Written:
    """A model written against the protocol alone."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []

    def encode(
        self, inputs: Any, *, task_metadata: Any, hf_split: str, hf_subset: str, prompt_type: Any = None, **_: Any
    ) -> list[list[float]]:
        self.asked.append((task_metadata.type, prompt_type.value if prompt_type else None))
        assert list(inputs.dataset.features) == ["text"]
        return [[float(len(text))] for batch in inputs for text in batch["text"]]


def test_a_model_of_the_protocol_without_mteb(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "mteb"]:
        monkeypatch.delitem(sys.modules, name)
    model = Written()
    encoder = load_encoder(model, batch_size=1)
    assert isinstance(encoder, MtebEncoder)
    assert isinstance(encoder, Encoder)
    assert encoder.encode(TEXTS).tolist() == [[11.0], [15.0]]
    assert encoder.encode_query([("a", "b")]).tolist() == [[3.0]]
    assert encoder.encode_document(["abcd"]).tolist() == [[4.0]]
    assert model.asked == [("STS", None), ("Retrieval", "query"), ("Retrieval", "document")]
    assert not encoder.has_heads
    assert load_encoder(model).fingerprint != encoder.fingerprint
    assert "mteb" not in sys.modules


def test_other_objects_are_not_taken_for_one() -> None:
    class Plain:
        def encode(self, texts: list[str], **more: Any) -> Any:
            return np.ones((len(texts), 2))

    assert not is_mteb_model(Plain())
    assert not is_mteb_model(object())
    assert isinstance(load_encoder(Plain()), ObjectEncoder)


@pytest.mark.filterwarnings("ignore")  # MTEB warns about prompts and missing model cards.
def test_mteb_own_wrapper(tmp_path: Path) -> None:
    pytest.importorskip("mteb")
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    tiny_model.folder = tmp_path  # type: ignore[attr-defined]
    model = tiny_model()
    encoder = load_encoder(SentenceTransformerEncoderWrapper(model))
    assert isinstance(encoder, MtebEncoder)
    assert encoder.name == "SentenceTransformerEncoderWrapper"
    assert encoder.encode(TEXTS) == pytest.approx(model.encode(TEXTS), abs=1e-6)
    model.prompts = {"query": "yes ", "document": "no "}
    asking = load_encoder(SentenceTransformerEncoderWrapper(model))
    assert asking.has_heads
    assert asking.fingerprint != encoder.fingerprint
    assert asking.encode_query([("hello there",)]) == pytest.approx(model.encode(["yes hello there"]), abs=1e-6)
    assert asking.encode_document(["hello there"]) == pytest.approx(model.encode(["no hello there"]), abs=1e-6)
