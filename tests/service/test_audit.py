"""Each change has its line in the audit log of its tenant, and nothing that users wrote is in it."""

from __future__ import annotations

import json
import multiprocessing
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.service.test_tenants import headers, secret, tenant_keys, write_data
from tests.service.toy import HeadedEncoder, bearer, keys, served, settings
from turnloom.service import audit
from turnloom.service.audit import Actor, AuditLog, digest
from turnloom.service.monitoring import set_up_logs

SAID = "nobody else has said this before"
TURNS = [{"speaker": "customer", "text": SAID}, {"speaker": "agent", "text": SAID}]
CHANGES: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "/v1/intents/examples": [
        (
            {"examples": [{"message": SAID, "intent": "new"}, {"intent": "later"}]},
            {"action": "intents.add", "examples": 1, "intents": ["later", "new"]},
        )
    ],
    "/v1/intents/examples/remove": [
        ({"messages": [SAID]}, {"action": "intents.remove", "examples": 1, "intents": []}),
        ({"intents": ["later"]}, {"action": "intents.remove", "examples": 0, "intents": ["later"]}),
    ],
    "/v1/replies/conversations": [
        (
            {"conversations": [{"id": "chat-of-jo", "turns": TURNS}]},
            {"action": "replies.add", "conversations": [digest("chat-of-jo")]},
        )
    ],
    "/v1/feedback": [
        (
            {"feedback": [{"about": "reply", "answer": "rejected", "text": SAID, "conversation": "chat-of-jo"}] * 2},
            {"action": "feedback.add", "feedback": {"reply rejected": 2}},
        )
    ],
    "/v1/erasures": [
        (
            {"conversations": ["chat-of-jo"]},
            {"action": "erase", "conversations": [digest("chat-of-jo")], "speakers": []},
        )
    ],
}
"""What to send to each route that changes a tenant's data, in this order, and what the log says then."""
OPERATION = {"/admin/reload": {"action": "reload"}, "/admin/snapshots": {"action": "snapshot"}}
READS = {"/v1/embeddings", "/rerank", "/v1/rerank", "/v1/intents", "/v1/replies"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    encoder = HeadedEncoder()
    write_data(tmp_path / "tenants" / "acme", "acme", encoder)
    with served(settings(tmp_path, keys=[*keys(), tenant_keys()[0]]), encoder) as found:
        yield found


def state(client: TestClient) -> Path:
    config = client.app.state.service.config  # type: ignore[attr-defined]
    return Path(config.tenants) / "acme" / "state"


def test_every_change_has_its_line(client: TestClient) -> None:
    spec = client.get("/openapi.json").json()["paths"]
    changing = {path for path, methods in spec.items() if set(methods) - {"get"}}
    assert changing == {*CHANGES, *OPERATION, *READS}, "every route is either tried or only reads"
    number = 0
    for path, sent in CHANGES.items():
        for body, said in sent:
            named = headers("acme") | {"X-Request-Id": f"request-{number}"}
            assert client.post(path, json=body, headers=named).status_code < 300
            lines = AuditLog(state(client)).read()
            assert len(lines) == number + 1
            who = {"key": "acme", "tenant": "acme", "request_id": f"request-{number}"}
            assert {name: value for name, value in lines[-1].items() if name != "time"} == who | said
            number += 1
    own = Path(client.app.state.service.config.state)  # type: ignore[attr-defined]
    for before, (path, said) in enumerate(OPERATION.items()):
        assert len(AuditLog(own).read()) == before
        assert client.post(path, headers=bearer("all")).status_code < 300
        line = AuditLog(own).read()[-1]
        assert line.items() >= {"key": "all", **said}.items()
    (path,) = state(client).glob("audit.jsonl")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not any(text in path.read_text() for text in (SAID, "chat-of-jo"))


def test_reading_leaves_no_line(client: TestClient) -> None:
    for path in READS:
        client.post(path, json={}, headers=headers("acme"))
    client.post("/v1/intents", json={"messages": ["hi"]}, headers=headers("acme"))
    client.post("/v1/intents/examples", json={"wrong": 1}, headers=headers("acme"))
    assert not AuditLog(state(client)).read()


def test_a_change_that_fails_has_a_second_line(client: TestClient) -> None:
    names = {"intents": [f"{secret('acme')} a", f"{secret('acme')} b"]}
    assert client.post("/v1/intents/examples/remove", json=names, headers=headers("acme")).status_code == 409
    first, second = AuditLog(state(client)).read()
    assert "failed" not in first
    assert second["failed"] == "TurnloomError"
    assert first["request_id"] == second["request_id"]


def test_what_cannot_be_logged_is_not_changed(client: TestClient) -> None:
    before = client.get("/v1/intents", headers=headers("acme")).json()
    (state(client) / "audit.jsonl").mkdir()  # Cannot be written to, not even by root.
    body = CHANGES["/v1/intents/examples"][0][0]
    assert client.post("/v1/intents/examples", json=body, headers=headers("acme")).status_code == 507
    assert client.get("/v1/intents", headers=headers("acme")).json() == before


def _write(folder: str, writer: int, count: int) -> None:
    audit.FILE_BYTES = 2_000
    for number in range(count):
        with AuditLog(Path(folder)).change(Actor(command="test"), "change", writer=writer, number=number):
            pass


def test_processes_lose_no_line_when_files_are_set_aside(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write, args=(str(tmp_path), writer, 60)) for writer in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    lines = AuditLog(tmp_path).read()
    assert sorted((line["writer"], line["number"]) for line in lines) == [(w, n) for w in range(3) for n in range(60)]
    assert len(list(tmp_path.glob("audit-*.jsonl"))) > 3
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)


def test_the_log_is_bounded_and_damage_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "FILES", 3)
    monkeypatch.setattr(audit, "FILE_BYTES", audit.FILE_BYTES)
    _write(str(tmp_path), 0, 200)
    assert len(list(tmp_path.glob("audit*.jsonl"))) == 3
    lines = AuditLog(tmp_path).read()
    assert lines[-1]["number"] == 199
    newest = tmp_path / "audit.jsonl"
    newest.write_bytes(newest.read_bytes().replace(b'"test"', b'"best"', 1))
    assert len(AuditLog(tmp_path).read()) == len(lines) - 1
    assert json.loads(newest.read_text().splitlines()[0])["command"] == "best"


def test_log_lines_of_a_request_join_by_its_id(client: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info")
    (state(client) / "intents.jsonl").write_text('{"damaged": 1, "crc32": "00000000"}\n')
    client.get("/v1/intents", headers=headers("acme") | {"X-Request-Id": "join-me"})
    client.get("/v1/intents", headers=headers("acme") | {"X-Request-Id": "and-me"})
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    joined = [line["event"] for line in lines if line.get("request_id") == "join-me"]
    assert joined == ["damaged line skipped", "request"], "the first is logged by a thread"
    assert [line["event"] for line in lines if line.get("request_id") == "and-me"] == ["request"]
