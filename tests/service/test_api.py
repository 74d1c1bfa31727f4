"""Every route against a direct call of what is behind it."""

from __future__ import annotations

import base64
import json
import re
import time
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from tests.service.toy import INTENTS, HeadedEncoder, served, settings, with_intents, with_replies
from turnloom.intents import IntentClassifier
from turnloom.replies.search import MODES
from turnloom.runtime.protocols import Vectors
from turnloom.service.config import ReplyServing

CHAT = {
    "id": "new-1",
    "turns": [
        {"speaker": "customer", "text": "does the zeppelin fly on sundays"},
        {"speaker": "agent", "text": "The zeppelin flies every day but monday"},
    ],
}


def vectors_of(answer: dict) -> Vectors:
    return np.array([row["embedding"] for row in answer["data"]], np.float32)


@pytest.mark.parametrize(
    ("input_type", "direct"), [(None, "encode"), ("query", "encode_query"), ("document", "encode_document")]
)
def test_input_type_picks_the_head(
    client: TestClient, encoder: HeadedEncoder, input_type: str | None, direct: str
) -> None:
    texts = ["where is my lamp", "ten"]
    asked = {"model": "toy", "input": texts} | ({"input_type": input_type} if input_type else {})
    answer = client.post("/v1/embeddings", json=asked).json()
    given = [[text] for text in texts] if input_type == "query" else texts
    np.testing.assert_array_equal(vectors_of(answer), getattr(encoder, direct)(given))
    assert answer["usage"] == {"prompt_tokens": 5, "total_tokens": 5}
    assert [row["index"] for row in answer["data"]] == [0, 1]
    assert encoder.threads >= {"batcher-toy"}


def test_base64_is_the_same_vector_and_conversations_are_queries(client: TestClient, encoder: HeadedEncoder) -> None:
    asked = {"model": "toy", "input": [["hello", "where is it"]], "input_type": "query", "encoding_format": "base64"}
    found = client.post("/v1/embeddings", json=asked).json()["data"][0]["embedding"]
    vector = np.frombuffer(base64.b64decode(found), "<f4")
    np.testing.assert_array_equal(vector, encoder.encode_query([["hello", "where is it"]])[0])


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"model": "other", "input": "a"}, 404, "model_not_found"),
        ({"model": "toy", "input": []}, 422, "no_input"),
        ({"model": "toy", "input": [["a"]]}, 422, "conversation"),
        ({"model": "toy", "input": "a", "dimensions": 7}, 422, "dimensions"),
        ({"model": "toy", "input": ["a"] * 257}, 422, "too_many"),
        ({"model": "toy", "input": "a" * 20_001}, 422, "too_long"),
        ({"model": "toy", "input": [["a"] * 201], "input_type": "query"}, 422, "too_many_turns"),
        ({"model": "toy", "input": " "}, 422, "value_error"),
        ({"model": "toy", "input": [1, 2]}, 422, "string_type"),
        ({"model": "toy", "input": "a", "mystery": 1}, 422, "extra_forbidden"),
    ],
)
def test_wrong_embedding_requests(client: TestClient, asked: dict, status: int, code: str) -> None:
    answer = client.post("/v1/embeddings", json=asked)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert set(answer.json()["error"]) == {"message", "type", "code", "param"}


