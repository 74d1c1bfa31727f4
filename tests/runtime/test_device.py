"""Models on another device than the CPU, of which no test machine has one: what is moved, and where autocast acts.

`meta` stands in where shapes suffice. Where values are needed, a tensor stands in that, as one on a GPU, gives no NumPy
array before it was copied to the CPU.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder

from tests.runtime.test_encoder import tiny_model
from turnloom.runtime import load_encoder
from turnloom.runtime.encoder import SentenceTransformerEncoder
from turnloom.runtime.scorer import CrossEncoderScorer, load_scorer

TEXTS = ["hello there", "my card is lost please", "yes"]


class OnGpu(torch.Tensor):
    """What it is computed with stays on the GPU; only `cpu` takes it away."""

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError(f"can't convert cuda:0 device type tensor to numpy (force={force})")

    def cpu(self, *_: Any, **__: Any) -> torch.Tensor:
        return self.as_subclass(torch.Tensor)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny").mkdir()
    monkeypatch.setattr(tiny_model, "folder", tmp_path / "tiny", raising=False)
    tiny_model().save_pretrained(str(tmp_path / "encoder"))
    return tmp_path / "encoder"


@pytest.fixture
def scorer_folder(folder: Path) -> Path:
    CrossEncoder(str(folder), num_labels=1, device="cpu", max_length=32).save_pretrained(str(folder.parent / "scorer"))
    return folder.parent / "scorer"


@pytest.fixture
def autocasts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The device types that autocast is asked for; `meta` has no autocast of its own."""
    asked: list[str] = []

    def autocast(device: str, **_: Any) -> AbstractContextManager[None]:
        asked.append(device)
        return nullcontext()

    monkeypatch.setattr(torch, "autocast", autocast)
    return asked


def test_the_device_is_the_one_that_sentence_transformers_chooses(
    folder: Path, scorer_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sentence_transformers.base.model.get_device_name", lambda: "meta")
    for loaded in (load_encoder(folder), load_scorer(scorer_folder)):
        assert isinstance(loaded, SentenceTransformerEncoder | CrossEncoderScorer)
        assert loaded.model.device.type == "meta"


def test_vectors_come_to_the_cpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_encoder(folder)
    assert isinstance(encoder, SentenceTransformerEncoder)
    expected = [encoder.encode(TEXTS), encoder.encode_query([TEXTS]), encoder.encode_document(TEXTS)]
    for name in ("encode", "encode_query", "encode_document"):
        inner = getattr(encoder.model, name)
        monkeypatch.setattr(
            encoder.model, name, lambda *texts, inner=inner, **options: inner(*texts, **options).as_subclass(OnGpu)
        )
    found = [encoder.encode(TEXTS), encoder.encode_query([TEXTS]), encoder.encode_document(TEXTS)]
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_autocast_acts_where_the_model_is(folder: Path, scorer_folder: Path, autocasts: list[str]) -> None:
    encoder, scorer = load_encoder(folder, bf16=True), load_scorer(scorer_folder, bf16=True)
    assert isinstance(encoder, SentenceTransformerEncoder)
    assert isinstance(scorer, CrossEncoderScorer)
    encoder.model.to("meta")
    encoder.model.encode = lambda texts, **_: torch.zeros(len(texts), 32)  # type: ignore[assignment]
    encoder.encode(TEXTS)
    scorer.model.to("meta")
    scorer.model.predict = lambda pairs, **_: np.zeros(len(pairs))  # type: ignore[assignment]
    scorer.score(["hello"], TEXTS)
    assert autocasts == ["meta", "meta"]


def test_fine_tuning_takes_texts_to_the_model_and_vectors_back(folder: Path, autocasts: list[str]) -> None:
    encoder = load_encoder(folder)
    assert isinstance(encoder, SentenceTransformerEncoder)
    seen: set[str] = set()

    def forward(features: dict[str, Any]) -> dict[str, torch.Tensor]:
        seen.update(value.device.type for value in features.values() if torch.is_tensor(value))
        return {"sentence_embedding": torch.zeros(len(features["input_ids"]), 32).as_subclass(OnGpu)}

    encoder.model.to("meta")
    encoder.model.forward = forward  # type: ignore[assignment]
    vectors = encoder.embed(TEXTS)
    assert seen == {"meta"}
    assert autocasts == ["meta"]
    assert type(vectors) is torch.Tensor
    assert vectors.shape == (3, 32)
