"""OpenAI-compatible endpoints, and encoders behind one: `POST URL/embeddings`."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Context, Vectors, unit_rows

KEY_VARIABLE = "OPENAI_API_KEY"
ATTEMPTS, LONGEST_WAIT, TIMEOUT = 6, 30.0, 60.0
TEXTS_AT_A_TIME = 64


class Endpoint:
    """A path of an OpenAI-compatible server.

    Requests that fail temporarily (no connection, too many requests, a server error) are retried with growing waits, at
    most six attempts in all. The key comes from the environment variable `OPENAI_API_KEY`.

    Args:
        url: The server's address up to `/v1`.
        path: What follows it, such as `embeddings`.
        sleep: The function that waits between attempts.

    Raises:
        TurnloomError: If a key would be sent over an unencrypted connection to another machine.
    """

    def __init__(self, url: str, path: str, *, sleep: Callable[[float], None] = time.sleep) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise TurnloomError(f"{url!r} is not an endpoint's address", "write it as https://HOST/v1")
        key = os.environ.get(KEY_VARIABLE)
        local = address.hostname in ("127.0.0.1", "::1", "localhost")
        if key and address.scheme == "http" and not local:
            raise TurnloomError(
                f"{KEY_VARIABLE} would be sent to {address.hostname} unencrypted", "use https, or unset the variable"
            )
        self.url = f"{url.rstrip('/')}/{path}"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._sleep = sleep

    def post(self, body: dict[str, Any]) -> Any:
        """Send a request for `body["model"]` and return the answer's JSON.

        Raises:
            TurnloomError: If the server refuses, does not answer, or answers without JSON.
        """
        import httpx

        problem = ""
        for attempt in range(ATTEMPTS):
            wait = min(LONGEST_WAIT, 0.5 * 2**attempt)
            try:
                answer = httpx.post(self.url, json=body, headers=self._headers, timeout=TIMEOUT)
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            else:
                if answer.status_code == httpx.codes.OK:
                    return self._content(answer)
                problem = f"{answer.status_code}: {answer.text[:200]}"
                if answer.status_code != httpx.codes.TOO_MANY_REQUESTS and answer.status_code < 500:
                    raise TurnloomError(f"{self.url} refused ({problem})", _fix(answer.status_code, body["model"]))
                wait = _asked_wait(answer) or wait
            if attempt < ATTEMPTS - 1:
                self._sleep(wait)
        raise TurnloomError(f"{self.url} did not answer ({problem})", "check the server, then run the command again")

    def _content(self, answer: Any) -> Any:
        try:
            return answer.json()
        except ValueError as error:
            raise TurnloomError(f"{self.url} answered without JSON", "check the address") from error


def _fix(status: int, model: str) -> str:
    if status in (401, 403):
        return f"set {KEY_VARIABLE} to a key that the server accepts"
    return f"check the address, and that the server has a model {model!r}"


class EndpointEncoder:
    """Get embeddings from any server that speaks OpenAI's embeddings API, Turnloom's own service included.

    Requests are retried as `Endpoint` says. The key comes from the environment variable `OPENAI_API_KEY`.

    Args:
        url: The server's address up to `/v1`.
        model: The model's name on the server.
        sleep: The function that waits between attempts.

    Raises:
        TurnloomError: If a key would be sent over an unencrypted connection to another machine.
    """

    has_heads = False
    languages: frozenset[str] = frozenset()

    def __init__(self, url: str, model: str, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._endpoint = Endpoint(url, "embeddings", sleep=sleep)
        self.name, self.url = model, self._endpoint.url
        self.fingerprint = "endpoint-" + hashlib.sha256(f"{self.url}\x00{model}".encode()).hexdigest()[:23]

    def format_context(self, context: Context) -> str:
        """Join the turns, one per line."""
        return "\n".join(context)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning, as unit vectors."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        starts = range(0, len(texts), TEXTS_AT_A_TIME)
        return np.concatenate([self._request(list(texts[start : start + TEXTS_AT_A_TIME])) for start in starts])

    def encode_query(self, contexts: Sequence[Context]) -> Vectors:
        """Return the embeddings of contexts, their turns joined."""
        return self.encode([self.format_context(context) for context in contexts])

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies, the same as by meaning."""
        return self.encode(replies)

    def _request(self, texts: list[str]) -> Vectors:
        answer = self._endpoint.post({"model": self.name, "input": texts})
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise TurnloomError(f"{self.url} answered with no vectors ({error!r})", "check the address") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise TurnloomError(
                f"{self.url} answered {len(vectors)} vectors for {len(texts)} texts", "check the server"
            )
        return unit_rows(vectors)


def _asked_wait(answer: Any) -> float | None:
    """Return how long the server asks to wait, up to a limit."""
    asked = answer.headers.get("retry-after", "")
    return min(LONGEST_WAIT, float(asked)) if asked.replace(".", "", 1).isdigit() else None
