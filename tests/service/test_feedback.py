"""What people say of answers: kept, scrubbed, erased with them, and read by the replies that are served."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from studies.service.on_disk import files_with

from tests.replies.toy import many, write_table
from tests.service.test_erasure import MARK, as_json, erased, marked
from tests.service.test_processes import folder as folder  # A fixture.
from tests.service.test_processes import start, write_config
from tests.service.test_scrubbing import CARD, MAIL, SAID, holding
from tests.service.toy import HeadedEncoder, bearer, keys, served, settings, with_intents, with_replies
from turnloom.corpus.erasure import Erasure
from turnloom.feedback import Feedback, IntentFeedback, ReplyFeedback
from turnloom.replies import ReplyIndex
from turnloom.runtime import load_encoder
from turnloom.service.folders import erase_from_folders, find_holdings
from turnloom.service.snapshots import restore_snapshot, take_snapshot

ASKED = {"context": ["where is my lamp order 3"], "k": 3}


@contextmanager
def service(tmp_path: Path) -> Iterator[TestClient]:
    encoder = HeadedEncoder()
    config = settings(tmp_path, **with_intents(tmp_path, encoder), **with_replies(tmp_path, encoder))
    with served(config, encoder) as found:
        yield found


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with service(tmp_path) as found:
        yield found


def tell(client: Any, *said: dict[str, Any]) -> Any:
    answer = client.post("/v1/feedback", json={"feedback": said})
    assert answer.status_code == 200, answer.text
    return answer.json()


def reply(text: str, answer: str = "rejected", **more: str) -> dict[str, Any]:
    return {"about": "reply", "answer": answer, "text": text, **more}


def intent(message: Any, answer: str = "accepted", name: str = "balance", **more: str) -> dict[str, Any]:
    return {"about": "intent", "answer": answer, "message": message, "intent": name, **more}


def suggested(client: Any) -> list[str]:
    return [found["text"] for found in client.post("/v1/replies", json=ASKED).json()["replies"]]


def test_a_rejected_reply_is_suggested_less_and_an_accepted_one_more(client: TestClient) -> None:
    first, second, third = suggested(client)
    assert tell(client, *[reply(first.upper())] * 3) == {"kept": 3}
    after = suggested(client)
    assert after[0] == second
    assert first not in after[:2]
    tell(client, *[reply(third, "accepted")] * 9)
    assert suggested(client)[0] == third


@pytest.mark.slow
def test_every_worker_of_a_real_service_suggests_a_rejected_reply_less(folder: Path) -> None:
    encoder = load_encoder(folder / "model")
    ReplyIndex.build(write_table(folder / "table", many(20)), folder / "replies", encoder)
    config, address = write_config(folder, workers=2, replies={"folder": "replies"})
    process = start(config, address)
    try:
        with httpx.Client(base_url=address, timeout=60) as client:
            first, second, _ = suggested(client)
            tell(client, *[reply(first)] * 3)
        for _ in range(12):  # A new connection each: both workers answer some.
            with httpx.Client(base_url=address, timeout=60) as client:
                assert suggested(client)[0] == second
    finally:
        process.terminate()
        process.wait(60)


def test_feedback_on_intents_is_what_they_are_fitted_with(client: TestClient, tmp_path: Path) -> None:
    tell(
        client,
        intent(["hello", "how much is there"]),
        intent("it was stolen", "corrected", correct="lost card"),
        intent("hm", "rejected"),
        intent("buy a zeppelin", "corrected", correct="out_of_scope"),
    )
    expected = [
        (("hello", "how much is there"), "balance"),
        (("it was stolen",), "lost card"),
        (("buy a zeppelin",), "out_of_scope"),
    ]
    assert Feedback(tmp_path / "state" / "feedback.jsonl").labelled() == expected
    for wrong, status in (
        (intent("x", name="zeppelins"), 404),
        (intent("x", "corrected", correct="zeppelins"), 404),
        (intent("x", "corrected"), 422),
        (intent("x", correct="balance"), 422),
        (reply("x", "corrected"), 422),
        ({"about": "weather"}, 422),
    ):
        refused = client.post("/v1/feedback", json={"feedback": [intent("not kept"), wrong]})
        assert refused.status_code == status, wrong
    assert Feedback(tmp_path / "state" / "feedback.jsonl").labelled() == expected


def test_personal_data_is_not_kept(client: TestClient, tmp_path: Path) -> None:
    tell(client, reply(SAID), intent(["hello", SAID]))
    assert not [name for text in (MAIL, CARD) for name in holding(tmp_path / "state", text)]
    refused = client.post("/v1/feedback", json={"feedback": [reply("x", source=MAIL)]})
    assert refused.json()["error"]["code"] == "personal_data"


def test_it_takes_a_key_with_its_scope(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    with served(settings(tmp_path, **with_replies(tmp_path, encoder), keys=keys()), encoder) as client:
        body = {"feedback": [reply("x")]}
        assert client.post("/v1/feedback", json=body).status_code == 401
        assert client.post("/v1/feedback", json=body, headers=bearer("reader")).status_code == 403
        assert client.post("/v1/feedback", json=body, headers=bearer("all")).status_code == 200
        no_intents = client.post("/v1/feedback", json={"feedback": [intent("x")]}, headers=bearer("all"))
        assert no_intents.json()["error"]["code"] == "not_served"


def tell_of_marked(client: Any) -> None:
    """Feedback that is to be erased with a person, for every reason, and some that stays."""
    assert client.post("/v1/replies/conversations", json={"conversations": [as_json(marked(3))]}).status_code == 202
    tell(
        client,
        reply(f"the {MARK} reply 3"),
        intent(f"Hello {MARK} 3"),
        intent(f"{MARK} elsewhere", conversation=f"{MARK}-3"),
        intent(f"{MARK} too", source="chats", conversation=f"{MARK}-3"),
        intent(f"{MARK} said by phone", speaker=f"{MARK}-person"),
        intent("kept", conversation="another"),
    )


def test_it_is_erased_with_the_conversation_and_the_person(client: TestClient, tmp_path: Path) -> None:
    tell_of_marked(client)
    suggested(client)  # It has been read.
    gone = erased(client, conversations=[f"{MARK}-3"], speakers=[f"{MARK}-person"])
    assert gone["feedback"] == 5
    assert not files_with(tmp_path / "state", [MARK])
    path = tmp_path / "state" / "feedback.jsonl"
    assert Feedback(path).labelled() == [(("kept",), "balance")]
    assert path.stat().st_mode & 0o777 == 0o600
    before = suggested(client)
    tell(client, *[reply(before[0])] * 3)
    assert suggested(client)[0] != before[0], "what is written after an erasure is read"


def test_folders_forget_it_without_a_service(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        tell_of_marked(client)
    erasure = Erasure(frozenset([f"{MARK}-3"]), frozenset([f"{MARK}-person"]))
    erase_from_folders(find_holdings([tmp_path / "state", tmp_path / "replies"]), erasure, lambda _: HeadedEncoder())
    assert not files_with(tmp_path / "state", [MARK])
    assert Feedback(tmp_path / "state" / "feedback.jsonl").labelled() == [(("kept",), "balance")]


def test_a_snapshot_has_it(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    config = settings(tmp_path, **with_intents(tmp_path, encoder), **with_replies(tmp_path, encoder))
    path = tmp_path / "state" / "feedback.jsonl"
    for name in ("model", "reranker"):
        (tmp_path / name / "weights").write_text(name)
    with served(config, encoder) as client:
        tell(client, reply("one"))
        saved, snapshot = path.read_bytes(), take_snapshot(config)
        tell(client, reply("two"))
    restore_snapshot(snapshot, config)
    assert path.read_bytes() == saved


def test_readers_notice_what_others_write_and_erase(tmp_path: Path) -> None:
    one, two = (Feedback(tmp_path / "f.jsonl") for _ in range(2))
    one.add(IntentFeedback(answer="accepted", turns=("a",), intent="x"), ReplyFeedback(answer="rejected", text="r"))
    assert len(two.read()) == 2
    assert two.read() is two.read()
    assert one.erase(lambda said: said.about == "reply") == 1
    assert [said.about for said in two.read()] == ["intent"]
    two.add(ReplyFeedback(answer="accepted", text="again"))
    assert one.replies() == ({"again": 1}, {})
