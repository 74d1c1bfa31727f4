"""The final order of what a search found, by hand-computed numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.replies.toy import LengthScorer, WordEncoder, many, write_table
from turnloom.errors import TurnloomError
from turnloom.replies import ReplyIndex, Suggestion
from turnloom.replies.suggestion import blend, in_final_order


def suggestion(text: str, score: float) -> Suggestion:
    return Suggestion(text, score, score, None, 1, (), hash(text))


FOUND = [suggestion("a" * 4, 0.5), suggestion("a" * 6, 0.4), suggestion("a" * 8, 0.1)]
"""The search likes short replies, `LengthScorer` long ones."""


def test_each_side_counts_in_its_own_standard_deviations() -> None:
    # Means 1/3 and 6, deviations sqrt(0.26/9) and sqrt(8/3).
    search = (np.array([0.5, 0.4, 0.1]) - 1 / 3) / np.sqrt(0.26 / 9)
    rerank = np.array([-2, 0, 2]) / np.sqrt(8 / 3)
    expected = 0.75 * search + 0.25 * rerank
    assert blend(np.array([0.5, 0.4, 0.1]), np.array([4.0, 6.0, 8.0]), 0.25) == pytest.approx(expected)
    scaled = blend(np.array([50.0, 40.0, 10.0]) + 7, np.array([4.0, 6.0, 8.0]) * 1e3, 0.25)
    assert scaled == pytest.approx(expected)


def test_probabilities_count_by_their_log_odds() -> None:
    sure, odds = 1 / (1 + np.exp(-np.array([1.0, 5.0, 12.0]))), np.array([1.0, 5.0, 12.0])
    search = np.array([0.3, 0.2, 0.1])
    assert blend(search, sure, 0.6) == pytest.approx(blend(search, odds, 0.6), rel=1e-3)
    assert np.isfinite(blend(search, np.array([0.0, 0.5, 1.0]), 0.6)).all()


def test_what_finds_all_alike_changes_nothing() -> None:
    assert blend(np.array([3.0, 3.0]), np.array([1.0, 2.0]), 0.5) == pytest.approx([-0.5, 0.5])


@pytest.mark.parametrize(("weight", "order"), [(0.0, [4, 6, 8]), (0.4, [6, 4, 8]), (0.9, [8, 6, 4]), (1.0, [8, 6, 4])])
def test_the_weight_moves_the_order_from_the_search_to_the_re_ranker(weight: float, order: list[int]) -> None:
    found = in_final_order(LengthScorer(), ["hello"], FOUND, weight)
    assert [len(one.text) for one in found] == order
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert {one.search_score for one in found} == {0.5, 0.4, 0.1}


def test_a_re_ranker_alone_keeps_its_own_scores() -> None:
    assert [one.score for one in in_final_order(LengthScorer(), ["hello"], FOUND, 1.0)] == [8, 6, 4]
    assert in_final_order(LengthScorer(), ["hello"], []) == []


@pytest.mark.parametrize("weight", [-0.1, 1.5, float("nan")])
def test_a_weight_is_a_part_of_one(weight: float) -> None:
    with pytest.raises(TurnloomError, match="rerank_weight cannot be"):
        in_final_order(LengthScorer(), ["hello"], FOUND, weight)


def test_an_index_passes_the_weight_on(tmp_path: Path) -> None:
    plain = ReplyIndex.build(write_table(tmp_path / "table", many(30)), tmp_path / "index", WordEncoder())
    index = ReplyIndex(tmp_path / "index", WordEncoder(), scorer=LengthScorer())
    asked = ["where is my lamp"]
    for mode in ("vector", "text", "hybrid"):
        searched = [one.text for one in plain.suggest(asked, 5, mode=mode)]
        assert [one.text for one in index.suggest(asked, 5, mode=mode, reranked=20, rerank_weight=0)] == searched
        longest = [len(one.text) for one in index.suggest(asked, 5, mode=mode, reranked=20, rerank_weight=1)]
        assert longest == sorted((len(one.text) for one in plain.suggest(asked, 20, mode=mode)), reverse=True)[:5]
