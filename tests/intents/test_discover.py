from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.intents.toy import Topics, messages, names
from turnloom.intents import IntentClassifier
from turnloom.intents import discover as module
from turnloom.intents.discover import group_messages

KNOWN = names(8)


@pytest.fixture(scope="module")
def classifier() -> IntentClassifier:
    return IntentClassifier(Topics(spread=0.6)).fit(*messages(KNOWN, 6))


def test_planted_groups_are_found(classifier: IntentClassifier) -> None:
    planted, truth = messages(["refund", "weather", "music"], 12)
    known = messages(KNOWN, 5, start=30)[0]
    alone = [f"stray{number} 0" for number in range(10)]
    given = [*known, *planted, *alone]
    clusters = classifier.discover(given)
    assert len(clusters) == 3
    assert [cluster.size for cluster in clusters] == sorted((cluster.size for cluster in clusters), reverse=True)
    for cluster in clusters:
        topics = Counter(given[place].rpartition(" ")[0] for place in cluster.places)
        assert len(topics) == 1
        assert cluster.size >= 10
        (topic,) = topics
        assert cluster.name == topic
        assert cluster.typical[0] == given[cluster.places[0]]
        assert len(set(cluster.typical)) == 3
        assert all(each in given for each in cluster.typical)
    assert {given[cluster.places[0]].rpartition(" ")[0] for cluster in clusters} == set(truth)


def test_many_messages_are_grouped_by_a_part_of_them(
    classifier: IntentClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_TOGETHER", 20)
    clusters = classifier.discover(messages(["refund", "weather"], 40)[0])
    assert len(clusters) == 2
    assert all(cluster.size > 25 for cluster in clusters)


def test_nothing_missing_is_no_group(classifier: IntentClassifier) -> None:
    assert classifier.discover([]) == []
    assert classifier.discover(["refund 1"]) == []
    assert classifier.discover([*messages(KNOWN, 3)[0]]) == []


def test_groups_without_intents_to_learn_from_are_cut_by_the_scope() -> None:
    single = IntentClassifier(Topics(spread=0.3)).fit(*messages(KNOWN, 1), held_out=messages(KNOWN, 5, start=9)[0])
    assert module.known_cut(single.fitted.examples) is None
    clusters = single.discover(messages(["refund", "weather"], 8)[0])
    assert sorted(cluster.size for cluster in clusters) == [8, 8]


def test_suggestions_are_unclear_and_unlike(classifier: IntentClassifier) -> None:
    clear = messages(KNOWN, 6)[0]  # The examples themselves: nothing to learn.
    between = ["topic1 90\ntopic2 90", "topic1 90\ntopic2 91", "topic5 90\ntopic6 90"]
    found = classifier.suggest_labels([*clear, *between], 2)
    assert {each.place - len(clear) for each in found} in ({0, 2}, {1, 2})  # Not the two that are alike.
    for each in found:
        assert each.text == between[each.place - len(clear)]
        assert each.reason.startswith(("between topic", "at the border"))
    assert len(classifier.suggest_labels(clear[:3], 10)) == 3
    assert classifier.suggest_labels([], 10) == []


def test_groups_are_found_when_no_intent_is_known() -> None:
    rng = np.random.default_rng(0)
    centres = np.eye(16, dtype=np.float32)[:4]
    truth = np.repeat(np.arange(4), 12)
    vectors = centres[truth] + 0.05 * rng.standard_normal((48, 16)).astype(np.float32)
    alone = np.eye(16, dtype=np.float32)[10:12]
    words = ["refund", "parcel", "address", "cancel"]
    messages = [(f"{words[group]} {place}",) for place, group in enumerate(truth)] + [("lonely",), ("alone",)]
    groups = group_messages(messages, np.concatenate([vectors, alone]), min_size=3, typical=2)
    assert sorted(sorted(group.places) for group in groups) == [list(range(12 * n, 12 * n + 12)) for n in range(4)]
    assert all(len(group.typical) == 2 for group in groups)
    assert {group.name for group in groups} == set(words)
