"""Conversations by id: only new turns are encoded, and nothing depends on what is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.service.toy import HeadedEncoder, bearer, keys, served, settings, with_intents, with_replies
from turnloom.runtime.conversation import ConversationEncoder, ConversationShape
from turnloom.runtime.conversation_folder import TorchReader
from turnloom.runtime.conversation_network import ConversationNetwork
from turnloom.service.config import ConversationMemory
from turnloom.service.conversations import ConversationStates

TALK = ["i lost my card", "which card is it", "the blue one", "thanks"]


def conversation_encoder(turns: HeadedEncoder) -> ConversationEncoder:
    width = turns.encode(["a"]).shape[1]
    network = ConversationNetwork(ConversationShape(width=width, size=16, reply_size=16, uses_heads=False))
    return ConversationEncoder(turns, TorchReader(network), "conversation-of-toy")


@pytest.fixture
def turns() -> HeadedEncoder:
    return HeadedEncoder()


@pytest.fixture
def client(tmp_path: Path, turns: HeadedEncoder) -> Iterator[TestClient]:
    encoder = conversation_encoder(turns)
    more = with_replies(tmp_path, encoder) | with_intents(tmp_path, turns)
    with served(settings(tmp_path, **more, keys=keys(), reranker=None), encoder) as found:
        yield found


def ask(client: TestClient, context: list[str], key: str = "all", **options: Any) -> dict[str, Any]:
    answer = client.post("/v1/replies", json={"context": context, **options}, headers=bearer(key))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def encoded(turns: HeadedEncoder) -> list[str]:
    texts = [text for call in turns.calls for text in call]
    turns.calls.clear()
    return texts


def test_only_new_turns_are_encoded(client: TestClient, turns: HeadedEncoder) -> None:
    encoded(turns)
    without = [ask(client, TALK[:end]) for end in (1, 3, 4)]
    assert len(encoded(turns)) == 1 + 3 + 4
    remembered = [ask(client, TALK[:end], conversation="chat-1") for end in (1, 3, 4)]
    assert encoded(turns) == TALK
    assert remembered == without


def test_a_changed_conversation_is_read_again(client: TestClient, turns: HeadedEncoder) -> None:
    ask(client, TALK[:2], conversation="chat-1")
    encoded(turns)
    other = ["what is my balance", *TALK[1:2]]
    assert ask(client, other, conversation="chat-1") == ask(client, other)
    assert encoded(turns) == other * 2


def test_two_keys_never_share_a_conversation(client: TestClient, turns: HeadedEncoder) -> None:
    ask(client, TALK[:2], conversation="chat-1")
    encoded(turns)
    ask(client, TALK[:2], key="slow", conversation="chat-1")
    assert encoded(turns) == TALK[:2]


def test_intents_of_the_turns_encoder_are_served_beside(client: TestClient) -> None:
    answer = client.post("/v1/intents", json={"messages": ["i lost my card"]}, headers=bearer("all"))
    assert answer.status_code == 200, answer.text


def test_they_are_bounded_and_expire(turns: HeadedEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("turnloom.service.conversations.time.monotonic", lambda: now[0])
    states = ConversationStates(conversation_encoder(turns), ConversationMemory(most=2, seconds=60))
    for name in ("a", "b", "a", "c"):
        states.read("", name, TALK[:1])
    assert len(states) == 2
    encoded(turns)
    states.read("", "a", TALK[:1])
    assert encoded(turns) == []  # Used later than b, which had to go.
    states.read("", "b", TALK[:1])
    assert encoded(turns) == TALK[:1]
    now[0] = 61.0
    states.read("", "d", TALK[:1])
    assert len(states) == 1
