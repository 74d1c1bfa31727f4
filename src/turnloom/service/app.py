"""The ASGI app, for uvicorn, several uvicorn workers, or Ray Serve."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from turnloom import __version__
from turnloom.service.admission import Admission, current_work
from turnloom.service.config import ServiceConfig
from turnloom.service.errors import FullError, RefusedError, error_response
from turnloom.service.guard import Gates, Guard
from turnloom.service.keys import Buckets, tenant_of
from turnloom.service.lifecycle import Service
from turnloom.service.monitoring import Metrics, cause_of
from turnloom.service.resources import Loaders
from turnloom.service.routes import embeddings, erasures, feedback, intents, operation, replies, rerank
from turnloom.service.shedding import REFUSAL, Shedder
from turnloom.service.telemetry import open_metrics

LOOK_FOR_RELOAD = 1.0
CHECK_SECONDS = 5.0
"""How often each worker asks its own intents and replies."""
DESCRIPTION = "Dialogue embeddings, intents with an honest out-of-scope, reply suggestion and re-ranking."
_NAME = re.compile(r"(?!str$|list$)[A-Za-z0-9_]{1,64}")
"""A field name or a list index; never a value."""
_log = logging.getLogger("turnloom.service")


def create_app(
    config: ServiceConfig, loaders: Loaders | None = None, *, drain_on_signal: bool = False, recover: bool = True
) -> FastAPI:
    """Create the app of a configuration; models are loaded when it starts.

    Args:
        config: What to serve.
        loaders: How to load models, if not from their folders.
        drain_on_signal: Whether the app reports that it is not ready after SIGTERM, before it stops. For uvicorn.
        recover: Whether to start without intents or replies that cannot be loaded, and say so.
    """
    metrics = open_metrics(config)
    service = Service(config, metrics, loaders or Loaders())
    gates: list[Gates] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        try:
            gates.append(_open_gates(config, metrics, lambda: service.draining))
            await asyncio.to_thread(service.load, recover=recover)
        except Exception as error:
            _log.error("not started", extra=cause_of(error))
            raise
        watching = [asyncio.create_task(_reload_when_asked(service)), asyncio.create_task(_check_regularly(service))]
        if drain_on_signal:
            _drain_before_stopping(service)
        _log.info("ready", extra={"pid": os.getpid()})
        yield {REFUSAL: Shedder(config, metrics, gates[-1].admission, paths, gates[-1].draining).refusal}
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        await asyncio.to_thread(service.close)
        gates[-1].admission.shut_down()
        gates[-1].buckets.close()
        await asyncio.to_thread(metrics.close)

    app = FastAPI(
        title="Turnloom",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        redoc_url=None,
        docs_url=None,
        redirect_slashes=False,  # A redirect would go to whatever the client calls the service.
    )
    app.state.service, app.state.metrics = service, metrics
    routers = [module.router for module in (embeddings, rerank, intents, replies, feedback, erasures, operation)]
    if config.page:
        routers.append(operation.page_router)
    for router in routers:
        app.include_router(router)
    _handle_errors(app)
    # Not every release of FastAPI lists the routes of its routers as the app's own.
    every = [*app.routes, *(route for router in routers for route in router.routes)]
    paths = frozenset(path for route in every if (path := getattr(route, "path", None)))
    app.add_middleware(Guard, config=config, metrics=metrics, gates=lambda: gates[-1], paths=paths)
    if config.cors_origins:  # Outside the guard, so that pages of these origins can read its error responses.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(config.cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-Request-Id"],
            expose_headers=["X-Request-Id", "Retry-After"],
        )
    return app


def _open_gates(config: ServiceConfig, metrics: Metrics, draining: Callable[[], bool]) -> Gates:
    limits = [key.requests_per_minute for key in config.keys] + [key.tokens_per_minute for key in config.keys]
    admission = Admission(config.limits, metrics, fair=len(config.keys) > 1)
    return Gates(admission, Buckets(config.state / "rates", limits), draining)


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
        except Exception as error:
            _log.error("not asked whether to reload", extra=cause_of(error))


async def _check_regularly(service: Service) -> None:
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        await asyncio.to_thread(service.check)


def _handle_errors(app: FastAPI) -> None:
    """Return every error in the same shape, and count it."""

    def answer(request: Request, error: RefusedError) -> Response:
        app.state.metrics.refuse(error.code, tenant_of(request.scope["state"].get("key")))
        work = current_work()
        if isinstance(error, FullError) and work is not None:
            work.close_route(error)
        return error_response(error)

    @app.exception_handler(RefusedError)
    async def refused(request: Request, error: RefusedError) -> Response:
        return answer(request, error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        # Clients choose field names and pydantic adds its own function names to the path; show neither.
        param = ".".join(str(step) for step in first["loc"] if step != "body" and _NAME.fullmatch(str(step)))
        return answer(request, RefusedError(422, str(first["type"]), str(first["msg"]), param=param[:200] or None))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        said = {404: ("not_found", "There is nothing here."), 405: ("wrong_method", "Not by this method.")}
        code, message = said.get(error.status_code, ("bad_request", "The request could not be read."))
        response = answer(request, RefusedError(error.status_code, code, message))
        response.headers.update(error.headers or {})
        return response
