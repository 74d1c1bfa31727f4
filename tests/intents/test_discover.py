from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.intents.toy import Topics, messages, names
from turnloom.intents import OUT_OF_SCOPE, IntentClassifier
from turnloom.intents.discover import NEAR_COPY, draft_intents, group_messages
from turnloom.runtime.protocols import unit_rows

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
        topic, count = topics.most_common(1)[0]
        assert count == 12
        assert cluster.size <= 16  # A stray message joins the group that it is closest to.
        assert cluster.name == topic
        assert cluster.typical[0] == given[cluster.places[0]]
        assert len(set(cluster.typical)) == 3
        assert all(each in given for each in cluster.typical)
    assert {given[cluster.places[0]].rpartition(" ")[0] for cluster in clusters} == set(truth)


def test_nothing_missing_is_no_group(classifier: IntentClassifier) -> None:
    assert classifier.discover([]) == []
    assert classifier.discover(["refund 1"]) == []
    assert classifier.discover([*messages(KNOWN, 3)[0]]) == []


def test_repeated_messages_count_and_are_all_members(classifier: IntentClassifier) -> None:
    planted = messages(["refund", "weather"], 8)[0]
    clusters = classifier.discover([*planted, *planted, planted[0]])
    assert sorted(cluster.size for cluster in clusters) == [16, 17]
    assert sorted(place for cluster in clusters for place in cluster.places) == list(range(33))
    assert all(len(set(cluster.typical)) == 3 for cluster in clusters)
    assert classifier.discover([planted[0]] * 20) == []  # One message, however often it is said, is no group.


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
    members = [sorted(place for place in group.places if place < len(truth)) for group in groups]
    assert sorted(members) == [list(range(12 * n, 12 * n + 12)) for n in range(4)]
    assert all(len(group.typical) == 2 for group in groups)
    assert {group.name for group in groups} == set(words)


def scattered(rng: np.random.Generator, topics: int = 6, members: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Messages of one domain as real ones are: alike in much, topics spread widely, and near copies among them."""
    shared, directions = 2 * np.eye(64)[0], np.eye(64)[1 : topics + 1]
    truth = np.repeat(np.arange(topics), members)
    vectors = shared + directions[truth] + 0.2 * rng.standard_normal((len(truth), 64))
    for topic in range(topics):  # Twice, eight members of a topic say the same but for a name.
        for copies in np.flatnonzero(truth == topic)[:16].reshape(2, 8):
            vectors[copies] = vectors[copies[0]] + 0.01 * rng.standard_normal((8, 64))
    return vectors.astype(np.float32), truth


def test_most_messages_find_a_group_and_not_only_near_copies() -> None:
    vectors, truth = scattered(np.random.default_rng(0))
    groups = group_messages([(f"message {place}",) for place in range(len(truth))], vectors)
    grouped = sum(group.size for group in groups)
    assert grouped >= 0.8 * len(truth)
    topics = [Counter(truth[list(group.places)]).most_common(1)[0] for group in groups]
    assert sum(count for _, count in topics) >= 0.95 * grouped
    assert {topic for topic, _ in topics} == set(range(6))


def test_drafted_intents_know_new_messages_of_their_groups() -> None:
    rejected = [rejected_by_draft(seed) for seed in (1, 11, 21)]
    assert np.mean([share["new"] for share in rejected]) <= 0.15  # About one in ten is meant to be.
    assert min(share["foreign"] for share in rejected) >= 0.9


def rejected_by_draft(seed: int) -> dict[str, float]:
    """Draft intents from scattered messages, and return which shares of new and of foreign ones they reject."""
    vectors, truth = scattered(np.random.default_rng(seed), members=120)
    texts = [f"message {place}" for place in range(len(truth))]
    draft = draft_intents(texts, vectors)
    known = dict(zip(texts, vectors, strict=True))
    new, _ = scattered(np.random.default_rng(seed + 1), members=120)
    known |= {f"new {place}": vector for place, vector in enumerate(new)}
    foreign = np.random.default_rng(seed + 2).standard_normal((100, 64))
    known |= {f"foreign {place}": vector for place, vector in enumerate(foreign)}
    examples, labels = [text for text, _ in draft.examples], [label for _, label in draft.examples]
    classifier = IntentClassifier(Table(known)).fit(examples, labels, names=False, held_out=draft.wordings)
    return {
        kind: float((classifier.predict([text for text in known if text.startswith(kind)]) == OUT_OF_SCOPE).mean())
        for kind in ("new", "foreign")
    }


def test_near_copies_make_no_threshold() -> None:
    """One wording with a hundred numbers must not turn another wording away."""
    rng = np.random.default_rng(0)
    topics = np.eye(32)[:6]
    wordings = np.repeat(topics, 3, axis=0) + 0.5 * np.eye(32)[6:24]
    vectors = np.repeat(wordings, 30, axis=0) + 0.01 * rng.standard_normal((540, 32))
    texts = [f"message {place}" for place in range(len(vectors))]
    draft = draft_intents(texts, vectors.astype(np.float32))
    assert len(draft.examples) <= 2 * len(wordings)
    known = dict(zip(texts, vectors, strict=True)) | {"new": topics[0] + 0.5 * np.eye(32)[25]}
    examples, labels = [text for text, _ in draft.examples], [label for _, label in draft.examples]
    classifier = IntentClassifier(Table(known)).fit(examples, labels, names=False, held_out=draft.wordings)
    assert classifier.predict(["new"])[0] != OUT_OF_SCOPE


class Table:
    """Vectors that are known already."""

    def __init__(self, vectors: dict[str, np.ndarray]) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.vectors[text] for text in texts])


def test_a_model_to_which_all_messages_look_alike_keeps_examples() -> None:
    draw = np.random.default_rng(0)
    centres = np.repeat(draw.normal(size=(2, 64)), 30, axis=0)
    vectors = unit_rows(centres + 0.8 * draw.normal(size=centres.shape))
    alike = unit_rows(np.concatenate([vectors, np.full((60, 1), 3.0)], axis=1))
    assert (alike @ alike.T).min() > NEAR_COPY
    texts = [f"{'return the' if place < 30 else 'track my'} parcel {place}" for place in range(60)]
    for given in (vectors, alike):
        groups = Counter(label for _, label in draft_intents(texts, given).examples)
        assert len(groups) == 2
        assert min(groups.values()) > 10
