"""Ten candidates: nine that never are the truth, or eight and one that was said before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.known_answers import OracleScorer, write_sets
from turnwise.benchmarks import CachedEncoder, run_tasks
from turnwise.benchmarks.baselines import BM25Scorer, lexical_tasks
from turnwise.benchmarks.suites import suite_tasks
from turnwise.benchmarks.tasks.reranking import Reranking, reranking_examples

DIALOGUES = [
    [("a", f"hello {n}"), ("b", "yes"), ("a", f"question {n}"), ("b", "yes" if n % 3 else f"answer {n}")]
    for n in range(40)
]


def test_candidates_are_distinct_and_none_repeats_the_truth() -> None:
    for example in reranking_examples(DIALOGUES, 0):
        assert len(set(example.replies)) == 10
        assert example.right == [True] + [False] * 9
        assert len(example.context) >= 2


def test_contexts_without_enough_other_replies_are_left_out() -> None:
    assert reranking_examples(DIALOGUES[:1], 0) == []
    assert reranking_examples([[("a", "hello"), ("b", "yes"), ("a", f"go {n % 3}")] for n in range(40)], 0) == []


def test_both_forms_differ_in_the_planted_turn_alone() -> None:
    plain, planted = reranking_examples(DIALOGUES, 1), reranking_examples(DIALOGUES, 1, adversarial=True)
    for one, two in zip(plain, planted, strict=True):
        assert one.context == two.context
        assert two.replies[1] in two.context
        assert two.replies[1] != two.replies[0]
        assert [two.replies[0], *two.replies[2:]] == one.replies[:-1]


def test_a_scorer_is_measured_on_what_it_can_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sets(tmp_path / "sets")
    monkeypatch.setenv("TURNWISE_DATA", str(tmp_path / "sets"))
    result = run_tasks(CachedEncoder(OracleScorer()), [*suite_tasks("quick"), Reranking("sgd")], tmp_path / "out")
    assert list(result.tasks) == ["rerank-sgd"]
    assert result.tasks["rerank-sgd"].mean("map") == pytest.approx(100)
    assert lexical_tasks([Reranking("sgd")])[0].info.name == "rerank-sgd"
    words = Reranking("sgd", adversarial=True).evaluate(CachedEncoder(BM25Scorer()), 1, 0)[0]
    # Words alone prefer what was said before to what answers it.
    assert words.scores["planted_first"] == pytest.approx(100)
    assert words.scores["r10_at_1"] == pytest.approx(0)
