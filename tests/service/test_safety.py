"""Who may do what, how much of it, and what nobody is told."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.service.toy import KEYS, HeadedEncoder, bearer, keys, served, settings
from turnloom.errors import TurnloomError
from turnloom.service.config import KeyEntry, ServiceConfig
from turnloom.service.config_file import config_text, load_config
from turnloom.service.guard import too_deep
from turnloom.service.keys import Buckets, find_key, hashed, new_key
from turnloom.service.monitoring import JsonFormatter

EMBED = {"model": "toy", "input": "hello"}
ROUTES = [
    ("POST", "/v1/embeddings", EMBED),
    ("GET", "/v1/models", None),
    ("POST", "/rerank", {"query": "a", "texts": ["b"]}),
    ("POST", "/v1/rerank", {"query": "a", "documents": ["b"]}),
    ("POST", "/v1/replies", {"context": ["a"]}),
    ("POST", "/v1/replies/conversations", {"conversations": []}),
    ("POST", "/v1/intents/examples", {"examples": []}),
    ("POST", "/v1/intents/examples/remove", {}),
    ("GET", "/info", None),
    ("GET", "/metrics", None),
    ("POST", "/admin/reload", None),
]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("guarded")
    limits = {"body_bytes": 2_000, "json_depth": 6}
    config = settings(folder, keys=keys(), limits=limits, cors_origins=["https://example.org"])
    with served(config, HeadedEncoder()) as client:
        yield client


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_no_route_without_its_key_and_scope(guarded: TestClient, method: str, path: str, body: dict | None) -> None:
    def code(headers: dict[str, str]) -> tuple[int, str]:
        answer = guarded.request(method, path, json=body, headers=headers)
        return answer.status_code, answer.json()["error"]["code"]

    assert code({}) == (401, "missing_key")
    assert code({"Authorization": "Bearer tw-guess"}) == (401, "wrong_key")
    assert code({"Authorization": f"Basic {KEYS['all']}"}) == (401, "missing_key")
    assert code(bearer("reader")) == (403, "beyond_scope")


def test_every_route_but_the_public_ones_needs_a_key(guarded: TestClient) -> None:
    for path, methods in guarded.get("/openapi.json").json()["paths"].items():
        for method in methods:
            answer = guarded.request(method.upper(), path)
            assert (answer.status_code == 401) == (not path.startswith("/health")), path


def test_a_key_opens_its_scopes(guarded: TestClient) -> None:
    assert guarded.post("/v1/embeddings", json=EMBED, headers=bearer("all")).status_code == 200
    assert guarded.get("/v1/intents", headers=bearer("reader")).json()["error"]["code"] == "not_served"


def test_a_rate_is_kept_and_says_when(guarded: TestClient) -> None:
    answers = [guarded.post("/v1/embeddings", json=EMBED, headers=bearer("slow")) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[3].headers["retry-after"]) <= 20
    assert guarded.post("/v1/embeddings", json=EMBED, headers=bearer("all")).status_code == 200


def test_buckets_are_shared_by_processes_and_refill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000.0]
    monkeypatch.setattr("turnloom.service.keys.time.time", lambda: clock[0])
    one, two = (Buckets(tmp_path / "rates", [None, 2]) for _ in range(2))
    assert [one.take(1), two.take(1)] == [0, 0]
    assert one.take(1) == pytest.approx(30)
    assert two.take(0) == 0
    clock[0] += 30
    assert two.take(1) == 0
    assert one.take(1) > 0
    one.close()
    two.close()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"model": "toy", "input": "' + b"a" * 3_000 + b'"}', 413, "too_large"),
        (b'{"input": ' + b"[" * 20 + b"]" * 20 + b"}", 400, "too_deep"),
        (b'{"input": ', 422, "json_invalid"),
        (b"\xff\xfe", 422, "json_invalid"),
        (b"[]", 422, "model_attributes_type"),
        (b"", 422, "missing"),
    ],
)
def test_bodies_that_are_refused(guarded: TestClient, body: bytes, status: int, code: str) -> None:
    headers = {**bearer("all"), "Content-Type": "application/json"}
    answer = guarded.post("/v1/embeddings", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code


def test_a_body_that_grows_is_stopped(guarded: TestClient) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(10):
            yield b"x" * 1_000

    answer = guarded.post("/v1/embeddings", content=parts(), headers=bearer("all"))
    assert answer.status_code == 413


def test_depth_is_counted_outside_of_strings() -> None:
    assert too_deep(b'[["]]]]"]]', 1)
    assert not too_deep(b'["[[[[[[", "\\"[[[["]', 1)
    assert too_deep(b"[" * 100_000, 99)


def test_errors_tell_nothing_of_the_inside_and_logs_nothing_of_the_text(
    guarded: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "turnloom.service"):
        given = {"X-Request-Id": "my-id-1"}
        answer = guarded.post("/v1/embeddings", json=EMBED | {"input": "poison"}, headers=bearer("all") | given)
        guarded.post("/v1/embeddings", json=EMBED | {"input": "my name is Ada"}, headers=bearer("all"))
    assert answer.status_code == 500
    assert answer.headers["x-request-id"] == "my-id-1"
    assert answer.json()["error"]["code"] == "internal_error"
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    lines = [JsonFormatter().format(record) for record in caplog.records if record.name == "turnloom.service"]
    entries = [json.loads(line) for line in lines]
    assert any("ValueError" in str(entry.get("trace")) and entry["request_id"] == "my-id-1" for entry in entries)
    assert [entry["status"] for entry in entries if entry["event"] == "request"] == [500, 200]
    assert not any(word in line for line in lines for word in ("poison", "Ada", KEYS["all"]))


def test_texts_are_logged_when_asked_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = settings(tmp_path, logs={"texts": True})
    with served(config, HeadedEncoder()) as client, caplog.at_level(logging.INFO, "turnloom.service"):
        client.post("/v1/embeddings", json=EMBED | {"input": "my name is Ada"})
    assert any("Ada" in JsonFormatter().format(record) for record in caplog.records)


def test_only_named_origins_may_call(guarded: TestClient) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    good = guarded.options("/v1/embeddings", headers={"Origin": "https://example.org", **asked})
    assert good.headers["access-control-allow-origin"] == "https://example.org"
    bad = guarded.options("/v1/embeddings", headers={"Origin": "https://evil.example", **asked})
    assert "access-control-allow-origin" not in bad.headers
    refused = guarded.post("/v1/embeddings", json={}, headers={"Origin": "https://example.org"})
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://example.org"


def test_a_string_that_never_ends_takes_no_time() -> None:
    begun = time.perf_counter()
    assert too_deep(b"[" * 17 + b'"' + b'\\"' * 400_000, 16)
    assert time.perf_counter() - begun < 5


def test_odd_request_ids_are_replaced(guarded: TestClient) -> None:
    answer = guarded.get("/health/live", headers={"X-Request-Id": "x" * 65})
    assert len(answer.headers["x-request-id"]) == 32
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_keys_are_stored_as_hashes_and_found_whole() -> None:
    key = new_key()
    entries = [KeyEntry(name="a", hash=hashed(key), scopes=frozenset(["rerank"]))]
    found = find_key(entries, key)
    assert found is not None
    assert found[1].name == "a"
    assert find_key(entries, key[:-1]) is None
    assert find_key(entries, "") is None
    assert key not in entries[0].model_dump_json()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cors_origins": ["*"]}, "without *"),
        ({"host": "0.0.0.0"}, "without keys only 127.0.0.1"),
        ({"mystery": 1}, "Extra inputs"),
        ({"keys": [keys()[0], keys()[0]]}, "same name"),
        ({"keys": [{"name": "a", "hash": "plain", "scopes": []}]}, "pattern"),
        ({"keys": [{**keys()[0], "scopes": ["everything"]}]}, "Input should be"),
    ],
)
def test_unsafe_settings_are_refused(changes: dict, said: str) -> None:
    with pytest.raises(ValueError, match="validation error") as refused:
        ServiceConfig.model_validate({"model": {"path": "model"}} | changes)
    assert said in str(refused.value)


def test_models_come_from_allowed_folders_only(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "outside")
    for path in ("outside", "inside/../outside", "inside/link", "/etc"):
        config = ServiceConfig.model_validate({"model": {"path": path}, "allowed_folders": ["inside"]})
        with pytest.raises(TurnloomError, match="not below an allowed folder"):
            config.within(tmp_path)


def test_the_commented_configuration_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(config_text(), encoding="utf-8")
    found = load_config(tmp_path / "config.yaml")
    assert found == ServiceConfig.model_validate({"model": {"path": "model"}}).within(tmp_path)
    for text, said in (("model: [", "is not valid YAML"), ("model: {path: m}\nport: x", "port: "), ("", "the file: ")):
        (tmp_path / "wrong.yaml").write_text(text, encoding="utf-8")
        with pytest.raises(TurnloomError, match=said):
            load_config(tmp_path / "wrong.yaml")
    with pytest.raises(TurnloomError, match="cannot be read"):
        load_config(tmp_path / "nowhere.yaml")


@pytest.fixture(scope="module")
def keyless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("keyless")
    with served(
        settings(folder, hosts=["chat.example.org"], cors_origins=["https://app.example"]), HeadedEncoder()
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost", 200),
        ("LOCALHOST.:80", 200),
        ("[::1]:8000", 200),
        ("chat.example.org", 200),
        ("rebound.example", 403),
        ("127.0.0.1.rebound.example:8000", 403),
        ("rebound.example@localhost:1:2", 403),
        ("[::1", 403),
        ("", 403),
    ],
)
def test_without_keys_only_known_names_reach_it(keyless: TestClient, host: str, status: int) -> None:
    answer = keyless.post("/v1/embeddings", json=EMBED, headers={"Host": host})
    assert answer.status_code == status
    assert status == 200 or answer.json()["error"]["code"] == "wrong_host"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://127.0.0.1"}, 202),
        ({"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}, 202),
        ({"Sec-Fetch-Site": "none"}, 202),
        ({"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}, 202),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_without_keys_other_sites_change_nothing(keyless: TestClient, headers: dict[str, str], status: int) -> None:
    answer = keyless.post("/admin/reload", headers=headers)
    assert answer.status_code == status
    assert status == 202 or answer.json()["error"]["code"] == "cross_site"


def test_keys_are_enough(guarded: TestClient) -> None:
    headers = bearer("all") | {"Host": "anything.example", "Origin": "https://evil.example"}
    assert guarded.post("/v1/embeddings", json=EMBED, headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/metrics/", "/v1/models/", "/health/ready/"])
def test_no_redirect_is_built_from_the_host(keyless: TestClient, path: str) -> None:
    answer = keyless.get(path, follow_redirects=False)
    assert answer.status_code == 404
    assert "location" not in answer.headers
