"""Every metric against an independent implementation, on random inputs with ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity as sklearn_cosine

from turnloom.benchmarks import metrics
from turnloom.benchmarks.task import Draw, leave_out_credits

SCORES = st.lists(st.integers(0, 3), min_size=2, max_size=6)


def orders(scores: list[int]) -> list[list[int]]:
    """All rankings, best first, that agree with the scores: ties in every order."""
    return [
        list(order)
        for order in itertools.permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]


@given(SCORES, st.data())
def test_ranking_scores_are_means_over_all_orders_of_ties(scores: list[int], data: st.DataObject) -> None:
    truth = data.draw(st.integers(0, len(scores) - 1))
    values = np.array(scores, float)
    ranks = [order.index(truth) + 1 for order in orders(scores)]
    for k in (1, 2, 3):
        assert metrics.expected_top_k(values, truth, k) == pytest.approx(np.mean([rank <= k for rank in ranks]))
    assert metrics.expected_reciprocal_rank(values, truth) == pytest.approx(np.mean([1 / rank for rank in ranks]))


@given(SCORES, st.data())
def test_average_precision_and_first_hit_are_means_over_all_orders(scores: list[int], data: st.DataObject) -> None:
    relevant = np.array(data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)).filter(any)))
    precisions, firsts = [], []
    best: dict[int, list[float]] = {1: [], 2: [], 5: []}
    for order in orders(scores):
        hits = [place + 1 for place, item in enumerate(order) if relevant[item]]
        precisions.append(np.mean([(number + 1) / place for number, place in enumerate(hits)]))
        firsts.append(1 / hits[0])
        for k, shares in best.items():
            shares.append(float(np.mean(relevant[order[:k]])))
    values = np.array(scores, float)
    assert metrics.average_precision(values, relevant) == pytest.approx(np.mean(precisions))
    assert metrics.first_relevant_reciprocal_rank(values, relevant) == pytest.approx(np.mean(firsts))
    for k, shares in best.items():
        assert metrics.expected_precision(values, relevant, k) == pytest.approx(np.mean(shares))


def test_average_precision_without_ties_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        values, relevant = rng.permutation(30).astype(float), rng.random(30) < 0.3
        if relevant.any():
            assert metrics.average_precision(values, relevant) == pytest.approx(
                average_precision_score(relevant, values)
            )


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=6), st.data())
def test_accuracy_shares_ties_evenly(rows: list[list[int]], data: st.DataObject) -> None:
    truths = np.array([data.draw(st.integers(0, 2)) for _ in rows])
    expected = np.mean([(row[t] == max(row)) / row.count(max(row)) for row, t in zip(rows, truths, strict=True)])
    assert metrics.best_column_credit(np.array(rows, float), truths).mean() == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=3, max_size=7), st.integers(0, 2))
def test_one_nearest_neighbour_is_a_mean_over_the_tied(items: list[tuple[int, int]], truth: int) -> None:
    similarities, labels = np.array([item[0] for item in items], float), np.array([item[1] for item in items])
    best = [label for similarity, label in items if similarity == max(items)[0]]
    credit = metrics.nearest_label_credit(similarities, labels, truth, 1, 3)
    assert credit == pytest.approx(best.count(truth) / len(best))


def test_neighbours_vote() -> None:
    similarities, labels = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0, 1, 1, 2])
    assert metrics.nearest_label_credit(similarities, labels, 1, 3, 3) == 1
    assert metrics.nearest_label_credit(similarities, labels, 0, 2, 3) == 0.5  # One vote each.
    assert metrics.nearest_label_credit(np.ones(4), labels, 1, 2, 3) == 1  # Of equals, the larger label has most votes.


def test_detection_against_scikit_learn_with_ties() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        inside, outside = rng.integers(2, 9, 60).astype(float), rng.integers(0, 7, 40).astype(float)
        truth, scores = np.array([0] * 60 + [1] * 40), -np.concatenate([inside, outside])
        found = metrics.detection_scores(inside, outside)
        assert found["auroc"] == pytest.approx(roc_auc_score(truth, scores))
        assert found["aupr"] == pytest.approx(average_precision_score(truth, scores))
        rates = [(inside <= level).mean() for level in np.unique(scores * -1) if (outside <= level).mean() >= 0.95]
        assert found["fpr_at_95"] == pytest.approx(min(rates))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_spearman_is_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert metrics.spearman(first, second) == 0
    else:
        assert metrics.spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)


def test_geometry_against_loops() -> None:
    rng = np.random.default_rng(2)
    vectors, labels = rng.normal(size=(30, 5)), rng.integers(0, 4, 30)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = list(itertools.combinations(range(30), 2))
    distances = {pair: float(((unit[pair[0]] - unit[pair[1]]) ** 2).sum()) for pair in pairs}
    assert metrics.uniformity(vectors) == pytest.approx(np.log(np.mean([np.exp(-2 * d) for d in distances.values()])))
    same = [distance for (a, b), distance in distances.items() if labels[a] == labels[b]]
    assert metrics.alignment(vectors, labels) == pytest.approx(np.mean(same))
    assert metrics.cosine_similarity(vectors, vectors) == pytest.approx(sklearn_cosine(vectors), abs=1e-6)
    counts = np.zeros(30)
    for place in range(30):
        others = sorted((n for n in range(30) if n != place), key=lambda n: -float(unit[place] @ unit[n]))
        counts[others[:10]] += 1
    assert metrics.hubness(vectors) == pytest.approx(stats.skew(counts))
    axes = np.linalg.svd(unit, full_matrices=False)[2]
    sums = [[np.exp(sign * unit @ axis).sum() for axis in axes] for sign in (1, -1)]
    assert metrics.isotropy(vectors) <= 1
    assert metrics.isotropy(vectors) >= np.min(sums) / np.max(sums) - 1e-9


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_shares_below_average_to_the_auroc(low: list[int], high: list[int]) -> None:
    truth = [1] * len(high) + [0] * len(low)
    shares = metrics.shares_below(np.array(low, float), np.array(high, float))
    assert shares.mean() == pytest.approx(roc_auc_score(truth, high + low))


@given(st.lists(st.tuples(*[st.booleans()] * 6), min_size=1, max_size=20))
def test_f1_of_labels_that_occur_is_sklearns(rows: list[tuple[bool, ...]]) -> None:
    both = np.array(rows)
    truth, predicted = both[:, :3], both[:, 3:]
    found = metrics.f1_scores(truth, predicted)
    occurs = truth.any(axis=0)
    if not occurs.any():
        assert found == {"micro_f1": 0.0, "macro_f1": 0.0}
        return
    assert found["micro_f1"] == pytest.approx(f1_score(truth, predicted, average="micro"))
    each = [f1_score(truth[:, label], predicted[:, label], zero_division=0) for label in np.flatnonzero(occurs)]
    assert found["macro_f1"] == pytest.approx(np.mean(each))


def test_f1_by_hand() -> None:
    truth = np.array([[True, False, False], [True, True, False]])
    predicted = np.array([[True, False, True], [False, True, False]])
    # Two thirds for the first, one for the second; the third is said once and never true.
    assert metrics.f1_scores(truth, predicted) == {"micro_f1": pytest.approx(4 / 6), "macro_f1": pytest.approx(5 / 6)}


def test_groups_and_left_out_credits_average_to_the_score() -> None:
    values = np.random.default_rng(0).random(200)
    draw = Draw({"accuracy": float(values.mean())}, values)
    assert len(draw.groups()) == 50
    assert np.mean(draw.groups()) == pytest.approx(values.mean(), abs=1e-4)
    credits = leave_out_credits(lambda keep: float(values[keep].mean()), len(values))
    # For a mean, what leaving a group out says about it is the group's own mean.
    assert credits == pytest.approx([values[group::50].mean() for group in range(50)])