@pytest.mark.parametrize(
    "body", [b'{"model": "toy", "input": "\\ud800"}', b'{"model": "toy", "input": "a", "\\ud800": 1}']
)
def test_halves_of_characters_are_no_server_error(client: TestClient, body: bytes) -> None:
    answer = client.post("/v1/embeddings", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


def test_rerank_in_both_shapes(client: TestClient) -> None:
    texts = ["mid size", "s", "the longest of all"]
    tei = client.post("/rerank", json={"query": "q", "texts": texts, "raw_scores": True, "return_text": True}).json()
    assert tei == [{"index": place, "score": float(len(texts[place])), "text": texts[place]} for place in (2, 0, 1)]
    bounded = client.post("/rerank", json={"query": ["a", "q"], "texts": texts}).json()
    assert bounded[2]["score"] == pytest.approx(1 / (1 + np.exp(-1)))
    asked = {"query": "q", "documents": [{"text": texts[0]}, *texts[1:]], "top_n": 2, "return_documents": True}
    cohere = client.post("/v1/rerank", json=asked).json()
    assert [(row["index"], row["document"]["text"]) for row in cohere["results"]] == [(2, texts[2]), (0, texts[0])]
    assert client.post("/v1/rerank", json=asked | {"model": "no"}).status_code == 404


def test_intents_answer_as_the_classifier_does(client: TestClient, encoder: HeadedEncoder) -> None:
    messages = ["i lost my card", ["hello", "what is my balance"], "zeppelin timetable"]
    answers = client.post("/v1/intents", json={"messages": messages, "examples": 2}).json()["answers"]
    folder = client.app.state.service.config.intents.folder  # type: ignore[attr-defined]
    direct = IntentClassifier.load(folder, encoder).answer(messages, examples=2)
    assert answers == [answer.as_dict() for answer in direct]
    assert [answer["decision"] for answer in answers][2] == "out_of_scope"
    assert answers[0]["intents"] == ["lost card"]


def test_examples_are_added_used_and_removed(client: TestClient) -> None:
    ask = {"messages": ["zeppelin timetable please"]}
    assert client.post("/v1/intents", json=ask).json()["answers"][0]["decision"] == "out_of_scope"
    new = [{"message": text, "intent": "zeppelin"} for text in ("zeppelin timetable", "zeppelin please")]
    assert client.post("/v1/intents/examples", json={"examples": new}).json() == {"examples": 10}
    assert client.post("/v1/intents", json=ask).json()["answers"][0]["candidates"][0]["intent"] == "zeppelin"
    listed = client.get("/v1/intents").json()
    assert {row["intent"]: row["examples"] for row in listed["intents"]}["zeppelin"] == 2
    assert listed["pool"] is None
    assert {row["believed"] for row in listed["intents"]} == {0}
    found = client.get("/v1/intents/examples", params={"intent": "zeppelin"}).json()["examples"]
    assert found == [["zeppelin timetable"], ["zeppelin please"]]
    gone = client.post("/v1/intents/examples/remove", json={"messages": ["zeppelin please"]})
    assert gone.json() == {"examples": 1}
    assert client.post("/v1/intents/examples/remove", json={"intents": ["zeppelin"]}).json() == {"examples": 1}
    unknown = client.post("/v1/intents/examples/remove", json={"intents": ["zeppelin"]})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "no_such_intent")
    none_left = client.post("/v1/intents/examples/remove", json={"intents": ["lost card", "balance"]})
    assert (none_left.status_code, none_left.json()["error"]["code"]) == (409, "impossible_change")
    assert {row["intent"] for row in client.get("/v1/intents").json()["intents"]} == {"lost card", "balance"}


def test_the_list_of_intents_says_what_the_pool_did(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    said = [f"{start} {text}" for start in ("hello", "please") for texts in INTENTS.values() for text in texts]
    with served(settings(tmp_path, **with_intents(tmp_path, encoder, said)), encoder) as client:
        listed = client.get("/v1/intents").json()
        assert listed["pool"]["messages"] == len(said)
        assert listed["pool"]["trusted"]
        assert 0 < listed["pool"]["believed"] == sum(row["believed"] for row in listed["intents"])
        assert "learned-section" in client.get("/").text


def test_an_intent_is_added_by_its_name_alone(client: TestClient) -> None:
    ask = {"messages": ["zeppelin timetable"]}
    new = {"examples": [{"intent": "zeppelin", "description": "zeppelin timetable"}, {"intent": "airport_taxi"}]}
    assert client.post("/v1/intents/examples", json=new).json() == {"examples": 8}
    assert client.post("/v1/intents", json=ask).json()["answers"][0]["candidates"][0]["intent"] == "zeppelin"
    taxi = client.post("/v1/intents", json={"messages": ["a taxi to the airport"]}).json()["answers"][0]
    assert taxi["candidates"][0]["intent"] == "airport_taxi"
    listed = {row["intent"]: row["examples"] for row in client.get("/v1/intents").json()["intents"]}
    assert (listed["zeppelin"], listed["airport_taxi"]) == (0, 0)
    found = client.get("/v1/intents/examples", params={"intent": "zeppelin"})
    assert (found.status_code, found.json()["examples"]) == (200, [])
    assert client.get("/v1/intents/examples", params={"intent": "no"}).status_code == 404
    gone = client.post("/v1/intents/examples/remove", json={"intents": ["zeppelin", "airport_taxi"]})
    assert gone.json() == {"examples": 0}


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/v1/embeddings", {"model": "toy", "input": 3}, "input"),
        ("/v1/embeddings", {"model": "toy", "input": [None]}, "input"),
        ("/v1/intents", {"messages": ["fine", 4]}, "messages.1"),
        ("/v1/intents/examples", {"examples": [{"message": "\n", "intent": "x"}]}, "examples.0.message"),
        ("/v1/replies", {"context": ["a"], "\ud800 (0x7f)": 1}, None),
    ],
)
def test_a_wrong_place_is_named_without_the_inside(
    client: TestClient, path: str, body: dict[str, object], place: str | None
) -> None:
    answer = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    found = answer.json()["error"]["param"]
    assert found == place or (found or "").startswith(f"{place}.")
    assert not re.search(r"function|0x|\[|\(", answer.text)


def test_a_search_whose_version_goes_meanwhile_is_repeated(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"context": ["and what does the sofa cost"], "k": 3}
    expected = client.post("/v1/replies", json=asked).json()
    replies = client.app.state.service.resources.replies  # type: ignore[attr-defined]

    class Gone:
        version = replies.index.version

        def suggest(self, *_: object, **__: object) -> None:
            raise RuntimeError("lance error: not found")

    monkeypatch.setattr(replies, "_index", Gone())
    assert client.post("/v1/replies", json=asked).json() == expected


