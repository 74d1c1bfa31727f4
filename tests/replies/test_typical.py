"""Replies that say what most of the nearest say: against a naive loop, in an index, and by choice of `quickstart`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.replies.toy import WordEncoder, dialogue, many, write_table
from turnloom.cli.quickstart_replies import choose_order
from turnloom.errors import TurnloomError
from turnloom.replies import ReplyIndex
from turnloom.replies.typical import AGREEMENT, DETAIL, RARE, SPREAD, UNHEARD, agreed

ENCODER = WordEncoder()


def naive(fits: list[float], vectors: np.ndarray, texts: list[str], said: str) -> list[float]:
    """The same by loops."""
    weights = [math.exp((fit - max(fits)) / SPREAD) for fit in fits]
    scores = []
    for one, fit in enumerate(fits):
        agreement, details = 0.0, 0.0
        for other, weight in enumerate(weights):
            if other != one:
                cosine = float(vectors[one] @ vectors[other])
                cosine /= float(np.linalg.norm(vectors[one]) * np.linalg.norm(vectors[other]))
                agreement += weight * cosine
        for word in set(texts[one].split()) - set(said.split()):
            others = sum(
                weight for other, weight in enumerate(weights) if other != one and word in texts[other].split()
            )
            details += max(math.log(RARE / (others / sum(weights) + UNHEARD)), 0)
        scores.append(AGREEMENT * agreement / sum(weights) + (1 - AGREEMENT) * fit - DETAIL * details)
    return scores


def test_it_equals_loops() -> None:
    rng = np.random.default_rng(0)
    fits, vectors = rng.uniform(0, 1, 30), rng.normal(size=(30, 8)).astype(np.float32)
    texts = [" ".join(f"w{number}" for number in rng.geometric(0.1, 8)) for _ in range(30)]
    expected = naive(fits.tolist(), vectors.astype(np.float64), texts, "w78 w31")
    found = agreed(fits, vectors, texts, ["w78?", "W31!"])
    assert found == pytest.approx(expected, abs=1e-6)
    assert found != pytest.approx(agreed(fits, vectors, texts, ["nothing"]), abs=1e-3)


def test_a_city_that_the_customer_named_is_no_detail() -> None:
    texts = [*(f"sorry about the delay {number}" for number in range(20)), "sorry about the delay in paris"]
    fits, alike = np.full(len(texts), 0.5), np.ones((len(texts), 2), np.float32)
    unasked = agreed(fits, alike, texts, ["why so late?"])
    asked = agreed(fits, alike, texts, ["Why so late in Paris?"])
    assert asked[-1] > unasked[-1]
    assert asked[:-1] == pytest.approx(unasked[:-1])


@pytest.mark.parametrize("said", [["很抱歉航班延误了", "非常抱歉航班延误", "很抱歉巴黎的航班延误了"], ["...", "", "?"]])
def test_texts_without_spaces_or_words_have_scores(said: list[str]) -> None:
    texts = said * 10
    scores = agreed(np.full(30, 0.5), np.ones((30, 2), np.float32), [*texts[:29], said[2]], ["航班"])
    assert np.isfinite(scores).all()


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


def test_below_a_score_it_suggests_nothing(index: ReplyIndex) -> None:
    every = index.suggest(["my flight delay"], 6, mode="typical")
    least = every[2].score
    sure = index.suggest(["my flight delay"], 6, mode="typical", min_score=least)
    assert [reply.text for reply in sure] == [reply.text for reply in every if reply.score >= least]
    assert index.suggest(["my flight delay"], 6, mode="typical", min_score=2.0) == []
    with pytest.raises(TurnloomError, match="min_score needs mode typical"):
        index.suggest(["my flight delay"], min_score=0.5)


def test_quickstart_takes_it_only_where_it_is_clearly_better(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table", many(60))
    index = ReplyIndex.build(table, tmp_path / "index", ENCODER)
    assert choose_order(index, table) == ("hybrid", None)
    words = ["the delay", "this delay", "that delay", "the long delay", "the delay today", "the delay again"]
    talks = [
        dialogue(f"t{number}", f"flight {number} is late because of fog", f"sorry about {words[number % 6]}")
        for number in range(60)
    ]
    loud = dialogue("loud", "hi", "flight 7 is late because of fog in paris")
    index = ReplyIndex.build(write_table(tmp_path / "late", [*talks, loud]), tmp_path / "late-index", ENCODER)
    asked = write_table(tmp_path / "asked", talks)
    order, least = choose_order(index, asked)
    assert (order, least is None) == ("typical", False)
    sure = [index.suggest([talk.turns[0].text], 1, mode="typical", min_score=least) for talk in talks]
    assert 0.25 < sum(map(bool, sure)) / len(sure) <= 0.75
