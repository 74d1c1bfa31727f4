"""Run the app under uvicorn, in one process or several."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from turnloom.errors import TurnloomError
from turnloom.service.config import ServiceConfig, load_config
from turnloom.service.supervisor import FAILED_TO_START, Supervisor

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

CONFIG = "TURNLOOM_SERVICE_CONFIG"
METRICS = "PROMETHEUS_MULTIPROC_DIR"
SPREADS = sys.platform == "linux"
"""Whether sockets that share a port distribute connections evenly."""


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


def _prepare(path: Path) -> ServiceConfig:
    """Do what both a start and a check do before loading anything."""
    try:
        import uvicorn  # noqa: F401

        import turnloom.service.app  # noqa: F401
    except ImportError as error:
        raise TurnloomError(f"serving needs {error.name}", "pip install 'turnloom[serve]'") from error
    config = load_config(path)
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

    app = create_app(config)

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
    from turnloom.service.monitoring import set_up_logs

    os.environ[CONFIG] = str(path.resolve())
    if config.workers > 1:
        shared = config.state / "metrics"
        shutil.rmtree(shared, ignore_errors=True)  # Metrics of processes that are gone.
        shared.mkdir()
        os.environ[METRICS] = str(shared)
    set_up_logs(config.logs.level)
    on_start(config)
    settings = _settings(config)
    if config.workers == 1:
        _run(settings)
        return
    with _bound(config.host, config.port) as held:
        code = Supervisor(_work, held, config.workers).run()
    if code:
        raise SystemExit(code)


def _settings(config: ServiceConfig) -> uvicorn.Config:
    import uvicorn

    return uvicorn.Config(
        "turnloom.service.run:app_from_environment",
        factory=True,
        host=config.host,
        port=config.port,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=max(1, round(config.limits.request_seconds)),
    )


def _bound(host: str, port: int, *, shared: bool = SPREADS) -> socket.socket:
    """Bind a port; other processes of ours may share it where the system distributes connections among them.

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


def _work(held: socket.socket, ready: Connection) -> None:
    """The body of a worker process."""
    listening = _bound(*held.getsockname()[:2]) if SPREADS else held
    _run(_settings(load_config(Path(os.environ[CONFIG]))), listening, on_ready=lambda: ready.send("ready"))


def _run(settings: uvicorn.Config, *listening: socket.socket, on_ready: Callable[[], None] = lambda: None) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                on_ready()

    server = Server(settings)
    with suppress(KeyboardInterrupt):
        server.run(list(listening) or None)
    if not server.started:
        raise SystemExit(FAILED_TO_START)
