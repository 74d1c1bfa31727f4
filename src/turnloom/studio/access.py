"""Who may open the studio: this machine, or whoever has the key; and what its pages may load."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from turnloom.service.browsers import LOCAL, check_host, check_origin
from turnloom.service.errors import RefusedError
from turnloom.service.keys import hashed
from turnloom.studio.page.parts import asset

COOKIE = "turnloom_studio"
WEEK = 7 * 24 * 3600
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'self'; "
    "object-src 'none'; frame-ancestors 'self'"
)
"""Gradio needs inline scripts; what keeps texts from being scripts is that they are escaped. Frames come last."""
LONGEST_FORM = 2_000


def is_local(host: str) -> bool:
    """Whether an address can only be reached from this machine."""
    return host in LOCAL


class Access:
    """Lets requests through that come from this machine's own pages, or with the key.

    Args:
        app: What is protected.
        key: The key; None if only this machine can reach the studio.
        host: The address that it listens at, or the name that it is called by.
        shown_in: Sites whose pages may show it inside them.
    """

    def __init__(self, app: Any, key: str | None, host: str, shown_in: Sequence[str] = ()) -> None:
        self._app, self._hash = app, None if key is None else hashed(key)
        self._policy = " ".join([POLICY, *shown_in])
        self._names = {*LOCAL, host}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":  # Gradio needs no web sockets.
            await send({"type": "websocket.close", "code": 1008})
        elif (refused := await self._refusal(scope, receive)) is not None:
            await refused(scope, receive, send)
        else:
            await self._app(scope, receive, _with_policy(send, self._policy))

    async def _refusal(self, scope: Any, receive: Any) -> Response | None:
        headers = Headers(scope=scope)
        try:
            if self._hash is None:
                check_host(headers, self._names)
            check_origin(scope["method"], headers, ())
        except RefusedError as error:
            return PlainTextResponse(error.message, 403)
        known = self._hash is None or self._fits(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))
        if known and (self._hash is None or not scope.get("query_string", b"").startswith(b"key=")):
            return None  # A key is taken out of the address even if it is known already.
        return await self._asked(scope, receive)

    async def _asked(self, scope: Any, receive: Any) -> Response:
        """Answer who has no cookie yet: take a key from the address or the form, else ask for it."""
        if scope["method"] == "POST" and scope["path"] in ("", "/"):
            body = await _body(receive)
        else:
            body = scope.get("query_string", b"")
        try:
            key = parse_qs(body.decode("ascii")).get("key", [""])[0]
        except (UnicodeDecodeError, ValueError):
            key = ""
        if not self._fits(key):
            return HTMLResponse(
                asset("key.html"), 401, {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
            )
        answer = RedirectResponse("./", 303)
        secure = scope.get("scheme") == "https"
        answer.set_cookie(COOKIE, key, max_age=WEEK, httponly=True, samesite="lax", secure=secure)
        return answer

    def _fits(self, key: str) -> bool:
        return bool(key) and self._hash is not None and hmac.compare_digest(hashed(key), self._hash)


async def _body(receive: Any) -> bytes:
    body, more = b"", True
    while more and len(body) <= LONGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body[:LONGEST_FORM]


def _with_policy(send: Any, policy: str) -> Any:
    """Add what keeps a page from loading anything from elsewhere."""

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            extra = [(b"content-security-policy", policy.encode()), (b"referrer-policy", b"no-referrer")]
            message = {**message, "headers": [*message["headers"], *extra, (b"x-content-type-options", b"nosniff")]}
        await send(message)

    return sent
