"""A collector of OpenTelemetry gets spans of every request and the same counts as Prometheus."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from tests.service.collector import collecting
from tests.service.test_tenants import tenant_keys, write_data
from tests.service.toy import HeadedEncoder, bearer, keys, listening, loaders, served, settings, with_intents
from turnloom.errors import TurnloomError
from turnloom.service import telemetry
from turnloom.service.app import create_app
from turnloom.service.monitoring import set_up_logs

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_every_request_has_spans_that_join_the_clients_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder = HeadedEncoder()
    write_data(tmp_path / "tenants" / "acme", "acme", encoder)
    set_up_logs("info")
    with collecting() as collector:
        changes = {"keys": [*keys(), tenant_keys()[0]], "telemetry": {"endpoint": collector.address}}
        app = create_app(settings(tmp_path, **changes), loaders(encoder))
        with listening(app) as address, httpx.Client(base_url=address) as client:
            asked = {"json": {"messages": ["card lost"]}}
            tenant = {"Authorization": "Bearer tw-acme", "X-Request-Id": "traced-1", "traceparent": PARENT}
            assert client.post("/v1/intents", headers=tenant, **asked).status_code == 200
            assert client.post("/v1/intents", **asked).status_code == 401
            poison = {"model": "toy", "input": "poison"}
            assert client.post("/v1/embeddings", headers=bearer("all"), json=poison).status_code == 500
            assert client.get("/health/live").status_code == 200
            assert client.get("/secret/of/a/user").status_code == 401
        # The service has stopped, and sent all that was left.
    spans = sorted(collector.spans, key=lambda span: span.begun)  # A request may end after the next has begun.
    roots = [span for span in spans if "http.route" in span.attributes]
    names = ["POST /v1/intents", "POST /v1/intents", "POST /v1/embeddings", "GET /health/live", "GET none"]
    assert [span.name for span in roots] == names
    first = roots[0]
    assert (first.trace, first.parent) == (PARENT[3:35], PARENT[36:52])
    assert first.attributes == {
        "http.request.method": "POST",
        "http.route": "/v1/intents",
        "http.response.status_code": 200,
        "turnloom.request_id": "traced-1",
        "turnloom.key": "acme",
        "turnloom.tenant": "acme",
    }
    steps = [span for span in spans if span.parent == first.id]
    assert [span.name for span in steps] == ["receive", "wait", "answer"]
    assert 0 < sum(span.seconds for span in steps) <= first.seconds
    assert first.resource["service.name"] == "turnloom"
    assert not roots[1].parent
    assert collector.total("http.server.request.duration", "/v1/intents") == 2
    assert collector.total("turnloom.refused_requests", "missing_key") == 2
    assert collector.total("turnloom.tokens") > 0
    assert collector.total("turnloom.batch.items") > 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    traces = [line["trace_id"] for line in lines if line["event"] == "request"]
    assert sorted(traces) == sorted(span.trace for span in roots)


def test_a_collector_that_is_gone_disturbs_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info")
    encoder = HeadedEncoder()
    nobody = {"telemetry": {"endpoint": "http://127.0.0.1:9"}}
    with served(settings(tmp_path, **with_intents(tmp_path, encoder), **nobody), encoder) as client:
        for _ in range(3):
            assert client.post("/v1/intents", json={"messages": ["card lost"]}).status_code == 200
        began = time.monotonic()
    assert time.monotonic() - began < 30
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    said = [line for line in lines if line["logger"].startswith("opentelemetry")]
    assert said, "the operator is told"
    assert all(line["level"] in ("warning", "error") for line in said)


def test_nothing_of_it_is_imported_when_it_is_off(tmp_path: Path) -> None:
    code = (
        "import sys; from turnloom.service import app, telemetry; from turnloom.service.config import ServiceConfig;"
        "telemetry.open_metrics(ServiceConfig(model={'path': 'model'}));"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "find_spec", lambda _: None)
    with pytest.raises(TurnloomError, match="OpenTelemetry") as caught:
        create_app(settings(tmp_path, telemetry={"endpoint": "http://127.0.0.1:9"}), loaders(HeadedEncoder()))
    assert "turnloom[otel]" in caught.value.fix


@pytest.mark.parametrize("endpoint", ["127.0.0.1:4318", "grpc://127.0.0.1:4317", "http://", "http://a/?b"])
def test_an_impossible_endpoint_is_refused(tmp_path: Path, endpoint: Any) -> None:
    with pytest.raises(ValidationError):
        settings(tmp_path, telemetry={"endpoint": endpoint})
