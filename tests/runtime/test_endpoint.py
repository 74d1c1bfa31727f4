"""An encoder behind an endpoint, against a real server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from turnloom.errors import TurnloomError
from turnloom.runtime.endpoint import ATTEMPTS, KEY_VARIABLE, EndpointEncoder


class Server(ThreadingHTTPServer):
    """Answers with the vectors of texts (their length and 1), after as many failures as are asked for."""

    failures: list[tuple[int, dict[str, str]]]
    requests: list[tuple[dict[str, Any], str | None]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((body, self.headers.get("authorization")))
        if self.server.failures:
            status, headers = self.server.failures.pop(0)
            return self._answer(status, {"error": "not now"}, headers)
        # Out of order, as the standard allows.
        rows = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(body["input"])]
        return self._answer(200, {"data": rows[::-1]}, {})

    def _answer(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    found = Server(("127.0.0.1", 0), Handler)
    found.failures, found.requests = [], []
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


def encoder(server: Server, waits: list[float] | None = None) -> EndpointEncoder:
    return EndpointEncoder(
        f"http://127.0.0.1:{server.server_port}/v1", "m", sleep=(waits if waits is not None else []).append
    )


def test_vectors_come_in_the_order_of_texts(server: Server) -> None:
    texts = ["a" * (n + 1) for n in range(150)]
    found = encoder(server).encode(texts)
    expected = np.array([[n + 1, 1] for n in range(150)]) / np.sqrt([[(n + 1) ** 2 + 1] for n in range(150)])
    assert np.allclose(found, expected)
    assert [len(body["input"]) for body, _ in server.requests] == [64, 64, 22]
    assert server.requests[0][0]["model"] == "m"


def test_what_may_pass_is_tried_again(server: Server) -> None:
    server.failures = [(503, {}), (429, {"retry-after": "7"}), (500, {"retry-after": "9999"})]
    waits: list[float] = []
    assert encoder(server, waits).encode(["abc"]).shape == (1, 2)
    assert waits == [0.5, 7.0, 30.0]


def test_attempts_are_bounded(server: Server) -> None:
    server.failures = [(503, {})] * 100
    waits: list[float] = []
    with pytest.raises(TurnloomError, match=r"did not answer \(503"):
        encoder(server, waits).encode(["abc"])
    assert len(server.requests) == ATTEMPTS == len(waits) + 1


def test_a_refusal_is_not_repeated(server: Server) -> None:
    server.failures = [(401, {})] * 2
    with pytest.raises(TurnloomError, match=r"refused \(401") as raised:
        encoder(server).encode(["abc"])
    assert KEY_VARIABLE in raised.value.fix
    assert len(server.requests) == 1


def test_no_server_is_said_so(server: Server) -> None:
    unused = encoder(server)
    server.shutdown()
    server.server_close()
    with pytest.raises(TurnloomError, match="did not answer"):
        unused.encode(["abc"])


def test_the_key_comes_from_the_environment_and_is_not_sent_in_the_clear(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    encoder(server).encode(["abc"])
    assert server.requests[0][1] == "Bearer secret"
    with pytest.raises(TurnloomError, match="unencrypted") as raised:
        EndpointEncoder("http://vectors.example/v1", "m")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["vectors.example/v1", "ftp://x/v1", "https://"])
def test_an_address_is_checked(url: str) -> None:
    with pytest.raises(TurnloomError, match="is not an endpoint's address"):
        EndpointEncoder(url, "m")
