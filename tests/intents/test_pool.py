"""What a pool of unlabelled messages adds, on vectors whose meaning is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.intents.test_names import DESCRIBED, TOPICS, accuracy, unit
from tests.intents.toy import Topics, messages, names
from turnloom.errors import TurnloomError
from turnloom.intents import IntentClassifier
from turnloom.intents.examples import Examples
from turnloom.intents.neighbours import VOTES_WEIGHT, Neighbours
from turnloom.intents.pool import MOST_EVIDENCE, Pool, pool_beliefs, pool_evidence
from turnloom.intents.scores import intent_scores

POOL = messages(TOPICS, 40, start=1000)[0]
FOREIGN = messages(names(12, "foreign"), 40, start=1000)[0]


def fitted(
    pool: list[str], shots: int = 1, described: bool = True, topics: list[str] = TOPICS, **options: float
) -> IntentClassifier:
    texts, labels = messages(topics, shots)
    called = DESCRIBED if described else False
    return IntentClassifier(Topics(spread=1.2), method="prototypes", **options).fit(  # type: ignore[arg-type]
        texts, labels, names=called, pool=pool
    )


def test_messages_take_the_intent_of_the_group_they_are_in() -> None:
    """Two groups on a circle: messages that are nearer to the other example are reached through their neighbours."""
    angles = np.radians(np.concatenate([np.linspace(0, 40, 30), np.linspace(100, 140, 30)]))
    vectors = unit(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    ends = np.radians([-20, 95])
    examples = Examples.of([("a",), ("b",)], unit(np.stack([np.cos(ends), np.sin(ends)], axis=1)), [("a",), ("b",)])
    assert (vectors @ examples.vectors.T).argmax(axis=1)[:30].any()  # Prototypes alone take some of a's for b's.
    pool = Pool.of(vectors)
    beliefs = pool_beliefs(pool, examples)
    assert (beliefs.intents.argmax(axis=1) == np.repeat([0, 1], 30)).all()
    evidence = pool_evidence(pool, beliefs)
    assert np.linalg.norm(evidence, axis=1).max() <= MOST_EVIDENCE
    assert np.degrees(np.arctan2(evidence[:, 1], evidence[:, 0])) == pytest.approx([20, 120], abs=8)


def test_neighbours_are_mutual_and_foreign_groups_stay_apart() -> None:
    rng = np.random.default_rng(0)
    groups = np.eye(8)[np.repeat([0, 1], 40)] + 0.1 * rng.standard_normal((80, 8))
    graph = Pool.of(unit(groups)).graph.toarray()
    assert graph == pytest.approx(graph.T)
    assert not graph[:40, 40:].any()
    assert not graph.diagonal().any()


def test_a_pool_helps_and_says_what_it_did() -> None:
    with_pool, without = fitted(POOL, described=False), fitted([], described=False)
    assert accuracy(with_pool) > accuracy(without) + 0.02
    with_pool = fitted(POOL)
    report = with_pool.pool_report
    assert report is not None
    assert report.trusted
    assert without.pool_report is None
    assert report.messages == report.used == len(POOL)
    assert 0.5 * len(POOL) < report.believed <= len(POOL)
    assert report.believed == sum(report.strengthened.values())
    assert not report.scarce
    assert report.right_with is not None
    assert report.right_without is not None
    assert report.right_with >= report.right_without


def test_intents_with_almost_no_message_are_named() -> None:
    report = fitted(messages(TOPICS[:9], 40, start=1000)[0]).pool_report
    assert report is not None
    assert set(report.scarce) <= set(TOPICS[9:])
    assert report.scarce


@pytest.mark.parametrize("shots", [0, 1, 5])
@pytest.mark.parametrize("described", [True, False])
def test_a_foreign_pool_does_not_hurt(shots: int, described: bool) -> None:
    if not shots and not described:
        return
    without = accuracy(fitted([], shots, described))
    assert accuracy(fitted([*POOL, *FOREIGN], shots, described)) > without - 0.005
    if shots:  # With names alone, nothing tells where messages lie.
        assert accuracy(fitted(FOREIGN, shots, described)) > without - 0.02


def test_a_pool_that_misleads_is_not_used() -> None:
    """Groups lie between intents, so that believing them moves prototypes together."""
    topics = names(6)
    texts, labels = messages(topics, 6)
    between = [
        f"{one} {n}\n{other} {n}" for one, other in zip(topics, topics[1:] + topics[:1], strict=True) for n in range(60)
    ]
    classifier = IntentClassifier(Topics(spread=1.6), method="prototypes").fit(texts, labels, names=False, pool=between)
    plain = IntentClassifier(Topics(spread=1.6), method="prototypes").fit(texts, labels, names=False)
    assert accuracy(classifier, topics) >= accuracy(plain, topics) - 0.02


def test_copies_in_the_pool_count_once() -> None:
    report = fitted([*POOL, *POOL[:100], POOL[0].upper().lower()]).pool_report
    assert report is not None
    assert report.messages == len(POOL)


@pytest.mark.parametrize("shots", [0, 1])
def test_what_the_pool_taught_is_saved_and_kept(shots: int, tmp_path: Path) -> None:
    classifier = fitted(POOL, shots)
    texts = messages(TOPICS, 3, start=90)[0]
    classifier.save(tmp_path / "saved")
    again = IntentClassifier.load(tmp_path / "saved", Topics(spread=1.2))
    assert again.predict_proba(texts) == pytest.approx(classifier.predict_proba(texts), abs=1e-6)
    assert again.pool_report == classifier.pool_report
    assert again.scope == classifier.scope
    assert classifier.scope.source == "pool"  # So few left-out examples would make no threshold.
    before, threshold = classifier.fitted.evidence.taught, classifier.scope.threshold
    classifier.partial_fit(["topic0 77", "brand new 1"], ["topic0", "brand new"])
    assert classifier.fitted.evidence.taught == before
    assert "brand new" not in before
    assert classifier.scope.threshold == threshold
    classifier.refit()
    assert classifier.fitted.evidence.taught == before
    assert classifier.scope.threshold == threshold


def test_neighbours_recognise_a_second_way_to_say_it() -> None:
    """Intent a is said in two ways that lie apart; b's prototype is nearer to the second than the mean of a is."""
    neighbours = Neighbours(unit([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.eye(2, dtype=np.float32)[[0, 0, 1]], ("a", "b"))
    examples = Examples.of([("a",), ("b",)], unit([[1, 0, 0], [0, 0.03, 1]]), [("a",), ("b",)])
    second = unit([[0, 1, 0]])
    assert intent_scores(second, examples).argmax() == 1
    assert intent_scores(second, replace(examples, near=neighbours)).argmax() == 0


def test_beliefs_follow_the_intents_when_they_change() -> None:
    known = Neighbours(unit(np.eye(2)), np.array([[1, 0], [0.2, 0.8]], np.float32), ("a", "b"))
    assert known.for_intents(("a", "b")) is known
    changed = known.for_intents(("b", "new"))
    assert changed.beliefs == pytest.approx(np.array([[0, 0], [0.8, 0]]))
    assert changed.votes(unit([[0, 1]])) == pytest.approx(np.array([[0.8 * VOTES_WEIGHT, 0]]))


def test_examples_in_the_pool_do_not_vouch_for_themselves() -> None:
    texts, _ = messages(TOPICS, 5)
    with_examples, without = (fitted(pool, 5).pool_report for pool in ([*POOL, *texts], POOL))
    assert with_examples is not None
    assert without is not None
    assert (with_examples.used, with_examples.messages) == (len(POOL), len(POOL) + len(texts))
    assert with_examples.right_with == pytest.approx(without.right_with, abs=0.05)


def test_too_small_a_pool_is_rejected() -> None:
    with pytest.raises(TurnloomError, match="the pool has 2 different messages"):
        fitted(["one message", "another message", "One  message"])


@pytest.mark.parametrize("shots", [1, 5])
def test_the_threshold_keeps_its_promise_with_a_pool(shots: int) -> None:
    topics = names(12)
    classifier = fitted(POOL, shots, false_reject_rate=0.2)
    texts, _ = messages(topics, 40, start=300)
    rejected = np.mean([answer.decision == "out_of_scope" for answer in classifier.answer(texts, examples=0)])
    assert rejected == pytest.approx(0.2, abs=0.15)


def test_several_labels_learn_from_a_pool_too() -> None:
    texts, labels = messages(TOPICS, 3)
    both = [(label,) for label in labels]
    classifier = IntentClassifier(Topics(spread=0.7), multi_label=True).fit(texts, both, names=DESCRIBED, pool=POOL)
    found, truth = messages(TOPICS, 5, start=50)
    assert np.mean([label in said for said, label in zip(classifier.predict(found), truth, strict=True)]) > 0.6


def test_a_small_pool_does_not_take_its_own_messages_for_new_ones() -> None:
    """What was learned from a message knows it better than the next one: the threshold must be that of new ones."""
    classifier = IntentClassifier(Topics(spread=1.2)).fit(names=DESCRIBED, pool=messages(TOPICS, 5, start=1000)[0])
    new = messages(TOPICS, 60, start=3000)[0]
    rejected = np.mean([answer.decision == "out_of_scope" for answer in classifier.answer(new)])
    assert rejected < classifier.false_reject_rate + 0.05
