"""uvicorn's HTTP/1.1 with the limits that it lacks: on the number, the size and the time of headers, and on reading."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from turnloom.service.errors import RefusedError, error_body
from turnloom.service.shedding import ASKED_TOO_SOON, REFUSAL

HEADERS, HEADER_BYTES = 100, 32_768
"""The most headers of a request, and the most bytes of them and of its URL together."""
HEADER_SECONDS = 10.0
"""A client may take so long for them, and for its first byte."""
READ_SECONDS = 60.0
"""A client may take so long to read its answer when the connection is to be closed."""
HOLD_SECONDS = 0.1
"""After a 429, the connection's next request begins this much later: clients that ask again at once would otherwise
take the processor from requests that were admitted."""


class _HeadTooLargeError(Exception):
    """The headers exceed a limit."""


class BoundedHttp(HttpToolsProtocol):
    """One connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None
        self._held_until = 0.0
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._end_head()
        super().connection_lost(exc)

    def _begin_head(self) -> None:
        self._end_head()
        self._in_head, self._received, self._fields, self._size = True, 0, 0, 0
        self._timer = self.loop.call_later(HEADER_SECONDS, self._too_slow)

    def _end_head(self) -> None:
        self._in_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the headers have become too long without an end."""
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._received += len(data)
            if self._received > HEADER_BYTES:
                self._refuse(RefusedError(431, "headers_too_large", _TOO_LARGE))

    def on_message_begin(self) -> None:
        """Begin to count and to wait."""
        self._begin_head()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count the URL."""
        self._count(len(url), 0)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header."""
        self._count(len(name) + len(value), 1)
        super().on_header(name, value)

    def _count(self, size: int, fields: int) -> None:
        self._size += size
        self._fields += fields
        if self._size > HEADER_BYTES or self._fields > HEADERS:
            raise _HeadTooLargeError  # The parser stops, and `send_400_response` is called.

    def on_headers_complete(self) -> None:
        """Pass the request on."""
        self._end_head()
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Refuse at once what would wait too long; most of the cost of a refusal is what comes after this."""
        held = self._held_until - self.loop.time()
        if held > 0:  # It was sent before the answer to the request before it.
            self.loop.call_later(held, self._start_held, cycle, app)
            return
        self._answering = cycle
        refusal = self.app_state.get(REFUSAL)
        usual = cycle.keep_alive and not cycle.waiting_for_100_continue and not self.pipeline
        refused = refusal(cycle.scope) if refusal is not None and usual else None
        if refused is None:
            super()._start_asgi_task(cycle, app)
            return
        cycle.scope["state"][ASKED_TOO_SOON] = True
        cycle.response_started = cycle.response_complete = True  # The parser then skips the request's body.
        self.transport.write(refused)
        self.on_response_complete()

    def _start_held(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if not self.transport.is_closing():
            self._start_asgi_task(cycle, app)

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser has stopped at."""
        if self._in_head and (self._size > HEADER_BYTES or self._fields > HEADERS):
            self._refuse(RefusedError(431, "headers_too_large", _TOO_LARGE))
        else:
            self._refuse(RefusedError(400, "bad_request", msg))

    def _too_slow(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:  # It waits for an answer itself.
            self._timer = self.loop.call_later(HEADER_SECONDS, self._too_slow)
        else:
            self._refuse(RefusedError(408, "slow_headers", "The request did not arrive in time."))

    def _refuse(self, refused: RefusedError) -> None:
        self._end_head()
        body = error_body(refused)
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[refused.status] + head + body)
        self._close()

    def on_response_complete(self) -> None:
        """Do not wait forever for a client that does not read, nor hurry for one that asks too often."""
        answered = self._answering  # Of requests that are sent without waiting, `cycle` is the last.
        too_soon = answered is not None and answered.scope["state"].pop(ASKED_TOO_SOON, False)
        if too_soon:
            self._held_until = self.loop.time() + HOLD_SECONDS
        super().on_response_complete()
        if self.transport.is_closing():
            self._close()
        elif too_soon and self.cycle is answered:
            self.flow.pause_reading()
            self.loop.call_later(HOLD_SECONDS, self._read_on)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        self._close()

    def _close(self) -> None:
        self.transport.close()
        self.loop.call_later(READ_SECONDS, _abort, self.transport)


_TOO_LARGE = f"A request may have {HEADERS} headers with {HEADER_BYTES} bytes."


def _abort(transport: Any) -> None:
    transport.abort()
