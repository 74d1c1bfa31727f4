"""Connections that are slow, or have too much to say before they ask."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.toy import KEYS, HeadedEncoder, keys, listening, loaders, settings
from turnloom.service.app import create_app
from turnloom.service.protocol import HEADER_BYTES, HEADERS, HOLD_SECONDS


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder: Path = tmp_path_factory.mktemp("protocol")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("turnloom.service.protocol.HEADER_SECONDS", 1.0)
        with listening(create_app(settings(folder, keys=keys()), loaders(HeadedEncoder()))) as address:
            yield int(address.rsplit(":", 1)[1])


def ask(port: int, *parts: bytes, seconds: float = 20) -> tuple[int, str]:
    """The status and the code of the answer; 0 if the connection is closed without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as line:
        received = b""
        try:
            for part in parts:
                line.sendall(part)
            while data := line.recv(65_536):
                received += data
        except ConnectionError:
            pass
    head, _, body = received.partition(b"\r\n\r\n")
    code = json.loads(body).get("error", {}).get("code", "") if body.startswith(b"{") else ""
    return (int(head[9:12]) if head else 0), code


HEAD = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([HEAD, b"\r\n"], (200, "")),
        ([HEAD, b"X-A: b\r\n" * (HEADERS - 5), b"\r\n"], (200, "")),
        ([HEAD, b"X-A: b\r\n" * (HEADERS + 5), b"\r\n"], (431, "headers_too_large")),
        ([HEAD, b"X-A: " + b"b" * HEADER_BYTES + b"\r\n\r\n"], (431, "headers_too_large")),
        ([b"GET /" + b"a" * HEADER_BYTES + b" HTTP/1.1\r\n", b"Host: localhost\r\n\r\n"], (431, "headers_too_large")),
        ([HEAD, b"X-A: " + b"b" * 10 * HEADER_BYTES], (431, "headers_too_large")),
        ([HEAD, b"X"], (408, "slow_headers")),
        ([b""], (408, "slow_headers")),
        ([b"nonsense\r\n\r\n"], (400, "bad_request")),
    ],
    ids=["usual", "many", "too many", "too long", "long path", "endless", "half", "nothing", "nonsense"],
)
def test_heads_are_bounded(port: int, parts: list[bytes], expected: tuple[int, str]) -> None:
    began = time.monotonic()
    assert ask(port, *parts) == expected
    assert time.monotonic() - began < 15


def test_a_long_body_is_not_a_long_head(port: int) -> None:
    body = json.dumps({"model": "toy", "input": ["a b " * 1_000] * 4}).encode()
    head = HEAD.replace(b"GET /health/live", b"POST /v1/embeddings") + b"Content-Type: application/json\r\n"
    head += f"Authorization: Bearer {KEYS['all']}\r\n".encode()
    assert ask(port, head + b"Content-Length: %d\r\n\r\n" % len(body) + body) == (200, "")


def test_half_requests_do_not_pile_up(port: int) -> None:
    lines = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(200)]
    for line in lines:
        line.sendall(HEAD)
    closed = 0
    for line in lines:
        while data := line.recv(4_096):
            assert data.startswith(b"HTTP/1.1 408")
        closed += 1
        line.close()
    assert closed == 200


@pytest.mark.parametrize("together", [1, 50])
def test_a_client_that_asks_again_at_once_is_refused_a_few_times_per_second(port: int, together: int) -> None:
    """Otherwise its refusals take the processor from requests that were admitted."""
    limited = f"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEYS['slow']}\r\n\r\n".encode()
    asked, answers = 0, b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        until = time.monotonic() + 1
        while time.monotonic() < until:
            line.sendall(limited * together)
            asked += together
            while time.monotonic() < until and answers.count(b"HTTP/1.1") < asked:
                answers += line.recv(65_536)
    assert 2 <= answers.count(b"HTTP/1.1 429") <= 1 / HOLD_SECONDS + 1