def test_the_configuration_knows_all_modes() -> None:
    """It lists them itself: with the index's own list, `serve --init` would import Arrow."""
    assert get_args(ReplyServing.model_fields["mode"].annotation) == MODES


def test_a_request_without_a_mode_gets_that_of_the_configuration(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    parts = with_replies(tmp_path, encoder)
    parts["replies"]["mode"] = "text"
    with served(settings(tmp_path, keys=[], **parts), encoder) as client:

        def scores(**mode: str) -> list[float]:
            answer = client.post("/v1/replies", json={"context": ["what does the sofa cost"], **mode}).json()
            return [reply["score"] for reply in answer["replies"]]

        assert scores() == scores(mode="text")
        assert scores() != scores(mode="typical")


def test_unsure_replies_are_left_out_unless_a_request_names_a_mode(tmp_path: Path) -> None:
    encoder = HeadedEncoder()
    parts = with_replies(tmp_path, encoder)
    parts["replies"] |= {"mode": "typical", "min_score": 2.0}
    with served(settings(tmp_path, keys=[], **parts), encoder) as client:

        def suggested(**mode: str) -> int:
            asked = {"context": ["what does the sofa cost"], "conversation": "one", **mode}
            return len(client.post("/v1/replies", json=asked).json()["replies"])

        assert (suggested(), suggested(mode="typical"), suggested(mode="vector")) == (0, 5, 5)
    with pytest.raises(ValidationError, match="min_score needs mode: typical"):
        settings(tmp_path, replies={"folder": "replies", "min_score": 0.5})


def test_replies_are_suggested_with_sources_and_grow(client: TestClient) -> None:
    asked = {"context": ["and what does the sofa cost"], "k": 3}
    answer = client.post("/v1/replies", json=asked).json()
    found = client.app.state.service.resources.replies.index.suggest(asked["context"], 3)  # type: ignore[attr-defined]
    assert [reply["text"] for reply in answer["replies"]] == [suggestion.text for suggestion in found]
    assert answer["replies"][0]["sources"][0]["source"] == "chats"
    none = client.post("/v1/replies", json=asked | {"sources": ["it's; DROP"], "min_count": 1})
    assert (none.status_code, none.json()["replies"]) == (200, [])
    wrong = client.post("/v1/replies", json=asked | {"mode": "contexts"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "no_such_search")
    accepted = client.post("/v1/replies/conversations", json={"conversations": [CHAT]})
    assert (accepted.status_code, accepted.json()) == (202, {"accepted": 1, "pending": 1})
    deadline = time.monotonic() + 60
    text = ""
    while "zeppelin" not in text and time.monotonic() < deadline:
        time.sleep(0.2)
        text = client.post("/v1/replies", json={"context": ["does the zeppelin fly"], "k": 50}).text
    assert "The zeppelin flies every day but monday" in text


def test_health_info_models_and_metrics(client: TestClient) -> None:
    assert client.get("/health/live").json() == {"status": "live"}
    assert client.get("/health/ready").json() == {"status": "ready"}
    info = client.get("/info").json()
    assert info["model"] == {"name": "toy", "fingerprint": "toy-32", "dimension": 32, "heads": True}
    assert str(client.app.state.service.config.state) not in client.get("/info").text  # type: ignore[attr-defined]
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["toy", "length"]
    client.post("/v1/embeddings", json={"model": "toy", "input": "a"})
    metrics = client.get("/metrics").text
    assert 'turnloom_requests_total{method="POST",route="/v1/embeddings",status="200",tenant=""}' in metrics
    assert "turnloom_batch_items_bucket" in metrics
    client.get("/nowhere/at/all")
    assert "nowhere" not in client.get("/metrics").text


def test_the_page_and_its_files(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for name in ("page.css", "page.js"):
        assert name in page.text
        assert client.get(f"/page/{name}").status_code == 200
    assert client.get("/page/..%2Fconfig.yaml").status_code == 404
    assert client.get("/page/config.yaml").status_code == 404


def test_the_schema_has_an_example_for_every_request(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    for path, methods in schema["paths"].items():
        body = methods.get("post", {}).get("requestBody")
        if body:
            named = body["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
            assert schema["components"]["schemas"][named].get("examples"), path


def test_the_schema_describes_what_a_busy_or_damaged_service_answers(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    for path, methods in schema["paths"].items():
        for method, said in methods.items():
            answers = said["responses"]
            assert {"429", "503", "507"} <= set(answers), path
            assert all(len(answers[status]["description"]) > 20 for status in ("429", "503", "507")), (method, path)
            assert "Retry-After" in answers["429"]["headers"]
            assert "Retry-After" in answers["503"]["headers"]
