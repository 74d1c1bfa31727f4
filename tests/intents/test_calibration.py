from __future__ import annotations

import numpy as np
import pytest

from tests.intents.toy import examples_of, names
from turnloom.intents.calibration import (
    best_threshold,
    expected_calibration_error,
    fit_calibration,
    micro_f1,
    probabilities,
    weighted_quantile,
)
from turnloom.intents.methods import fit_head
from turnloom.intents.scores import prototype_scores


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_slope_of_what_was_drawn_is_found(rng: np.random.Generator) -> None:
    scores = rng.normal(size=(4000, 5)) * 0.2
    chance = probabilities(12 * scores, False)
    truth = np.array([rng.choice(5, p=row) for row in chance])
    member = np.eye(5, dtype=bool)[truth]
    assert fit_calibration(scores, member, False, usual=3.0).slope == pytest.approx(12, rel=0.1)


def test_some_wrong_labels_do_not_make_it_unsure_of_the_rest(rng: np.random.Generator) -> None:
    scores = rng.normal(size=(4000, 5)) * 0.2
    truth = np.array([rng.choice(5, p=row) for row in probabilities(40 * scores, False)])
    wrong = rng.random(4000) < 0.15
    member = np.eye(5, dtype=bool)[np.where(wrong, rng.integers(5, size=4000), truth)]
    slope = fit_calibration(scores, member, False, usual=3.0).slope
    sure = probabilities(slope * scores, False).max(axis=1).mean()
    right = member[np.arange(4000), scores.argmax(axis=1)].mean()
    assert sure == pytest.approx(right, abs=0.01)  # The likeliest slope is 13 points less sure.


def test_slope_and_intercept_for_each_label_alone(rng: np.random.Generator) -> None:
    scores = rng.normal(size=(3000, 4))
    member = rng.random((3000, 4)) < probabilities(2 * scores - 1, True)
    found = fit_calibration(scores, member, True, usual=1.0)
    assert found.slope == pytest.approx(2, rel=0.1)
    assert found.intercept == pytest.approx(-1, rel=0.15)


def test_rows_whose_intent_has_no_other_example_do_not_count(rng: np.random.Generator) -> None:
    scores = rng.normal(size=(200, 3))
    member = np.eye(3, dtype=bool)[scores.argmax(axis=1)]
    broken = scores.copy()
    broken[:50][member[:50]] = np.nan
    expected = fit_calibration(scores[50:], member[50:], False, usual=2.0)
    assert fit_calibration(broken, member, False, usual=2.0).slope == pytest.approx(expected.slope, rel=1e-3)


def test_few_examples_that_are_all_right_do_not_make_it_certain() -> None:
    scores, member = np.eye(3), np.eye(3, dtype=bool)
    assert 5.0 < fit_calibration(scores, member, False, usual=5.0).slope < 50


def test_probabilities_do_not_overflow() -> None:
    assert probabilities(np.array([[1000.0, -1000.0]]), False).tolist() == [[1.0, 0.0]]
    assert probabilities(np.array([[1000.0, -1000.0]]), True).tolist() == [[1.0, 0.0]]


def test_best_threshold_is_the_best_of_all(rng: np.random.Generator) -> None:
    chance, member = rng.random((40, 3)).round(1), rng.random((40, 3)) < 0.4
    threshold, score = best_threshold(chance, member)

    def f1(at: float) -> float:
        said = chance >= at
        return float(2 * (said & member).sum() / (said.sum() + member.sum()))

    assert f1(threshold) == pytest.approx(score)
    assert score == pytest.approx(max(f1(at) for at in np.unique(chance)))


def test_weights_are_like_copies(rng: np.random.Generator) -> None:
    values, weights = rng.random(30), rng.integers(1, 4, 30)
    copies = np.repeat(values, weights)
    for share in (0.1, 0.5, 0.9):
        assert weighted_quantile(values, weights.astype(float), share) == pytest.approx(
            weighted_quantile(copies, np.ones(len(copies)), share), abs=0.02
        )


def test_calibration_error_of_known_answers() -> None:
    assert expected_calibration_error(np.array([1.0, 1.0]), np.array([True, True])) == 0
    sure = np.array([0.55] * 10 + [0.95] * 10)
    right = np.array([True] * 5 + [False] * 5 + [True] * 9 + [False])
    assert expected_calibration_error(sure, right) == pytest.approx(0.05)


def test_micro_f1_of_nothing_said_is_nothing() -> None:
    assert micro_f1([("a",)], [()]) == 0
    assert micro_f1([()], [()]) == 1


def test_a_head_learns_what_prototypes_cannot_see() -> None:
    """Two intents differ in one small direction, and vary in a large one that means nothing."""
    rng = np.random.default_rng(0)
    from turnloom.intents.examples import Examples
    from turnloom.runtime.protocols import unit_rows

    def drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.integers(2, size=count)
        noise = rng.normal(size=(count, 6)) * np.array([3, 3, 0.05, 0.3, 0.3, 0.3])
        noise[:, 2] += np.where(truth == 1, 0.5, -0.5)
        return unit_rows(noise), truth

    vectors, truth = drawn(200)
    examples = Examples(tuple((str(n),) for n in range(200)), vectors, ("a", "b"), np.eye(2, dtype=bool)[truth])
    new, is_ = drawn(400)
    plain = (prototype_scores(new, examples).argmax(axis=1) == is_).mean()
    learned = (fit_head(examples, False).logits(new, examples).argmax(axis=1) == is_).mean()
    assert learned > plain + 0.05


def test_a_new_intent_is_judged_by_its_prototype() -> None:
    old, whole = examples_of(names(5), 6), examples_of(names(6), 6)
    head = fit_head(old, False).for_intents(old.intents, whole.intents)
    logits = head.logits(whole.vectors, whole)
    assert logits[:, 5] == pytest.approx(head.base.apply(prototype_scores(whole.vectors, whole))[:, 5], abs=1e-4)
    assert logits[:, :5] == pytest.approx(fit_head(old, False).logits(whole.vectors, old), abs=1e-4)


@pytest.mark.parametrize("multi_label", [False, True])
def test_the_heads_gradient_is_that_of_its_loss(rng: np.random.Generator, multi_label: bool) -> None:
    from turnloom.intents.methods import _fit_of

    logits = rng.normal(size=(3, 4)).astype(np.float32)
    truth = np.eye(4, dtype=np.float32)[:3]
    value, chance = _fit_of(logits, truth, multi_label)
    for row, column in ((0, 0), (1, 3), (2, 1)):
        moved = logits.astype(np.float64)
        moved[row, column] += 1e-3
        slope = (_fit_of(moved, truth, multi_label)[0] - value) / 1e-3  # type: ignore[arg-type]
        assert slope == pytest.approx(float((chance - truth)[row, column]), abs=2e-3)
