"""The middleware around every route: request id, key, admission, rate limit, size, depth, time limit, and the log.

Plain ASGI, because it must read the body itself: only then does it notice a client that disconnects during computation.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turnloom.service.admission import Admission, Work
from turnloom.service.browsers import BrowserCheck
from turnloom.service.config import KeyEntry, ServiceConfig
from turnloom.service.errors import NotSavedError, RefusedError, error_response, request_id
from turnloom.service.keys import Buckets, find_key, sent_key, tenant_of
from turnloom.service.monitoring import METHODS, REQUEST_ID, AnsweredRequest, Metrics, trace_of
from turnloom.service.shedding import ASKED_TOO_SOON, PUBLIC, SECURITY_HEADERS, is_page, never_waits, work_of

# The closing quote is optional: otherwise each quote of an unterminated string would scan to the end again.
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
_log = logging.getLogger("turnloom.service")


def too_deep(body: bytes, limit: int) -> bool:
    """Whether brackets nest deeper than a limit, ignoring strings.

    Example:
        >>> too_deep(b'{"a": ["[[[["]}', 2), too_deep(b'{"a": [[]]}', 2)
        (False, True)
    """
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    depth = 0
    for bracket in _BRACKETS.finditer(_STRINGS.sub(b"", body)):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > limit:
            return True
    return False


@dataclass
class _Passage:
    """One request in progress."""

    request_id: str
    deadline: float
    work: Work | None = None
    key: KeyEntry | None = None
    status: int = 0
    body: bytes = b""
    began: float = field(default_factory=time.perf_counter)
    steps: list[tuple[str, float]] = field(default_factory=list)

    def end_step(self, name: str) -> None:
        """Write down when a step ended, for traces."""
        self.steps.append((name, time.perf_counter() - self.began))


@dataclass(frozen=True)
class Gates:
    """What a request must pass, and what exists only while the app runs."""

    admission: Admission
    buckets: Buckets
    draining: Callable[[], bool]


class Guard:
    """Wraps the whole app; `gates` returns what exists once the app has started.

    `paths` are those of the routes: how long requests take is learned for each.
    """

    def __init__(
        self, app: ASGIApp, config: ServiceConfig, metrics: Metrics, gates: Callable[[], Gates], paths: frozenset[str]
    ) -> None:
        self._app = app
        self._limits = config.limits
        self._logs = config.logs
        self._keys = config.keys
        self._metrics = metrics
        self._gates, self._paths = gates, paths
        self._browsers = BrowserCheck(config)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever happens inside."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        deadline = time.monotonic() + self._limits.request_seconds
        passage = _Passage(request_id(Headers(scope=scope)), deadline)
        REQUEST_ID.set(passage.request_id)  # Servers run each request in a context of its own.

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                passage.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = passage.request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if self._gates().draining():
                    headers["Connection"] = "close"  # The next request must go to another worker.
            await send(message)

        try:
            self._admit(scope, passage)
            passage.body = await self._body(scope, receive, passage.deadline)
            passage.end_step("receive")
            scope.setdefault("state", {}).update(
                key=passage.key, request_id=passage.request_id, deadline=passage.deadline
            )
            await self._carry_out(scope, receive, answer, passage)
        except RefusedError as refused:
            await self._refuse(refused, scope, receive, answer, passage)
        except _ClientLeftError:
            passage.status = 499
        except Exception as error:
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                await self._refuse(NotSavedError(), scope, receive, answer, passage)
                return
            _log.error("failed", extra={"request_id": passage.request_id, "trace": trace_of(error)})
            message = "Something went wrong; the request id tells the operator what."
            await self._refuse(RefusedError(500, "internal_error", message), scope, receive, answer, passage)
        finally:
            self._record(scope, passage)

    async def _refuse(
        self, refused: RefusedError, scope: Scope, receive: Receive, send: Send, passage: _Passage
    ) -> None:
        self._metrics.refuse(refused.code, tenant_of(passage.key))
        if refused.status == 429:
            scope.setdefault("state", {})[ASKED_TOO_SOON] = True
        if not passage.status:
            await error_response(refused)(scope, receive, send)

    def _admit(self, scope: Scope, passage: _Passage) -> None:
        """Authenticate the key, refuse what would wait too long, and apply the key's rate limit."""
        headers, gates = Headers(scope=scope), self._gates()
        self._browsers.check(scope["method"], headers)
        number = self._authenticate(scope["path"], headers, passage)
        if not never_waits(scope["path"]):
            name = passage.key.name if passage.key else ""
            passage.work = work_of(gates.admission, scope, headers, name, self._route(scope), passage.deadline)
            gates.admission.check(passage.work)
        if number is None:
            return
        seconds = gates.buckets.take(number)
        if seconds:
            raise RefusedError(429, "rate_limit", "This key's rate is used up.", retry_after=ceil(seconds))
        if passage.work is not None:
            passage.work.take_tokens = partial(gates.buckets.take, len(self._keys) + number)

    def _authenticate(self, path: str, headers: Headers, passage: _Passage) -> int | None:
        """Return the index of the request's key; None if none is needed."""
        if not self._keys or path in PUBLIC or is_page(path):
            return None
        key = sent_key(headers)
        if not key:
            raise RefusedError(401, "missing_key", "Send a key as: Authorization: Bearer KEY.")
        match = find_key(self._keys, key)
        if match is None:
            raise RefusedError(401, "wrong_key", "This key is not known.")
        number, passage.key = match
        return number

    async def _body(self, scope: Scope, receive: Receive, deadline: float) -> bytes:
        """Read the whole body, unless it is too large, too deep or too slow."""
        limit = self._limits.body_bytes
        too_large = RefusedError(413, "too_large", f"A request may have {limit} bytes.")
        length = Headers(scope=scope).get("content-length", "0")
        if length.isdecimal() and int(length) > limit:
            raise too_large
        parts, size = [], 0
        while True:
            try:
                message = await asyncio.wait_for(receive(), max(0.0, deadline - time.monotonic()))
            except asyncio.TimeoutError:
                raise RefusedError(408, "slow_body", "The request did not arrive in time.") from None
            if message["type"] == "http.disconnect":
                raise _ClientLeftError
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise too_large
            if not message.get("more_body"):
                break
        body = b"".join(parts)
        if too_deep(body, self._limits.json_depth):
            raise RefusedError(400, "too_deep", f"JSON may be nested {self._limits.json_depth} levels deep.")
        return body

    async def _carry_out(self, scope: Scope, receive: Receive, send: Send, passage: _Passage) -> None:
        """Run the route until it is done, its client disconnects, or its time is up."""
        given = False

        async def replay() -> Message:
            nonlocal given
            if not given:
                given = True
                return {"type": "http.request", "body": passage.body, "more_body": False}
            await asyncio.Event().wait()  # The body is complete; from here on, only watch for a disconnect.
            raise AssertionError

        async def run() -> None:
            if passage.work is None:
                await self._app(scope, replay, send)
                return
            passage.work.resize(len(passage.body))
            await self._gates().admission.enter(passage.work)
            passage.end_step("wait")
            try:
                await self._app(scope, replay, send)
            finally:
                passage.end_step("answer")
                passage.work.release()

        work = asyncio.ensure_future(run())
        left = asyncio.ensure_future(receive())
        try:
            rest = max(0.0, passage.deadline - time.monotonic())
            await asyncio.wait({work, left}, timeout=rest, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                if passage.work is not None:
                    passage.work.abandon()
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
                if left.done():
                    raise _ClientLeftError
                raise RefusedError(504, "timeout", f"No answer within {self._limits.request_seconds:g} s.")
            await work
        finally:
            for task in (work, left):
                task.cancel()

    def _route(self, scope: Scope) -> str:
        """Return the path of a request if it is a route. Anyone could fill the metrics with others."""
        path: str = scope["path"]
        return path if path in self._paths else ""

    def _record(self, scope: Scope, passage: _Passage) -> None:
        seconds = time.perf_counter() - passage.began
        route = getattr(scope.get("route"), "path", self._route(scope) or "none")
        self._metrics.answered(route, scope["method"], passage.status, seconds, tenant_of(passage.key))
        trace_id = self._trace(scope, passage, route, seconds) if self._metrics.traces else ""
        if not _log.isEnabledFor(logging.INFO):
            return
        extra: dict[str, Any] = {
            "request_id": passage.request_id,
            "route": route,
            "method": scope["method"] if scope["method"] in METHODS else "other",
            "status": passage.status,
            "ms": round(1000 * seconds, 2),
            "key": passage.key.name if passage.key else None,
            "bytes": len(passage.body),
        }
        if tenant := tenant_of(passage.key):
            extra["tenant"] = tenant
        if trace_id:
            extra["trace_id"] = trace_id
        if self._logs.texts:
            extra["body"] = passage.body.decode("utf-8", "replace")
        _log.info("request", extra=extra)

    def _trace(self, scope: Scope, passage: _Passage, route: str, seconds: float) -> str:
        request = AnsweredRequest(
            headers=Headers(scope=scope),
            request_id=passage.request_id,
            route=route,
            method=scope["method"],
            status=passage.status,
            key=passage.key,
            seconds=seconds,
            steps=passage.steps,
        )
        return self._metrics.trace(request)


class _ClientLeftError(Exception):
    """The client has disconnected."""
