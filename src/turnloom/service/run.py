"""Run the app under uvicorn, in worker processes."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from turnloom.errors import TurnloomError
from turnloom.service.config import ServiceConfig
from turnloom.service.config_file import load_config
from turnloom.service.metric_files import shared_metrics
from turnloom.service.supervisor import FAILED_TO_START, REFUSED, Supervisor, end_with_parent

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

CONFIG = "TURNLOOM_SERVICE_CONFIG"
NEEDED = ("fastapi", "httptools", "orjson", "prometheus_client", "uvicorn")
"""What only serving needs. The supervisor imports no more than that, so that a service that was killed is back soon."""
LAST_REQUESTS = 1.0
"""The seconds in which open connections may ask once more after a worker has stopped accepting."""
SWITCH_SECONDS = 0.0005
"""How long a thread may hold Python's lock while others wait: with the usual 5 ms, the event loop refuses too late."""
SPREADS = sys.platform == "linux"
"""Whether sockets that share a port distribute connections evenly."""
_log = logging.getLogger("turnloom.service")


def app_from_environment() -> FastAPI:
    """Create the app of the configuration file named by the environment; each worker process calls this."""
    from turnloom.service.app import create_app
    from turnloom.service.monitoring import set_up_logs

    config = load_config(Path(os.environ[CONFIG]))
    set_up_logs(config.logs.level)
    return create_app(config, drain_on_signal=True)


def check_folders(config: ServiceConfig) -> None:
    """Report missing folders before any process starts.

    Raises:
        TurnloomError: If a folder is missing.
    """
    named = {"model": config.model, "reranker": config.reranker, "intents": config.intents, "replies": config.replies}
    for name, part in named.items():
        folder = getattr(part, "path", getattr(part, "folder", None))
        if folder is not None and not folder.is_dir():
            raise TurnloomError(f"{name}: there is no folder {folder}", "fix its path in the configuration")
    for tenant in config.tenant_names:
        config.for_tenant(tenant)


def _prepare(path: Path) -> ServiceConfig:
    """Do what both a start and a check do before loading anything."""
    try:
        for name in NEEDED:
            import_module(name)
    except ImportError as error:
        raise TurnloomError(f"serving needs {error.name}", "pip install 'turnloom[serve]'") from error
    config = load_config(path)
    if config.telemetry:
        from turnloom.service.telemetry import check_installed

        check_installed()
    check_folders(config)
    _bound(config.host, config.port, shared=False).close()  # Sockets that share a port never notice that it is taken.
    try:
        config.state.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=config.state):
            pass
    except OSError as error:
        problem = f"state: {config.state} cannot be written to ({error.strerror})"
        raise TurnloomError(problem, "name another folder as state in the configuration") from error
    return config


def check(path: Path) -> ServiceConfig:
    """Find what would stop `serve`: do everything up to the first request, then stop.

    Raises:
        TurnloomError: If the service would not start.
    """
    config = _prepare(path)
    from turnloom.service.app import create_app

    app = create_app(config, recover=False)

    async def start_and_stop() -> None:
        async with app.router.lifespan_context(app):
            pass

    log = logging.getLogger("turnloom.service")
    before = log.level
    log.setLevel(logging.CRITICAL)  # Startup errors are raised.
    try:
        asyncio.run(start_and_stop())
    finally:
        log.setLevel(before)
    return config


def serve(path: Path, on_start: Callable[[ServiceConfig], None] = lambda _: None) -> None:
    """Serve a configuration file until the process is asked to stop.

    `on_start` is called with the configuration once all checks have passed.
    """
    config = _prepare(path)
    from turnloom.service.monitoring import log_all_as_json, set_up_logs

    os.environ[CONFIG] = str(path.resolve())
    set_up_logs(config.logs.level)
    log_all_as_json()
    on_start(config)
    with _bound(config.host, config.port) as held, shared_metrics():
        address = held.getsockname()[:2]  # The port is held, but only workers listen.
        bind = partial(_bound, *address) if SPREADS else held.dup
        code = Supervisor(_work, bind, config.workers, partial(_refused, config)).run()
    if code:
        raise SystemExit(code)


def _refused(config: ServiceConfig) -> None:
    """Tell all workers that replacing them failed, so that `/metrics` and `/info` say so."""
    with suppress(OSError):  # The log says it, too.
        (config.state / REFUSED).touch(mode=0o600)


def _settings(config: ServiceConfig) -> uvicorn.Config:
    import uvicorn

    from turnloom.service.protocol import BoundedHttp

    return uvicorn.Config(
        "turnloom.service.run:app_from_environment",
        factory=True,
        host=config.host,
        port=config.port,
        log_config=None,
        access_log=False,
        http=BoundedHttp,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=max(1, round(config.limits.request_seconds)),
    )


def _bound(host: str, port: int, *, shared: bool = SPREADS) -> socket.socket:
    """Bind a port; other sockets of ours may share it where the system distributes connections among them.

    When workers accept from one socket, the fastest takes most connections and keeps them.
    """
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        fix = "choose another one in the configuration, or end what uses it"
        raise TurnloomError(f"cannot listen on {host}:{port} ({error.strerror})", fix) from error
    return listening


def _work(listening: socket.socket, ready: Connection) -> None:
    """The body of a worker process. However it fails, its log has JSON lines alone."""
    from turnloom.service.monitoring import cause_of, log_all_as_json, set_up_logs

    end_with_parent()
    sys.setswitchinterval(SWITCH_SECONDS)
    set_up_logs("info")
    log_all_as_json()
    try:
        started = _run_server(load_config(Path(os.environ[CONFIG])), listening, ready)
    except Exception as error:
        _log.error("worker failed", extra=cause_of(error))
        raise SystemExit(FAILED_TO_START if isinstance(error, TurnloomError) else 1) from None
    if not started:
        raise SystemExit(FAILED_TO_START)


def _run_server(config: ServiceConfig, listening: socket.socket, ready: Connection) -> bool:
    """Serve until asked to stop; return whether the server ever started."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                # Searching all that was imported and loaded for garbage would stop every thread for most of a second.
                gc.collect()
                gc.freeze()
                ready.send("ready")

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Accept no more, then let clients whose connections were accepted a moment ago ask."""
            for server in self.servers:
                server.close()
            deadline = time.monotonic() + LAST_REQUESTS
            while self.server_state.connections and time.monotonic() < deadline:
                await asyncio.sleep(0.02)
            await super().shutdown(sockets)

    server = Server(_settings(config))
    with suppress(KeyboardInterrupt):
        server.run([listening])
    return server.started
