from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import CrossEncoder

from tests.runtime.test_encoder import tiny_model
from turnloom.errors import TurnloomError
from turnloom.runtime import Scorer
from turnloom.runtime.scorer import is_cross_encoder, load_scorer


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny").mkdir()
    monkeypatch.setattr(tiny_model, "folder", tmp_path / "tiny", raising=False)
    tiny_model().save_pretrained(str(tmp_path / "encoder"))
    assert not is_cross_encoder(tmp_path / "encoder")
    model = CrossEncoder(str(tmp_path / "encoder"), num_labels=1, device="cpu", max_length=32)
    model.save_pretrained(str(tmp_path / "scorer"))
    return tmp_path / "scorer"


def test_a_cross_encoder_scores_as_it_does_alone(folder: Path) -> None:
    assert is_cross_encoder(folder)
    scorer = load_scorer(folder)
    assert isinstance(scorer, Scorer)
    replies = ["yes please", "no", "a table for two"]
    alone = scorer.model.predict([("hello", reply) for reply in replies], show_progress_bar=False)
    assert scorer.score(["hello"], replies) == pytest.approx(np.asarray(alone, np.float64))
    assert scorer.score(["hello"], ["no"]).shape == (1,)


def test_an_encoder_is_no_scorer(folder: Path) -> None:
    with pytest.raises(TurnloomError, match="encoder holds no cross-encoder"):
        load_scorer(folder.parent / "encoder")
    (folder / "config.json").write_text("{")
    with pytest.raises(TurnloomError, match="scorer holds a damaged model"):
        load_scorer(folder)


def test_the_oldest_turns_make_room_for_the_reply(folder: Path) -> None:
    scorer = load_scorer(folder)
    long = ["hello " * 40] * 4 + ["last words"]
    assert scorer.score(long, ["yes"]) == pytest.approx(scorer.score(["last words"], ["yes"]))


def test_bfloat16_is_close_and_leaves_the_model_as_it_was(folder: Path) -> None:
    scorer, rough = load_scorer(folder), load_scorer(folder, bf16=True)
    replies = ["yes please", "no", "a table for two"]
    assert rough.score(["hello"], replies) == pytest.approx(scorer.score(["hello"], replies), abs=0.01)
    assert not rough.model.keep_in_fp32_modules
    assert rough.fingerprint != scorer.fingerprint
