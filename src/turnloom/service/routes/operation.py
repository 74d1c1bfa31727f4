"""Health, service information, metrics, reloading, and the web page."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from turnloom import __version__
from turnloom.errors import TurnloomError
from turnloom.service.errors import RefusedError
from turnloom.service.keys import tenant_of
from turnloom.service.resources import Resources
from turnloom.service.routes.shared import (
    ERRORS,
    Using,
    audited,
    change,
    json_answer,
    needs,
    service_of,
    without_folders,
)
from turnloom.service.snapshots import take_snapshot

router = APIRouter(tags=["operation"], responses=ERRORS)
_snapshots = ThreadPoolExecutor(1, "snapshot")


@router.get("/health/live")
async def live() -> Response:
    """Check whether the process responds."""
    return json_answer({"status": "live"})


@router.get("/health/ready")
async def ready(request: Request) -> Response:
    """Check whether the worker can answer; not while it loads models, drains, or cannot ask intents or replies."""
    service = service_of(request)
    if not service.ready:
        parts = f"; in recovery: {', '.join(sorted(service.problems))}" if service.problems else ""
        raise RefusedError(503, "not_ready", f"Not ready{parts}.", retry_after=1)
    return json_answer({"status": "ready"})


@router.get("/info", dependencies=[needs("embeddings")])
async def info(request: Request, using: Using) -> Response:
    """Describe what is served, and its limits."""
    service = service_of(request)
    config, problems = service.config, _problems(using)
    if service.reload_problem and not tenant_of(request.scope["state"].get("key")):
        problems["reload"] = without_folders(service.reload_problem)
    encoder, scorer = using.encoder, using.scorer
    found: dict[str, Any] = {
        "version": __version__,
        "model": {
            "name": encoder.name,
            "fingerprint": encoder.fingerprint[:16],
            "dimension": encoder.dimension,
            "heads": encoder.has_heads,
        },
        "reranker": {"name": scorer.name, "fingerprint": scorer.fingerprint[:16]} if scorer else None,
        "intents": using.intents is not None,
        "replies": using.replies is not None,
        "limits": config.limits.model_dump(),
        "batching": config.batching.model_dump(),
        "needs_key": bool(config.keys),
        "problems": [f"{part}: {problem}" for part, problem in problems.items()],
    }
    return json_answer(found)


def _problems(using: Resources) -> dict[str, str]:
    """Return what does not work or was skipped, without the paths of folders."""
    problems = {part: without_folders(problem) for part, problem in using.failing.items()}
    for name, part in (("intents", using.intents), ("replies", using.replies)):
        if part is not None and part.damaged:
            problems.setdefault(name, f"{part.damaged} damaged changes were skipped")
    return problems


@router.get(
    "/metrics",
    dependencies=[needs("metrics")],
    response_class=Response,  # Only the success response is text; errors stay JSON.
    responses={200: {"content": {"text/plain": {}}}},
)
async def metrics(request: Request) -> Response:
    """Metrics for Prometheus: with a tenant's key those of its requests, otherwise all."""
    text = request.app.state.metrics.text(tenant_of(request.scope["state"].get("key")))
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.post("/admin/reload", status_code=202, dependencies=[needs("admin")])
async def reload(request: Request, using: Using) -> Response:
    """Reload models, intents and replies in every worker; requests in progress are not affected."""
    await change(request, using, "reload", {}, service_of(request).wish_reload)
    return json_answer({"status": "reloading"}, 202)


class Snapshot(BaseModel):
    """A snapshot that was taken.

    Attributes:
        snapshot: Its folder, below the configured one.
    """

    snapshot: str


@router.post("/admin/snapshots", status_code=201, response_model=Snapshot, dependencies=[needs("admin")])
async def snapshot(request: Request, using: Using) -> Response:
    """Copy models, intents, replies and changes of the service and of all tenants. Everything goes on meanwhile."""
    call = audited(request, using, "snapshot", {}, take_snapshot, service_of(request).config)
    try:
        taken = await asyncio.get_running_loop().run_in_executor(_snapshots, call)
    except TurnloomError as error:
        raise RefusedError(409, "no_snapshot", f"{without_folders(error.problem)}.", retry_after=5) from error
    return json_answer({"snapshot": taken.name}, 201)


page_router = APIRouter(include_in_schema=False)
"""The files of the page, all from this package."""
TYPES = {
    "index.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
}
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


def _file(name: str) -> Response:
    content = (files("turnloom.service") / "page" / name).read_bytes()
    return Response(content, headers={"Content-Security-Policy": POLICY}, media_type=TYPES[name])


@page_router.get("/")
async def page() -> Response:
    """The web page, to try the service by hand."""
    return _file("index.html")


@page_router.get("/page/{name}")
async def part(name: str) -> Response:
    """A file of the web page."""
    if name not in TYPES:
        raise RefusedError(404, "not_found", "There is nothing here.")
    return _file(name)
