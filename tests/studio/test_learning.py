"""What the studio learns: intents, feedback, the next message to label, replies, files and publications."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.replies.toy import dialogue, write_table
from tests.service.toy import HeadedEncoder, listening, loaders, settings, with_intents
from tests.studio.test_workspace import topic_of
from tests.studio.toy import HOSTILE, StudioEncoder, make_studio, opened
from turnloom.corpus.labelled import read_messages
from turnloom.errors import TurnloomError
from turnloom.feedback import FEEDBACK, Feedback, IntentFeedback, ReplyFeedback
from turnloom.replies import ReplyIndex
from turnloom.service.app import create_app
from turnloom.studio.actions import OUTSIDE, Label, MakeIntent
from turnloom.studio.exports import as_csv, as_json_lines, as_rasa
from turnloom.studio.learning import Learner
from turnloom.studio.publishing import Publisher, Service, difference, wanted_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_studio(tmp_path_factory.mktemp("studio"))


@pytest.fixture
def learner(folder: Path, tmp_path: Path) -> Learner:
    """A studio with an intent for each group, from five examples each."""
    work = opened(Path(shutil.copytree(folder, tmp_path / "studio")))
    for group in sorted(work.board.leaves):
        work.edits.do(MakeIntent(group=group, examples=tuple(work.typical(work.board, group)[:5].tolist())))
    return Learner(work)


def test_intents_are_learned_as_they_are_now(learner: Learner) -> None:
    learned = learner.learned()
    assert learned is learner.learned()
    assert len(learned.classifier.classes_) == len(learner.work.board.intents)
    texts = ["where is my refund 77", "please cancel my order now"]
    found = [topic_of(answer.candidates[0].intent) for answer in learned.classifier.answer(texts)]
    assert found == ["refund", "cancel"]
    assert 0.5 < learned.expected <= 1
    learner.work.edits.undo()
    assert len(learner.learned().classifier.classes_) == len(learner.work.board.intents)
    assert not set(learned.rows) & {row for one in learner.work.board.intents.values() for row in one.examples}


def test_a_higher_rate_turns_away_more_and_the_least_familiar_first(learner: Learner) -> None:
    learned = learner.learned()
    away = [learned.turned_away(rate) for rate in (0.0, 0.1, 0.5)]
    assert [set(one) <= set(other) for one, other in pairwise(away)] == [True, True]
    assert len(away[2]) > len(away[0])
    row = int(away[2][0])
    turned = [learned.at(rate).answer([learner.work.texts[row]])[0].decision for rate in (0.0, 0.5)]
    assert turned[1] == "out_of_scope"


def test_without_an_intent_it_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    work = opened(Path(shutil.copytree(folder, tmp_path / "studio")))
    with pytest.raises(TurnloomError, match="no intent yet"):
        Learner(work).learned()


def test_what_is_asked_next_is_new_and_never_asked_twice(learner: Learner) -> None:
    board, asked = learner.work.board, []
    for _ in range(5):
        found = learner.next_to_label()
        assert found
        row, reason, intents = found
        assert reason
        assert sorted(intents) == sorted(board.names[group] for group in board.intents)
        asked.append(row)
        learner.work.edits.do(Label(message=row, group=OUTSIDE if len(asked) == 2 else None))
    assert len(set(asked)) == 5
    examples = {row for intent in board.intents.values() for row in intent.examples}
    assert not examples & set(asked)


def test_labels_and_corrections_are_examples(learner: Learner) -> None:
    work, board = learner.work, learner.work.board
    group = next(iter(board.intents))
    row = int(work.typical(board, group)[-1])
    work.edits.do(Label(message=row, group=group))
    assert ((work.texts[row],), board.names[group]) in learner.examples(work.board)[0]
    said = IntentFeedback(answer="corrected", turns=("zeppelin",), intent="x", correct=board.names[group])
    learner.feedback.add(said)
    assert (("zeppelin",), board.names[group]) in learner.examples(work.board)[0]
    nearest = learner.learned().classifier.answer(["zeppelin"])[0].nearest[0]
    assert (nearest.text, nearest.intents) == ("zeppelin", (board.names[group],))


def test_of_several_answers_the_last_one_counts(tmp_path: Path) -> None:
    feedback = Feedback(tmp_path / FEEDBACK)
    for answer, correct in (("accepted", None), ("corrected", "b"), ("rejected", None)):
        feedback.add(IntentFeedback(answer=answer, turns=("x",), intent="a", correct=correct))  # type: ignore[arg-type]
        latest = Feedback(tmp_path / FEEDBACK).labelled()
        assert latest == {"accepted": [(("x",), "a")], "corrected": [(("x",), "b")], "rejected": []}[answer]
    (tmp_path / FEEDBACK).write_text('{"about": "intent"}\n')
    with pytest.raises(TurnloomError, match="is no feedback"):
        Feedback(tmp_path / FEEDBACK).read()


def test_a_rejected_reply_is_suggested_less_and_an_accepted_one_more(tmp_path: Path) -> None:
    replies = ["i look for your parcel", "your parcel is on its way", "the parcel comes tomorrow", "ask the carrier"]
    chats = [dialogue(number, "where is my parcel", text) for number, text in enumerate(replies)]
    index = tmp_path / "replies"
    encoder = StudioEncoder()
    ReplyIndex.build(write_table(tmp_path / "t", chats), index, encoder)  # type: ignore[arg-type]
    opened_index = ReplyIndex(index, encoder, feedback=tmp_path / FEEDBACK)  # type: ignore[arg-type]
    before = [found.text for found in opened_index.suggest(["where is my parcel"], 4)]
    plain = ReplyIndex(index, encoder)  # type: ignore[arg-type]
    assert before == [found.text for found in plain.suggest(["where is my parcel"], 4)]
    feedback, context = Feedback(tmp_path / FEEDBACK), ("where is my parcel",)
    for _ in range(3):
        feedback.add(ReplyFeedback(answer="rejected", context=context, text=before[0].upper()))
    after = [found.text for found in opened_index.suggest(["where is my parcel"], 4)]
    assert sorted(after) == sorted(before)
    assert after[0] == before[1]
    assert after.index(before[0]) > 0
    assert opened_index.suggest(["where is my parcel"], 1)[0].text != before[0]
    for _ in range(9):
        feedback.add(ReplyFeedback(answer="accepted", context=context, text=before[0]))
    assert opened_index.suggest(["where is my parcel"], 1)[0].text == before[0]


def test_files_can_be_read_again(learner: Learner, tmp_path: Path) -> None:
    odd = [(("a: b\n- [c](d) # e",), "money / back"), ((HOSTILE,), "?!")]
    examples = [*learner.examples(learner.work.board)[0], *odd]
    for name, text in (("x.csv", as_csv(examples)), ("x.jsonl", as_json_lines(examples))):
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = [(message.turns[-1], *message.labels) for message in read_messages(str(tmp_path / name))]
        assert found == [(turns[-1], intent) for turns, intent in examples]
    loaded = yaml.safe_load(as_rasa(examples))
    assert loaded["version"] == "3.1"
    names = [entry["intent"] for entry in loaded["nlu"]]
    assert names == list(dict.fromkeys(names))
    assert all(set(entry) == {"intent", "examples"} and not set("/ ") & set(entry["intent"]) for entry in loaded["nlu"])
    texts = [line[2:] for entry in loaded["nlu"] for line in entry["examples"].splitlines()]
    assert all(line.startswith("- ") for entry in loaded["nlu"] for line in entry["examples"].splitlines())
    assert len(texts) == len(examples)
    assert "a: b - [c] (d) # e" in texts


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    encoder = HeadedEncoder()
    app = create_app(settings(tmp_path, **with_intents(tmp_path, encoder)), loaders(encoder))
    with listening(app) as found:
        yield found


def test_publishing_changes_a_running_service_and_can_be_taken_back(
    learner: Learner, address: str, tmp_path: Path
) -> None:
    service, publisher = Service(address), Publisher(tmp_path / "published")
    before = service.examples()
    examples = [*learner.examples(learner.work.board)[0], (("mail me at jo@example.com",), "balance")]
    wanted = wanted_of(examples)
    assert ["mail me at <EMAIL>"] in wanted["balance"]
    wanted["balance"].append(before["lost card"][0])  # It changes its intent.
    version = publisher.publish(service, wanted, {"balance": "how much money there is"})
    assert (version.version, version.before) == (1, before)
    held = service.examples()
    assert {name: sorted(each) for name, each in held.items()} == {name: sorted(each) for name, each in wanted.items()}
    assert difference(held, wanted).sentence().startswith("Nothing")
    again = publisher.go_back(service)
    assert again.version == 2
    restored = service.examples()
    assert {n: sorted(e) for n, e in restored.items()} == {n: sorted(e) for n, e in before.items()}
    assert [version.version for version in publisher.versions()] == [1, 2]


def test_what_a_service_refuses_is_said(tmp_path: Path, address: str) -> None:
    publisher = Publisher(tmp_path)
    with pytest.raises(TurnloomError, match="does not answer"):
        Service("http://127.0.0.1:9").examples()
    with pytest.raises(TurnloomError, match="no address"):
        Service("file:///etc/passwd")
    with pytest.raises(TurnloomError, match="nothing was published"):
        publisher.go_back(Service(address))
    with pytest.raises(TurnloomError, match="nothing to publish"):
        publisher.publish(Service(address), {})
    with pytest.raises(TurnloomError, match="answers 422"):
        publisher.publish(Service(address), {"x": [["y" * 30_000]]})
    assert json.loads((tmp_path / "published" / "00001.json").read_text())["after"] == {"x": [["y" * 30_000]]}
