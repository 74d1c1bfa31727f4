"""What names of intents add, on vectors whose meaning is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.intents.toy import Topics, messages, names
from turnloom.errors import TurnloomError
from turnloom.intents import IntentClassifier
from turnloom.intents.examples import Examples
from turnloom.intents.inputs import encode_names
from turnloom.intents.names import NAME_WEIGHT, USUAL_SHARE, label_words, name_evidence, name_phrases

TOPICS = names(12)
DESCRIBED = {topic: f"{topic} 999" for topic in TOPICS}
"""The encoder places `topic0 999` near the messages of topic0, as a good description would be."""


def accuracy(classifier: IntentClassifier, topics: list[str] = TOPICS) -> float:
    texts, labels = messages(topics, 20, start=50)
    likeliest = classifier.classes_[classifier.predict_proba(texts).argmax(axis=1)]
    return float((likeliest == np.array(labels)).mean())


def unit(rows: Any) -> npt.NDArray[np.float32]:
    found = np.asarray(rows, np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("track_order", "track order"),
        ("AddToPlaylist", "add to playlist"),
        ("HTTPError", "http error"),
        ("card-arrival/late", "card arrival late"),
        ("INT_042", "int 042"),
        ("___", "___"),
        ("größe ändern", "größe ändern"),
    ],
)
def test_labels_become_words(label: str, words: str) -> None:
    assert label_words(label) == words


def test_a_name_is_encoded_in_phrases_and_a_long_description_as_it_is() -> None:
    long = "everything about parcels that have not arrived yet"
    assert set(name_phrases(long)) == {long}
    seen: list[tuple[str, ...]] = []

    def embed(turns: Sequence[tuple[str, ...]]) -> npt.NDArray[np.float32]:
        seen.extend(turns)
        return unit(np.eye(3))

    found = encode_names(embed, {"track": "track order"})
    assert seen == [(phrase,) for phrase in name_phrases("track order")]
    assert np.linalg.norm(found.name_vectors["track"]) == pytest.approx(1)
    assert found.name_vectors["track"] == pytest.approx(np.full(3, 3**-0.5))


def test_a_name_moves_its_prototype_by_its_difference_from_other_names() -> None:
    examples = Examples.of([], np.zeros((0, 3), np.float32), [], ["a", "b"])
    given = unit([[1, 1, 0], [1, -1, 0]])
    middle = np.array([0, 0, 1], np.float32)
    found = name_evidence(given, examples, middle)
    weight = NAME_WEIGHT * USUAL_SHARE
    assert found == pytest.approx(weight * np.array([[0, 0.5**0.5, 1], [0, -(0.5**0.5), 1]]), abs=1e-6)


def test_without_any_message_names_stay_where_they_are() -> None:
    examples = Examples.of([], np.zeros((0, 2), np.float32), [], ["a", "b"])
    given = unit([[1, 1], [1, -1]])
    assert name_evidence(given, examples, None) == pytest.approx(NAME_WEIGHT * USUAL_SHARE * given)


def test_the_weight_of_names_is_learned_from_examples() -> None:
    rng = np.random.default_rng(0)
    centres = unit(rng.standard_normal((60, 64)))
    vectors = unit(centres + 0.05 * rng.standard_normal(centres.shape))
    intents = [f"{number:02}" for number in range(60)]
    examples = Examples.of([(name,) for name in intents], vectors, [(name,) for name in intents])
    good = name_evidence(centres, examples, None)
    assert np.linalg.norm(good, axis=1).mean() == pytest.approx(NAME_WEIGHT * (1 - 1 / 60) ** 0.5, rel=0.15)
    assert not name_evidence(rng.permutation(centres), examples, None).any()


def test_names_help_with_one_example_and_hardly_with_many() -> None:
    gains = []
    for shots in (1, 10):
        texts, labels = messages(TOPICS, shots)
        with_names = IntentClassifier(Topics(spread=1.5), method="prototypes").fit(texts, labels, names=DESCRIBED)
        without = IntentClassifier(Topics(spread=1.5), method="prototypes").fit(texts, labels, names=False)
        gains.append(accuracy(with_names) - accuracy(without))
    assert gains[0] > 0.1
    assert abs(gains[1]) < 0.05


def test_codes_do_not_hurt() -> None:
    topics = names(40)
    texts, labels = messages(topics, 1)
    codes = {topic: f"INT_{number:03}" for number, topic in enumerate(topics)}
    losses = []
    for width in (48, 64):
        encoder = Topics(width=width)
        coded = IntentClassifier(encoder).fit(texts, labels, names=codes)
        plain = IntentClassifier(encoder).fit(texts, labels, names=False)
        losses.append(accuracy(plain, topics) - accuracy(coded, topics))
    assert max(losses) < 0.02


def test_no_examples_are_needed(tmp_path: Path) -> None:
    classifier = IntentClassifier(Topics(spread=0.7)).fit(names=DESCRIBED)
    assert accuracy(classifier) > 0.8
    assert classifier.scope.source == "names"
    assert classifier.fitted.examples.counts.tolist() == [0] * 12
    answer = classifier.answer(["topic3 50"])[0]
    assert (answer.candidates[0].intent, answer.nearest) == ("topic3", ())
    assert classifier.suggest_labels(["topic3 50", "elsewhere 1"], 1)
    assert classifier.discover(["elsewhere 1", "elsewhere 2", "elsewhere 3"], min_size=2) is not None
    classifier.save(tmp_path / "saved")
    again = IntentClassifier.load(tmp_path / "saved", Topics(spread=0.7))
    texts = messages(TOPICS, 3, start=90)[0]
    assert again.predict_proba(texts) == pytest.approx(classifier.predict_proba(texts))


def test_an_intent_is_added_and_removed_by_its_name_alone() -> None:
    classifier = IntentClassifier(Topics(spread=0.7)).fit(*messages(TOPICS[:6], 4), names=DESCRIBED)
    assert classifier.classes_.tolist() == sorted(TOPICS)
    classifier.remove(intents=TOPICS[6:])
    assert classifier.classes_.tolist() == TOPICS[:6]
    classifier.partial_fit(names={"new": "topic9 999"})
    assert "new" in classifier.classes_.tolist()
    likeliest = classifier.classes_[classifier.predict_proba([f"topic9 {n}" for n in range(20)]).argmax(axis=1)]
    assert (likeliest == "new").mean() > 0.8
    assert classifier.remove(intents=["new"]) == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "are no names"),
        ("lost", "are no names"),
        ([3], "are no names"),
        ({"lost": 3}, "are no names"),
        ([" "], "is no name of an intent"),
        (["none"], "is no name of an intent"),
    ],
)
def test_wrong_names_are_rejected(given: Any, message: str) -> None:
    with pytest.raises(TurnloomError, match=message):
        IntentClassifier(Topics()).fit(names=given)


def test_neither_examples_nor_names() -> None:
    with pytest.raises(TurnloomError, match="give at least one example or a name of each intent"):
        IntentClassifier(Topics()).fit([], [])


def test_names_of_added_intents_can_be_ignored() -> None:
    classifier = IntentClassifier(Topics(spread=0.7)).fit(*messages(TOPICS[:3], 3))
    classifier.partial_fit(*messages(TOPICS[3:5], 3), names=False)
    assert set(classifier.fitted.evidence.names) == set(TOPICS[:3])
