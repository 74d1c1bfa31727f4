"""Replies that say what most of the nearest say: against a naive loop, in an index, and by choice of `quickstart`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.replies.toy import WordEncoder, dialogue, many, write_table
from turnloom.cli.quickstart_replies import choose_order
from turnloom.replies import ReplyIndex
from turnloom.replies.typical import AGREEMENT, SPREAD, agreed

ENCODER = WordEncoder()


def naive(fits: list[float], vectors: np.ndarray) -> list[float]:
    """The same by loops."""
    scores = []
    for one, fit in enumerate(fits):
        agreement, total = 0.0, 0.0
        for other, said in enumerate(fits):
            weight = math.exp((said - max(fits)) / SPREAD)
            total += weight
            if other != one:
                cosine = float(vectors[one] @ vectors[other])
                cosine /= float(np.linalg.norm(vectors[one]) * np.linalg.norm(vectors[other]))
                agreement += weight * cosine
        scores.append(AGREEMENT * agreement / total + (1 - AGREEMENT) * fit)
    return scores


def test_it_equals_loops() -> None:
    rng = np.random.default_rng(0)
    fits, vectors = rng.uniform(0, 1, 30), rng.normal(size=(30, 8)).astype(np.float32)
    assert agreed(fits, vectors) == pytest.approx(naive(fits.tolist(), vectors.astype(np.float64)), abs=1e-6)


@pytest.fixture
def index(tmp_path: Path) -> ReplyIndex:
    """Five replies say nearly the same, and one has more words of the question."""
    alike = ["sorry about the delay", "sorry for the delay", "so sorry about the delay", "sorry about that delay"]
    said = [*alike, "sorry about this delay", "my flight delay was in paris because of fog"]
    talks = [dialogue(f"d{number}", f"hello {number}", reply) for number, reply in enumerate(said)]
    return ReplyIndex.build(write_table(tmp_path / "table", talks), tmp_path / "index", ENCODER)


def test_what_most_say_comes_first(index: ReplyIndex) -> None:
    asked = ["my flight delay"]
    assert "paris" in index.suggest(asked, 1, mode="vector")[0].text
    found = index.suggest(asked, 6, mode="typical")
    assert "paris" not in found[0].text
    assert len(found) == len({reply.text for reply in found}) == 6
    assert [reply.score for reply in found] == sorted([reply.score for reply in found], reverse=True)


def test_those_beyond_the_nearest_follow(index: ReplyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnloom.replies.search.NEAREST", 2)
    by_vector = [reply.text for reply in index.suggest(["my flight delay"], 6, mode="vector")]
    found = index.suggest(["my flight delay"], 6, mode="typical")
    assert {reply.text for reply in found[:2]} == set(by_vector[:2])
    assert [reply.text for reply in found[2:]] == by_vector[2:]
    assert [reply.score for reply in found] == sorted([reply.score for reply in found], reverse=True)


def test_quickstart_takes_it_only_where_it_is_clearly_better(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table", many(60))
    index = ReplyIndex.build(table, tmp_path / "index", ENCODER)
    assert choose_order(index, table) == "hybrid"
    words = ["the delay", "this delay", "that delay", "the long delay", "the delay today", "the delay again"]
    talks = [
        dialogue(f"t{number}", f"flight {number} is late because of fog", f"sorry about {words[number % 6]}")
        for number in range(60)
    ]
    loud = dialogue("loud", "hi", "flight 7 is late because of fog in paris")
    index = ReplyIndex.build(write_table(tmp_path / "late", [*talks, loud]), tmp_path / "late-index", ENCODER)
    assert choose_order(index, write_table(tmp_path / "asked", talks)) == "typical"
