"""Probes say nothing when the vectors say nothing, and read the sets in their public formats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from turnloom.benchmarks.metrics import f1_scores
from turnloom.benchmarks.probe import GRID, ProbeData, choose_setting, fit_probe
from turnloom.benchmarks.tasks.action_prediction import ActionExamples, ActionTurn, action_examples


def micro(outputs: np.ndarray, targets: np.ndarray) -> float:
    return f1_scores(targets, outputs > 0)["micro_f1"]


def accuracy(outputs: np.ndarray, targets: np.ndarray) -> float:
    return float(targets[np.arange(len(targets)), outputs.argmax(axis=1)].mean())


def test_random_vectors_score_the_majority_level() -> None:
    rng = np.random.default_rng(0)

    def data(count: int) -> tuple[ProbeData, ProbeData]:
        vectors = rng.normal(size=(count, 64))
        labels = rng.random((count, 4)) < np.array([0.8, 0.3, 0.2, 0.1])
        classes = np.eye(3, dtype=bool)[rng.choice(3, count, p=[0.6, 0.3, 0.1])]
        return ProbeData(vectors, labels), ProbeData(vectors, classes)

    train, validation, test = data(2_000), data(500), data(2_000)
    for kind, score in ((0, micro), (1, accuracy)):
        fitting = (train[kind], validation[kind], score)
        setting = choose_setting(*fitting, exclusive=bool(kind), seed=0)
        predict, _ = fit_probe(*fitting, setting, exclusive=bool(kind), seed=1)
        truth = test[kind].targets
        majority = np.zeros(truth.shape)
        majority[:, 0] = 1
        assert score(predict(test[kind].vectors), truth) == pytest.approx(score(majority, truth), abs=0.02)


def test_a_probe_learns_what_no_line_separates_and_repeats_itself() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(3_000, 2))
    either = (vectors[:, 0] > 0) ^ (vectors[:, 1] > 0)
    parts = [ProbeData(vectors[at], np.stack([either[at], ~either[at]], 1)) for at in np.split(np.arange(3_000), 3)]
    setting = choose_setting(parts[0], parts[1], accuracy, exclusive=True, seed=0)
    assert setting.hidden
    runs = [fit_probe(parts[0], parts[1], accuracy, setting, exclusive=True, seed=0) for _ in range(2)]
    outputs = [predict(parts[2].vectors) for predict, _ in runs]
    assert accuracy(outputs[0], parts[2].targets) > 0.9
    assert np.array_equal(outputs[0], outputs[1])
    linear = fit_probe(parts[0], parts[1], accuracy, GRID[0], exclusive=True, seed=0)[0]
    assert accuracy(linear(parts[2].vectors), parts[2].targets) < 0.6


@given(st.integers(1, 12).flatmap(lambda n: st.lists(st.tuples(*[st.booleans()] * 6), min_size=n, max_size=n)))
def test_f1_is_sklearns(rows: list[tuple[bool, ...]]) -> None:
    table = np.array(rows)
    truth, predicted = table[:, :3], table[:, 3:]
    occurring = [column for column in range(3) if truth[:, column].any()]
    found = f1_scores(truth, predicted)
    if not occurring:
        assert found == {"micro_f1": 0, "macro_f1": 0}
        return
    assert found["micro_f1"] == pytest.approx(f1_score(truth, predicted, average="micro", zero_division=0))
    macro = f1_score(truth, predicted, average="macro", labels=occurring, zero_division=0)
    assert found["macro_f1"] == pytest.approx(macro)


def test_f1_by_hand() -> None:
    truth = np.array([[1, 0, 1, 0], [0, 1, 0, 0]], bool)
    predicted = np.array([[1, 1, 0, 0], [0, 1, 0, 0]], bool)
    assert f1_scores(truth, predicted) == pytest.approx({"micro_f1": 4 / 6, "macro_f1": (1 + 2 / 3 + 0) / 3})


def test_contexts_are_the_last_three_turns_and_the_first_turn_has_none() -> None:
    turns = [ActionTurn(True, "welcome", ["WELCOME"]), *[ActionTurn(False, text) for text in "abcd"]]
    found = action_examples([[*turns, ActionTurn(True, "so?", ["ASK:x", "ASK:y", "SAY"]), ActionTurn(True, "hm")]])
    assert found == ActionExamples([("b", "c", "d")], [frozenset({"ASK", "SAY"})])
