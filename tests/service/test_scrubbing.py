"""No personal data that a client adds is written anywhere, unless the service is configured to keep it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.service.toy import HeadedEncoder, served, settings, with_intents, with_replies

MAIL, CARD = "tracy.holm@example.com", "4111 1111 1111 1111"
SAID = f"my mail is {MAIL} and my card {CARD}"


def add_all(client: TestClient) -> None:
    """Add personal data in every field for texts, then index it."""
    turns = [{"speaker": "user", "text": SAID}, {"speaker": "system", "text": f"I write to {MAIL}"}]
    chat = {"conversations": [{"id": "chat-1", "turns": turns}]}
    assert client.post("/v1/replies/conversations", json=chat).status_code == 202
    examples = [
        {"message": SAID, "intent": "lost card"},
        {"message": ["hello", SAID], "intent": "balance"},
        {"intent": "mail", "description": f"letters to {MAIL}"},
    ]
    assert client.post("/v1/intents/examples", json={"examples": examples}).status_code == 200
    replies = client.app.state.service.resources.replies  # type: ignore[attr-defined]
    while replies.pending:  # The service's own thread may be at it.
        replies.index_pending()


def holding(folder: Path, text: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.parametrize("scrub", [True, False])
def test_what_is_added_is_scrubbed_before_it_is_saved(tmp_path: Path, scrub: bool) -> None:
    encoder = HeadedEncoder()
    config = settings(tmp_path, **with_intents(tmp_path, encoder), **with_replies(tmp_path, encoder), scrub=scrub)
    with served(config, encoder) as client:
        add_all(client)
        examples = client.get("/v1/intents/examples", params={"intent": "lost card"}).json()["examples"]
        kept = SAID if not scrub else "my mail is <EMAIL> and my card <CARD>"
        assert [kept] in examples
        asked = {"context": ["write to"], "k": 50, "mode": "text"}
        found = [reply["text"] for reply in client.post("/v1/replies", json=asked).json()["replies"]]
        assert (f"I write to {MAIL}" if not scrub else "I write to <EMAIL>") in found
        seen = [name for text in (MAIL, CARD) for name in holding(tmp_path, text)]
        assert bool(seen) is not scrub
        assert not (scrub and any(MAIL in text for call in encoder.calls for text in call))


def test_names_with_personal_data_are_refused(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    config = settings(tmp_path, **with_intents(tmp_path, encoder), **with_replies(tmp_path, encoder))
    turns = [{"speaker": "user", "text": "hi"}, {"speaker": "system", "text": "ho"}]
    with served(config, encoder) as client:
        for examples in (
            [{"message": "hi", "intent": f"mail {MAIL}"}],
            [{"message": "hi", "intent": "lost card"}, {"intent": CARD}],
        ):
            answer = client.post("/v1/intents/examples", json={"examples": examples})
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "personal_data")
        for names in ({"source": MAIL}, {"domains": ["bank", CARD]}):
            answer = client.post(
                "/v1/replies/conversations", json={"conversations": [{"id": "1", "turns": turns, **names}]}
            )
            assert (answer.status_code, answer.json()["error"]["param"]) == (422, "conversations")
        assert client.post("/v1/intents/examples/remove", json={"intents": [MAIL]}).status_code == 404
        assert not [name for text in (MAIL, CARD) for name in holding(tmp_path, text)]
    with served(config.model_copy(update={"scrub": False}), encoder) as client:
        kept = {"examples": [{"message": "hi", "intent": MAIL}]}
        assert client.post("/v1/intents/examples", json=kept).status_code == 200


def test_an_example_is_removed_by_what_was_sent_or_by_what_was_kept(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    with served(settings(tmp_path, **with_intents(tmp_path, encoder)), encoder) as client:
        for removed in (SAID, "my mail is <EMAIL> and my card <CARD>"):
            one = {"examples": [{"message": SAID, "intent": "lost card"}]}
            client.post("/v1/intents/examples", json=one)
            assert client.post("/v1/intents/examples/remove", json={"messages": [removed]}).json() == {"examples": 1}
        assert not holding(tmp_path, MAIL)
