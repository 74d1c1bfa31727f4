"""The ASGI app, for uvicorn, several uvicorn workers, or Ray Serve."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import FrameType

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from turnloom import __version__
from turnloom.errors import TurnloomError
from turnloom.service.config import ServiceConfig
from turnloom.service.errors import RefusedError, error_response
from turnloom.service.guard import Guard
from turnloom.service.keys import Buckets
from turnloom.service.monitoring import Metrics
from turnloom.service.resources import Loaders, Service
from turnloom.service.routes import embeddings, intents, operation, replies, rerank

LOOK_FOR_RELOAD = 1.0
DESCRIPTION = "Dialogue embeddings, intents with an honest out-of-scope, reply suggestion and re-ranking."
_NAME = re.compile(r"(?!str$|list$)[A-Za-z0-9_]{1,64}")
"""A field name or a list index; never a value."""
_log = logging.getLogger("turnloom.service")


def create_app(config: ServiceConfig, loaders: Loaders | None = None, *, drain_on_signal: bool = False) -> FastAPI:
    """Create the app of a configuration; models are loaded when it starts.

    Args:
        config: What to serve.
        loaders: How to load models, if not from their folders.
        drain_on_signal: Whether the app reports that it is not ready after SIGTERM, before it stops. For uvicorn.
    """
    metrics = Metrics()
    service = Service(config, metrics, loaders or Loaders())
    buckets: list[Buckets] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        buckets.append(Buckets(config.state / "rates", [key.requests_per_minute for key in config.keys]))
        try:
            await asyncio.to_thread(service.load)
        except TurnloomError as error:
            _log.error("not started", extra={"problem": error.problem, "fix": error.fix})
            raise
        watching = asyncio.create_task(_reload_when_asked(service))
        if drain_on_signal:
            _drain_before_stopping(service)
        _log.info("ready", extra={"pid": os.getpid()})
        yield
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await asyncio.to_thread(service.close)
        buckets.pop().close()

    app = FastAPI(
        title="Turnloom", version=__version__, description=DESCRIPTION, lifespan=lifespan, redoc_url=None, docs_url=None
    )
    app.state.service, app.state.metrics = service, metrics
    for module in (embeddings, rerank, intents, replies, operation):
        app.include_router(module.router)
    if config.page:
        app.include_router(operation.page_router)
    _handle_errors(app)
    app.add_middleware(Guard, config=config, metrics=metrics, buckets=lambda: buckets[-1])
    if config.cors_origins:  # Outside the guard, so that pages of these origins can read its error responses.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(config.cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-Request-Id"],
            expose_headers=["X-Request-Id", "Retry-After"],
        )
    return app


def _drain_before_stopping(service: Service) -> None:
    """On SIGTERM, report not ready so that load balancers notice, then let the server's own handler stop it."""
    stop = signal.getsignal(signal.SIGTERM)
    loop = asyncio.get_running_loop()

    def drain(number: int, frame: FrameType | None) -> None:
        if not callable(stop):
            return
        if service.draining:  # A second signal stops at once.
            stop(number, frame)
            return
        service.draining = True
        seconds = service.config.limits.drain_seconds
        loop.call_soon_threadsafe(loop.call_later, seconds, stop, number, None)

    if callable(stop):
        signal.signal(signal.SIGTERM, drain)


async def _reload_when_asked(service: Service) -> None:
    while True:
        await asyncio.sleep(LOOK_FOR_RELOAD)
        try:
            await asyncio.to_thread(service.reload_if_asked)
        except Exception:
            _log.exception("not reloaded")


def _handle_errors(app: FastAPI) -> None:
    """Return every error in the same shape, and count it."""

    def answer(error: RefusedError) -> Response:
        app.state.metrics.refused.labels(error.code).inc()
        return error_response(error)

    @app.exception_handler(RefusedError)
    async def refused(_: Request, error: RefusedError) -> Response:
        return answer(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        # Clients choose field names and pydantic adds its own function names to the path; show neither.
        param = ".".join(str(step) for step in first["loc"] if step != "body" and _NAME.fullmatch(str(step)))
        return answer(RefusedError(422, str(first["type"]), str(first["msg"]), param=param[:200] or None))

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        said = {404: ("not_found", "There is nothing here."), 405: ("wrong_method", "Not by this method.")}
        code, message = said.get(error.status_code, ("bad_request", "The request could not be read."))
        response = answer(RefusedError(error.status_code, code, message))
        response.headers.update(error.headers or {})
        return response
