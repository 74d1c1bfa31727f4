"""MTEB measures what is measured here."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from tests.runtime.test_encoder import WORDS, tiny_model
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.tasks.similarity import SentenceSimilarity, mteb_similarity_task
from turnloom.errors import TurnloomError
from turnloom.runtime import load_encoder


@pytest.mark.filterwarnings("ignore")  # MTEB warns about missing model cards.
def test_similarity_by_mteb_is_similarity_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mteb = pytest.importorskip("mteb")
    words = WORDS[5:]
    pairs = [
        {"a": " ".join(words[n % 3 : n % 5 + 2]), "b": " ".join(words[n % 7 : n % 4 + 8]), "score": n * 7 % 11 / 2}
        for n in range(40)
    ]
    path = tmp_path / "stsb_en" / "test.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress("".join(json.dumps(pair) + "\n" for pair in pairs).encode()))
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))
    tiny_model.folder = tmp_path  # type: ignore[attr-defined]
    model = tiny_model()
    ours = SentenceSimilarity("stsb_en", "test").evaluate(CachedEncoder(load_encoder(model)), 1, 0)[0]
    found = mteb.evaluate(model, mteb_similarity_task(), cache=None, show_progress_bar=False)
    theirs = found.task_results[0].get_score()
    assert theirs == pytest.approx(ours.scores["spearman"] / 100, abs=1e-4)
    assert abs(theirs) > 0.01


def test_a_missing_extra_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mteb.abstasks.sts", None)
    with pytest.raises(TurnloomError, match=r"pip install 'turnloom\[bench\]'"):
        mteb_similarity_task()
