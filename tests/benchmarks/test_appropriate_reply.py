"""A reply is right if it does what the true one does: who searches, what is searched, and what counts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.known_answers import Constant
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.baselines import lexical_tasks
from turnloom.benchmarks.suites import SPACES
from turnloom.benchmarks.tasks.appropriate_reply import AppropriateReply, JudgedReply, judged_replies
from turnloom.runtime.object_encoder import ObjectEncoder
from turnloom.runtime.scorer import BM25


def purpose(act: str, topic: str = "bus") -> tuple[frozenset[str], frozenset[str]]:
    return frozenset({act}), frozenset({topic})


ASK, BYE, OTHER = purpose("REQUEST:city"), purpose("GOODBYE"), purpose("REQUEST:city", "hotel")
REPLIES = [
    JudgedReply(("a bus",), "to which city?", ASK),
    JudgedReply(("a coach",), "where to?", ASK),
    JudgedReply(("a room",), "in which city?", OTHER),
    JudgedReply(("a room", "where?", "in Rome"), "where to?", OTHER),
    JudgedReply(("a bus", "where?", "Rome", "thanks"), "bye", BYE),
]


class Heads:
    """Finds for every context the reply that it has been told, next to it a second one, and nothing else."""

    name = fingerprint = "heads"

    def __init__(self, answers: dict[str, tuple[str, str]]) -> None:
        self._answers = answers
        self._texts = list(dict.fromkeys(one.reply for one in REPLIES))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 1))

    def encode_document(self, texts: Sequence[str]) -> np.ndarray:
        return np.eye(len(self._texts))[[self._texts.index(text) for text in texts]]

    def encode_query(self, texts: Sequence[str]) -> np.ndarray:
        both = [[self.encode_document([reply])[0] for reply in self._answers[text]] for text in texts]
        return np.stack([2 * first + second for first, second in both])


def test_a_reply_is_right_if_it_was_said_once_to_the_same_purpose() -> None:
    answers = {
        "a bus": ("where to?", "to which city?"),  # Right, not exact.
        "a coach": ("in which city?", "where to?"),  # The acts of the truth, about something else.
        "a room": ("where to?", "bye"),  # Right: elsewhere it was said about a hotel.
        "a room\nwhere?\nin Rome": ("bye", "in which city?"),  # Wrong.
        "a bus\nwhere?\nRome\nthanks": ("bye", "where to?"),  # Exact.
    }
    model = CachedEncoder(ObjectEncoder(Heads(answers)))
    scores = AppropriateReply("mine", "heads", lambda: REPLIES).evaluate(model, 1, 0)[0].scores
    assert scores["appropriate_top1"] == pytest.approx(60)
    assert scores["exact_top1"] == pytest.approx(20)
    # There are four replies: two right ones for each of the first four contexts, one for the last.
    assert scores["appropriate_p_at_5"] == pytest.approx(100 * (2 + 2 + 2 + 2 + 1) / 4 / 5)


def test_guessing_gets_the_share_of_right_replies() -> None:
    model = CachedEncoder(ObjectEncoder(Constant()))
    scores = AppropriateReply("mine", replies=lambda: REPLIES).evaluate(model, 1, 0)[0].scores
    assert scores == pytest.approx({"appropriate_top1": 45, "exact_top1": 25, "appropriate_p_at_5": 45})


def test_contexts_are_sampled_by_seed_and_all_replies_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnloom.benchmarks.tasks.appropriate_reply.CONTEXTS", 2)
    model = CachedEncoder(ObjectEncoder(Constant()))
    draws = AppropriateReply("mine", replies=lambda: REPLIES).evaluate(model, 8, 0)
    assert {len(draw.credits) for draw in draws} == {2}
    assert {draw.scores["appropriate_top1"] for draw in draws} == {50, 37.5}
    assert {draw.scores["exact_top1"] for draw in draws} == {25}


def test_words_are_looked_up_in_one_index_of_all_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    from turnloom.benchmarks import baselines

    built: list[Sequence[str]] = []

    class Counted(BM25):
        def __init__(self, documents: Sequence[str]) -> None:
            built.append(documents)
            super().__init__(documents)

    monkeypatch.setattr(baselines, "BLOCK", 2)
    monkeypatch.setattr(baselines, "BM25", Counted)
    heads, plain = (AppropriateReply("mine", space, lambda: REPLIES) for space in SPACES)
    (words,) = lexical_tasks([heads, plain])
    scores = words.evaluate(None, 1, 0)[0].scores  # type: ignore[arg-type]
    assert built == [["to which city?", "where to?", "in which city?", "bye"]]
    # "in Rome" shares a word with one reply, which is right. The other last turns share none: of four replies two are
    # right for three of them, and one for the last, whose "where?" is of an earlier turn.
    assert scores["appropriate_top1"] == pytest.approx(100 * (1 + 3 * 2 / 4 + 1 / 4) / 5)


def write(root: Path, file: str, row: dict[str, Any]) -> None:
    path = root / f"{file}.jsonl.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress((json.dumps(row) + "\n").encode()))


def turn(speaker: str, text: str, *acts: str, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "text": text, **({"acts": list(acts)} if acts else {}), **more}


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))
    return tmp_path


def test_sgd_is_judged_by_acts_and_active_intents(sets: Path) -> None:
    turns = [
        turn("user", "a bus", "INFORM_INTENT:intent", intent=["FindBus"]),
        turn("system", "where to?", "REQUEST:to", "REQUEST:from"),
        turn("user", "no more", "NEGATE"),
        turn("system", "bye", "GOODBYE"),
    ]
    write(sets, "sgd/test", {"id": "1", "services": ["Buses_1", "Hotels_1"], "turns": turns})
    asked, ended = judged_replies("sgd")
    assert asked == JudgedReply(
        ("a bus",), "where to?", (frozenset({"REQUEST:to", "REQUEST:from"}), frozenset({"FindBus"}))
    )
    assert ended == JudgedReply(("a bus", "where to?", "no more"), "bye", (frozenset({"GOODBYE"}), frozenset()))


def test_a_booking_of_multiwoz_is_of_the_domain_named_last(sets: Path) -> None:
    turns = [
        turn("user", "a train and a hotel", "train-inform:day", "hotel-inform:area"),
        turn("system", "which hotel?", "hotel-request:name"),
        turn("user", "any", "general-ack:none"),
        turn("system", "which day?", "booking-request:day"),
        turn("user", "Monday"),
        turn("system", "hm"),
        turn("user", "thanks"),
        turn("system", "bye", "general-bye:none"),
    ]
    write(sets, "multiwoz21/test", {"id": "1", "domains": ["hotel", "train"], "turns": turns})
    topics = {one.reply: sorted(one.purpose[1]) for one in judged_replies("multiwoz21")}
    assert topics == {"which hotel?": ["hotel"], "which day?": ["hotel"], "bye": []}


def test_acts_of_star_name_their_domain_or_are_of_the_whole_dialogue(
    sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnloom.benchmarks.data.falls_into", lambda *_: True)
    turns = [
        turn("user", "my bank"),
        turn("system", "your pin?", "bank_ask_pin"),
        turn("user", "sing"),
        turn("system", "I only do banking and trivia", "out_of_scope"),
        turn("user", "ok"),
        turn("system", "la la la", "custom"),
    ]
    write(sets, "star/all", {"id": "1", "domains": ["bank", "trivia"], "turns": turns})
    found = {one.reply: tuple(map(sorted, one.purpose)) for one in judged_replies("star")}
    assert found == {
        "your pin?": (["bank_ask_pin"], ["bank"]),
        "I only do banking and trivia": (["out_of_scope"], ["bank", "trivia"]),
    }
