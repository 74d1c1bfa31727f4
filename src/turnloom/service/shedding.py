"""Refuse a request on its headers alone: under overload most are refused, so that must cost next to nothing.

A server calls `Shedder.refusal` before it makes anything for a request. The guard decides in the same way for servers
that don't.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.types import Scope

from turnloom.service.admission import Admission, Work
from turnloom.service.config import ServiceConfig
from turnloom.service.errors import RefusedError, error_body, request_id
from turnloom.service.keys import find_key, sent_key, tenant_of
from turnloom.service.monitoring import AnsweredRequest, Metrics

PUBLIC = ("/", "/health/live", "/health/ready", "/openapi.json")
"""Paths that need no key, besides the page's own files."""
NEVER_WAIT = (*PUBLIC, "/metrics", "/v1/erasures", "/admin/snapshots")
"""Paths that are answered however much waits: an operator needs them then most. What takes long has its own thread."""
REFUSAL = "turnloom.refusal"
"""Where the app's state holds the function for the server."""
ASKED_TOO_SOON = "turnloom.asked_too_soon"
"""What the state of a request has that was answered with 429: the server may take its time to read the next."""
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def is_page(path: str) -> bool:
    """Whether a path is one of the page's own files."""
    return path.startswith("/page/")


def never_waits(path: str) -> bool:
    """Whether a path is answered however much waits."""
    return path in NEVER_WAIT or is_page(path)


def work_of(admission: Admission, scope: Scope, headers: Headers, key: str, route: str, deadline: float) -> Work:
    """Estimate the work of a request from its headers."""
    length = headers.get("content-length", "0")
    size = int(length) if length.isdecimal() else 0
    return Work(admission, key, f"{scope['method']} {route}" if route else "", size, deadline)


class Shedder:
    """Refuses requests that would wait too long, or to a route that is full. All others are left to the guard.

    Args:
        config: The keys and limits.
        metrics: Counts refusals.
        admission: Predicts the wait.
        paths: Those of the routes.
        draining: Whether this worker stops: then the guard's answers close their connections.
    """

    def __init__(
        self,
        config: ServiceConfig,
        metrics: Metrics,
        admission: Admission,
        paths: Iterable[str],
        draining: Callable[[], bool],
    ) -> None:
        self._keys, self._seconds = config.keys, config.limits.request_seconds
        # Pages of these origins can only read answers with the headers that the app adds.
        self._origins = bool(config.cors_origins)
        self._admission, self._metrics, self._paths = admission, metrics, frozenset(paths)
        self._draining = draining

    def refusal(self, scope: Scope) -> bytes | None:
        """Return the whole HTTP/1.1 response to a request that must not wait; None if it may."""
        path, headers = scope["path"], Headers(scope=scope)
        if never_waits(path) or self._draining() or (self._origins and "origin" in headers):
            return None
        key = None
        if self._keys:
            found = find_key(self._keys, sent_key(headers))
            if found is None:
                return None
            key = found[1]
        name = key.name if key else ""
        route = path if path in self._paths else ""
        now = time.monotonic()
        try:
            self._admission.check(work_of(self._admission, scope, headers, name, route, now + self._seconds))
        except RefusedError as refused:
            route, method, seconds = route or "none", scope["method"], time.monotonic() - now
            self._metrics.answered(route, method, 429, seconds, tenant_of(key))
            self._metrics.refuse(refused.code, tenant_of(key))
            head, identity = (
                _head_and_body(refused.code, refused.message, refused.headers["Retry-After"]),
                request_id(headers),
            )
            if self._metrics.traces:
                self._metrics.trace(AnsweredRequest(headers, identity, route, method, 429, key, seconds))
            return head[0] + identity.encode() + head[1]
        return None


@lru_cache(maxsize=128)
def _head_and_body(code: str, message: str, retry_after: str) -> tuple[bytes, bytes]:
    """Return the response before and after the request id."""
    body = error_body(RefusedError(429, code, message))
    lines = [
        "HTTP/1.1 429 Too Many Requests",
        "content-type: application/json",
        f"content-length: {len(body)}",
        f"retry-after: {retry_after}",
        *(f"{name.lower()}: {value}" for name, value in SECURITY_HEADERS.items()),
        "x-request-id: ",
    ]
    return "\r\n".join(lines).encode(), b"\r\n\r\n" + body
