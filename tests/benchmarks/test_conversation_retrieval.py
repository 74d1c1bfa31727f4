"""One vector per conversation: what it is made of, who searches, and what is right."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.tasks.conversation_retrieval import (
    Conversation,
    ConversationRetrieval,
    labelled_conversations,
    turn_means,
)
from turnloom.runtime.object_encoder import ObjectEncoder

ANGLES = {"hi": 0.0, "bus": 0.2, "train": 0.4, "ok": 1.0, "hotel": 1.4, "room": 1.5}


class Angles:
    """Turns as points of the plane, some of them far out; joined turns are as their first."""

    name = fingerprint = "angles"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        angles = np.array([ANGLES[text.split("\n")[0]] for text in texts])
        lengths = np.array([5.0 if text == "ok" else 1.0 for text in texts])
        return np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=1)


class OwnConversations(ObjectEncoder):
    """Cannot tell turns apart, but conversations."""

    asked: list[list[str]]

    def encode_conversations(self, contexts: Sequence[Sequence[str]]) -> np.ndarray:
        self.asked = [list(context) for context in contexts]
        return np.array([[1.0, 0.0] if context[1] in ("bus", "train") else [0.0, 1.0] for context in contexts])


TRAVEL, STAY, ALONE = frozenset({"travel"}), frozenset({"stay"}), frozenset({"travel", "stay"})
CONVERSATIONS = [
    Conversation(("hi", "bus"), TRAVEL),
    Conversation(("hi", "train"), TRAVEL),
    Conversation(("hi", "hotel"), STAY),
    Conversation(("ok", "room"), STAY),
    Conversation(("hi", "ok"), ALONE),
]


def test_a_mean_of_turns_counts_each_turn_alike() -> None:
    vectors = turn_means(CachedEncoder(ObjectEncoder(Angles())), [("hi", "ok"), ("room",)])
    assert np.arctan2(vectors[:, 1], vectors[:, 0]) == pytest.approx([0.5, 1.5])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


def test_every_conversation_whose_label_recurs_searches_all_others() -> None:
    task = ConversationRetrieval("mine", lambda: CONVERSATIONS)
    draw = task.evaluate(CachedEncoder(ObjectEncoder(Angles())), 1, 0)[0]
    # Means are at angles .1, .2, .7, 1.25 and .5. The first two find each other first; the third meets .5, .2 (.5
    # away) and then 1.25 (.55 away), and the fourth meets the third first.
    assert list(draw.credits) == pytest.approx([100, 100, 100 / 3, 100])
    assert draw.scores["map"] == draw.scores["map_turn_mean"] == pytest.approx(250 / 3)
    assert draw.scores["mrr"] == pytest.approx(250 / 3)
    # First turns alone: "hi" four times, "ok" once. One of three tied ones is right (11/18 on average), the third
    # finds the fourth last, and for the fourth all others tie (25/48).
    assert draw.scores["map_joined"] == pytest.approx(100 * (11 / 18 + 11 / 18 + 1 / 4 + 25 / 48) / 4)


def test_a_models_own_conversation_vectors_are_used_and_kept(tmp_path: Path) -> None:
    task = ConversationRetrieval("mine", lambda: CONVERSATIONS[:4])
    model = OwnConversations(Angles())
    draw = task.evaluate(CachedEncoder(model, tmp_path), 1, 0)[0]
    assert draw.scores["map"] == 100
    assert draw.scores["map_turn_mean"] < 100
    assert sorted(model.asked) == sorted(list(each.turns) for each in CONVERSATIONS[:4])
    model.asked = []
    again = task.evaluate(CachedEncoder(model, tmp_path), 1, 0)[0]
    assert again.scores == draw.scores
    assert model.asked == []


def test_a_label_is_services_and_active_intents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoken = [{"speaker": "user", "text": "a bus", "intent": ["FindBus"]}, {"speaker": "system", "text": "where to?"}]
    booked = [*spoken, {"speaker": "user", "text": "book it", "intent": ["BuyTicket"]}]
    for folder, row in (
        ("sgd", {"id": "1", "services": ["Buses_1"], "turns": booked}),
        ("multiwoz21", {"id": "2", "domains": ["bus", "taxi"], "turns": spoken[1:]}),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test.jsonl.gz").write_bytes(gzip.compress((json.dumps(row) + "\n").encode()))
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))
    label = frozenset({"Buses_1", "intent FindBus", "intent BuyTicket"})
    assert labelled_conversations("sgd") == [Conversation(("a bus", "where to?", "book it"), label)]
    assert labelled_conversations("multiwoz21")[0].label == {"bus", "taxi"}
