"""Ten candidates: nine that never are the truth, or eight and one that was said before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.benchmarks.known_answers import Constant, Oracle, OracleScorer, write_sets
from turnloom.benchmarks import CachedEncoder, run_tasks
from turnloom.benchmarks.baselines import BM25Scorer, lexical_tasks
from turnloom.benchmarks.suites import suite_tasks
from turnloom.benchmarks.tasks.reranking import (
    Candidates,
    Reranking,
    candidate_outputs,
    candidate_scores,
    form_scores,
    reranking_examples,
)
from turnloom.runtime import Context
from turnloom.runtime.object_encoder import ObjectEncoder

DIALOGUES = [
    [("a", f"hello {n}"), ("b", "yes"), ("a", f"question {n}"), ("b", "yes" if n % 3 else f"answer {n}")]
    for n in range(40)
]


def test_candidates_are_distinct_and_none_repeats_the_truth() -> None:
    for example in reranking_examples(DIALOGUES, 0):
        truth, planted, *others = example.replies
        assert len({truth, *others}) == 10
        assert planted in example.context
        assert planted != truth
        assert example.right == [True] + [False] * 10
        assert len(example.context) >= 2


def test_contexts_without_enough_other_replies_are_left_out() -> None:
    assert reranking_examples(DIALOGUES[:1], 0) == []
    assert reranking_examples([[("a", "hello"), ("b", "yes"), ("a", f"go {n % 3}")] for n in range(40)], 0) == []


def test_both_forms_differ_in_the_planted_turn_and_the_last_of_the_others() -> None:
    examples = reranking_examples(DIALOGUES, 1)[:1]
    # The truth comes third of eleven, after the planted turn and after the last of the others.
    outputs = [np.array([0.8, 0.9, *np.linspace(0.1, 0.2, 8), 0.85])]
    plain, planted = (form_scores(outputs, examples, adversarial=form).scores for form in (False, True))
    assert (plain["r10_at_1"], plain["r10_at_2"], plain["mrr"]) == (0, 100, 50)
    assert (planted["r10_at_1"], planted["r10_at_2"], planted["mrr"]) == (0, 100, 50)
    assert planted["planted_first"] == 100
    assert "planted_first" not in plain
    outputs[0][1] = 0.0
    assert form_scores(outputs, examples, adversarial=True).scores["r10_at_1"] == 100


class CountingScorer(OracleScorer):
    """Counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        self.asked += 1
        return super().score(context, replies)


def test_both_forms_of_a_context_are_scored_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sets(tmp_path / "sets")
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path / "sets"))
    scorer = CountingScorer()
    encoder = CachedEncoder(scorer)
    plain = Reranking("sgd").evaluate(encoder, 1, 0)[0]
    asked = scorer.asked
    planted = Reranking("sgd", adversarial=True).evaluate(encoder, 1, 0)[0]
    assert scorer.asked == asked == len(plain.credits) == len(planted.credits) > 0


def test_a_scorer_is_measured_on_what_it_can_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sets(tmp_path / "sets")
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path / "sets"))
    result = run_tasks(CachedEncoder(OracleScorer()), [*suite_tasks("quick"), Reranking("sgd")], tmp_path / "out")
    assert list(result.tasks) == ["rerank-sgd"]
    assert result.tasks["rerank-sgd"].mean("map") == pytest.approx(100)
    assert lexical_tasks([Reranking("sgd")])[0].info.name == "rerank-sgd"
    words = Reranking("sgd", adversarial=True).evaluate(CachedEncoder(BM25Scorer()), 1, 0)[0]
    # Words alone prefer what was said before to what answers it.
    assert words.scores["planted_first"] == pytest.approx(100)
    assert words.scores["r10_at_1"] == pytest.approx(0)


def scores_of(model: Any, examples: Sequence[Candidates]) -> dict[str, float]:
    outputs = candidate_outputs(CachedEncoder(ObjectEncoder(model)), examples)
    return candidate_scores(outputs, examples).scores


def test_several_right_replies() -> None:
    example = Candidates(("key1",), ["x key1", "y key1", "z key2"], [True, True, False])
    scores = scores_of(Oracle(), [example])
    assert scores["top1"] == scores["map"] == pytest.approx(100)
    constant = scores_of(Constant(), [example])
    assert constant["top1"] == pytest.approx(50)
    assert constant["p_at_1"] == pytest.approx(200 / 3)
