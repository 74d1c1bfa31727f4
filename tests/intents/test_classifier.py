"""The classifier as a user meets it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from tests.intents.toy import Topics, messages, names
from turnloom.errors import TurnloomError
from turnloom.files import list_again
from turnloom.intents import OUT_OF_SCOPE, IntentClassifier, evaluate
from turnloom.intents.examples import UnknownIntentError

TOPICS = names(8)
AWAY = [f"elsewhere{number} 0" for number in range(30)]


@pytest.fixture(scope="module")
def classifier() -> IntentClassifier:
    return IntentClassifier(Topics(spread=0.7)).fit(*messages(TOPICS, 6))


def test_it_knows_its_intents_and_what_it_does_not_know(classifier: IntentClassifier) -> None:
    texts, labels = messages(TOPICS, 20, start=50)
    said = classifier.predict(texts)
    accepted = said != OUT_OF_SCOPE
    assert (said[accepted] == np.array(labels)[accepted]).mean() > 0.95
    assert accepted.mean() > 0.75
    assert (classifier.predict(AWAY) == OUT_OF_SCOPE).mean() > 0.9
    assert classifier.score([*texts, *AWAY], [*labels, *["oos"] * 30]) > 0.75
    assert classifier.classes_.tolist() == TOPICS


def test_probabilities_add_up_and_lead_to_the_prediction(classifier: IntentClassifier) -> None:
    texts = messages(TOPICS, 5, start=50)[0]
    chance = classifier.predict_proba(texts)
    assert chance.sum(axis=1) == pytest.approx(1)
    for row, answer in zip(chance, classifier.answer(texts), strict=True):
        assert answer.candidates[0].intent == classifier.classes_[row.argmax()]
        assert answer.candidates[0].probability == pytest.approx(row.max())


def test_three_answers_by_familiarity_and_probability() -> None:
    texts, labels = messages(TOPICS, 6)
    classifier = IntentClassifier(Topics(spread=0.7), accept_at=0.9).fit(texts, labels)
    for answer in classifier.answer([*messages(TOPICS, 9, start=70)[0], *AWAY]):
        outside = answer.familiarity < classifier.scope.threshold
        sure = answer.candidates[0].probability >= 0.9
        assert answer.decision == ("out_of_scope" if outside else "accept" if sure else "ask")
        assert answer.intents == ((answer.candidates[0].intent,) if answer.decision == "accept" else ())
        assert len(answer.candidates) == 2


def test_nearest_examples_are_the_nearest(classifier: IntentClassifier) -> None:
    known = classifier.fitted.examples
    vectors = Topics(spread=0.7).encode(["topic3 99"])
    similarities = known.vectors @ (vectors[0] / np.linalg.norm(vectors[0]))
    answer = classifier.answer(["topic3 99"], examples=4)[0]
    best = np.argsort(-similarities)[:4]
    assert [each.text for each in answer.nearest] == [known.messages[place][0] for place in best]
    assert [each.similarity for each in answer.nearest] == pytest.approx(similarities[best].tolist(), abs=1e-5)
    assert answer.nearest[0].intents == ("topic3",)
    assert len(classifier.answer(["topic3 99"], examples=10_000)[0].nearest) == len(known)


@pytest.mark.parametrize("method", ["prototypes", "knn", "logistic"])
def test_a_saved_classifier_answers_alike(method: Any, tmp_path: Path) -> None:
    classifier = IntentClassifier(
        Topics(), method=method, false_reject_rate=0.2, frequencies={"topic1": 3.0, "topic2": 1}
    )
    classifier.fit(*messages(TOPICS, 6), out_of_scope=AWAY[:9], held_out=messages(TOPICS, 2, start=20)[0])
    classifier.save(tmp_path / "saved")
    again = IntentClassifier.load(tmp_path / "saved", Topics())
    texts = [*messages(TOPICS, 3, start=50)[0], *AWAY]
    assert again.answer(texts) == classifier.answer(texts)
    assert again.scope == classifier.scope
    assert again.get_params(deep=False) | {"encoder": None} == classifier.get_params(deep=False) | {"encoder": None}
    for each in (classifier, again):
        each.partial_fit(*messages(["new"], 4))
    assert again.answer(texts) == classifier.answer(texts)
    held = sorted(path.name for path in (tmp_path / "saved").iterdir())
    assert held == [".files.json", "intents.json", "intents.safetensors"]


def test_another_models_vectors_are_refused(classifier: IntentClassifier, tmp_path: Path) -> None:
    classifier.save(tmp_path / "saved")
    with pytest.raises(TurnloomError, match=r"was made with the model 'topics'.*not with 'other'"):
        IntentClassifier.load(tmp_path / "saved", Topics(name="other"))
    with pytest.raises(TurnloomError, match="does not say where its model is"):
        IntentClassifier.load(tmp_path / "saved")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "intents.json").unlink(), "holds no intents"),
        (lambda folder: (folder / "intents.json").write_text("{"), "is damaged"),
        (
            lambda folder: (folder / "intents.json").write_text('{"format": 7}') and list_again(folder),
            "has the format 7, this version reads 2",
        ),
        (lambda folder: (folder / "intents.safetensors").write_bytes(b"\0" * 40), "is damaged"),
        (lambda folder: (folder / "intents.safetensors").unlink(), "is damaged"),
    ],
)
def test_damaged_folders_say_so(classifier: IntentClassifier, tmp_path: Path, damage: Any, message: str) -> None:
    classifier.save(tmp_path / "saved")
    damage(tmp_path / "saved")
    with pytest.raises(TurnloomError, match=message):
        IntentClassifier.load(tmp_path / "saved", Topics())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["scope", "threshold"], None),
        (["scope", "false_reject"], {"rate": 0.1}),
        (["scope", "quantiles"], []),
        (["options", "accept_at"], "often"),
        (["options", "unknown"], 1),
        (["calibration", "slope"], None),
        (["intents"], []),
        (["base"], {"slope": 1.0, "intercept": 0.0}),
        (["held_out"], [["a message without a vector"]]),
    ],
)
def test_a_saved_classifier_with_a_wrong_value_is_damaged(
    classifier: IntentClassifier, tmp_path: Path, path: list[str], value: Any
) -> None:
    classifier.save(tmp_path / "saved")
    file = tmp_path / "saved" / "intents.json"
    saved = json.loads(file.read_text())
    inner = saved
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    file.write_text(json.dumps(saved))
    list_again(tmp_path / "saved")  # Whoever changed it on purpose; what was changed by accident is named before.
    with pytest.raises(TurnloomError, match=r"saved is damaged \(.+\): fit again") as raised:
        IntentClassifier.load(tmp_path / "saved", Topics())
    assert "\n" not in str(raised.value)


def test_an_unknown_intent_has_an_error_of_its_own(classifier: IntentClassifier) -> None:
    with pytest.raises(UnknownIntentError, match="there is no intent 'nothing'"):
        classifier.remove(intents=["nothing"])


def test_a_folder_with_something_else_is_not_overwritten(classifier: IntentClassifier, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(TurnloomError, match="holds files that are not a classifier's"):
        classifier.save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    classifier.save(tmp_path / "saved")
    classifier.save(tmp_path / "saved")  # Its own folder is replaced.


@pytest.mark.parametrize("method", ["prototypes", "logistic"])
def test_an_intent_is_added_without_training(method: Any) -> None:
    classifier = IntentClassifier(Topics(spread=0.7), method=method).fit(*messages(TOPICS[:7], 6))
    before = classifier.fitted
    encoder = classifier.model
    new, _ = messages(TOPICS[7:], 20, start=50)
    assert "topic7" not in classifier.predict(new).tolist()
    seen = len(encoder._model.encoded)  # type: ignore[attr-defined]
    classifier.partial_fit(*messages(TOPICS[7:], 6))
    # Six messages and three phrases with the name: nothing known is encoded again.
    assert len(encoder._model.encoded) == seen + 9  # type: ignore[attr-defined]
    said = classifier.predict(new)
    assert (said[said != OUT_OF_SCOPE] == "topic7").mean() > 0.9
    assert (said != OUT_OF_SCOPE).mean() > 0.6
    if before.head is not None:
        now = classifier.fitted.head
        assert now is not None
        assert (now.weights[:, :7] == before.head.weights).all()
        assert not now.weights[:, 7].any()
    assert before.examples.intents == tuple(TOPICS[:7])  # What others still read has not changed.


def test_removing_is_as_if_it_had_never_been_there() -> None:
    classifier = IntentClassifier(Topics(), method="prototypes").fit(*messages(TOPICS, 5))
    assert classifier.remove(intents=["topic7"]) == 5
    assert classifier.remove(["Topic0  4", "unknown 1"]) == 1
    texts, labels = messages(TOPICS[:7], 5)
    kept = [place for place, text in enumerate(texts) if text != "topic0 4"]
    anew = IntentClassifier(Topics(), method="prototypes")
    anew.fit([texts[place] for place in kept], [labels[place] for place in kept])
    asked = messages(TOPICS, 4, start=40)[0]
    for one, other in zip(classifier.answer(asked), anew.answer(asked), strict=True):
        assert one.candidates[0].probability == pytest.approx(other.candidates[0].probability, abs=1e-5)
        assert (one.decision, one.intents) == (other.decision, other.intents)
    with pytest.raises(TurnloomError, match="there is no intent 'topic7'"):
        classifier.remove(intents=["topic7"])
    with pytest.raises(TurnloomError, match="no example would be left"):
        classifier.remove(intents=TOPICS[:7])


def test_refit_lets_the_head_learn_what_was_added() -> None:
    classifier = IntentClassifier(Topics(), method="logistic").fit(*messages(TOPICS[:7], 6))
    classifier.partial_fit(*messages(TOPICS[7:], 6))
    whole = IntentClassifier(Topics(), method="logistic").fit(*messages(TOPICS, 6))
    asked = messages(TOPICS, 4, start=40)[0]
    assert classifier.refit().predict_proba(asked) == pytest.approx(whole.predict_proba(asked), abs=1e-3)


def test_readers_see_whole_states_while_it_changes() -> None:
    classifier = IntentClassifier(Topics(), method="prototypes").fit(*messages(TOPICS, 3))
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                known = classifier.fitted
                assert known.examples.member.shape == (len(known.examples), len(known.examples.intents))
                answer = classifier.answer(["topic1 77"])[0]
                assert answer.candidates[0].intent in {*TOPICS, "extra"}
            except Exception as error:  # noqa: PERF203 - Whatever it is, the test shows it.
                wrong.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(15):
        classifier.partial_fit([f"extra {number}", f"extra {number + 100}"], ["extra"] * 2)
        classifier.remove(intents=["extra"])
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong


def test_writers_lose_nothing() -> None:
    classifier = IntentClassifier(Topics(), method="prototypes").fit(*messages(TOPICS, 2))
    writers = [
        threading.Thread(target=lambda name=name: [classifier.partial_fit([f"{name} {n}"], [name]) for n in range(5)])
        for name in names(4, "more")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(classifier.fitted.examples) == 2 * 8 + 4 * 5


def test_scikit_learn_can_use_it() -> None:
    texts, labels = messages(TOPICS, 6)
    scores = cross_val_score(IntentClassifier(Topics(spread=0.5), method="prototypes"), texts, labels, cv=3)
    assert scores.mean() > 0.7


def test_context_decides_where_the_message_does_not() -> None:
    asked = {"pay": "pay 0", "ship": "ship 0"}
    train = [((f"{topic} {n}", "yes"), topic) for topic in asked for n in range(6)]
    test = [((f"{topic} {n}", "yes"), topic) for topic in asked for n in range(50, 70)]
    for turns, least, most in ((1, 0.95, 1.0), (0, 0.0, 0.6)):
        classifier = IntentClassifier(Topics(), context_turns=turns, method="prototypes", false_reject_rate=0.0)
        classifier.fit([message for message, _ in train], [topic for _, topic in train])
        chance = classifier.predict_proba([message for message, _ in test])
        found = np.mean(
            [classifier.classes_[row.argmax()] == topic for row, (_, topic) in zip(chance, test, strict=True)]
        )
        assert least <= found <= most


def test_one_intent_alone_needs_no_head() -> None:
    classifier = IntentClassifier(Topics(), method="logistic").fit(*messages(TOPICS[:1], 6))
    assert list(classifier.predict(["topic0 9"])) == ["topic0"]


def test_several_labels() -> None:
    encoder = Topics(spread=0.4)
    pairs = [(f"{one} {n}\n{other} {n}", (one, other)) for n in range(5) for one in TOPICS[:4] for other in TOPICS[4:6]]
    alone = [(f"{topic} {n}", (topic,)) for n in range(5) for topic in TOPICS[:6]]
    new = [(f"topic1 {n}\ntopic5 {n}", ("topic1", "topic5")) for n in range(50, 60)]
    texts, labels = zip(*pairs, *alone, strict=True)
    for method in ("auto", "prototypes", "knn", "logistic"):
        classifier = IntentClassifier(encoder, multi_label=True, method=method).fit(texts, labels)  # type: ignore[arg-type]
        assert classifier.score([text for text, _ in new], [names_ for _, names_ in new]) > 0.8
    assert classifier.predict_proba([new[0][0]]).sum() > 1.2  # Each for itself.
    found = evaluate(classifier, [text for text, _ in new], [names_ for _, names_ in new])
    assert found["micro_f1"] == pytest.approx(classifier.score([t for t, _ in new], [n for _, n in new]), abs=0.2)
    assert (classifier.predict(AWAY) == np.array([()] * 30 + [0], object)[:30]).mean() > 0.8


def test_evaluation_counts_what_happened(classifier: IntentClassifier) -> None:
    texts, labels = messages(TOPICS, 10, start=50)
    found = evaluate(classifier, [*texts, *AWAY], [*labels, *["none"] * 30])
    answers = classifier.answer([*texts, *AWAY])
    assert found["in_scope"] == 80
    assert found["out_of_scope"] == 30
    assert found["false_reject"]["rate"] == np.mean([answer.decision == "out_of_scope" for answer in answers[:80]])
    assert found["out_of_scope_recall"] == np.mean([answer.decision == "out_of_scope" for answer in answers[80:]])
    assert 0.9 < found["auroc"] <= 1
    assert found["accuracy"] > 0.9


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({}, ([], []), "no message has an intent"),
        ({}, (["a 1"], []), "1 messages have 0 labels"),
        ({}, (["a 1", " "], ["a", "b"]), "message 2 is empty"),
        ({}, ([3], ["a"]), "3 is not a message"),
        ({}, ([()], ["a"]), "is not a message"),
        ({}, (["a 1"], [["a", "b"]]), "message 1 has 2 labels: set multi_label=True"),
        ({"method": "forest"}, (["a 1"], ["a"]), "there is no method 'forest'"),
        ({"frequencies": {"b": 3.0}}, (["a 1"], ["a"]), "frequencies name no intent that occurs"),
        ({"false_reject_rate": 1.5}, (["a 1"], ["a"]), "false_reject_rate is 1.5"),
    ],
)
def test_mistakes_say_what_fixes_them(options: Any, data: Any, message: str) -> None:
    with pytest.raises(TurnloomError, match=message):
        IntentClassifier(Topics(), **options).fit(*data)


def test_nothing_is_answered_before_fit() -> None:
    with pytest.raises(TurnloomError, match="has not been fitted"):
        IntentClassifier(Topics()).predict(["a 1"])
    with pytest.raises(TurnloomError, match="has no encoder"):
        IntentClassifier().fit(["a 1"], ["a"])


def test_one_intent_alone_is_enough_for_a_scope() -> None:
    classifier = IntentClassifier(Topics(spread=0.5)).fit(*messages(["only"], 8))
    assert (classifier.predict(AWAY) == OUT_OF_SCOPE).all()
    assert (classifier.predict(messages(["only"], 20, start=50)[0]) == "only").mean() > 0.7
