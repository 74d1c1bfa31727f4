"""Health, what is served, metrics, reloading, and the web page."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request, Response

from turnloom import __version__
from turnloom.service.errors import RefusedError
from turnloom.service.routes.shared import ERRORS, Using, json_answer, needs, service_of

router = APIRouter(tags=["operation"], responses=ERRORS)


@router.get("/health/live")
async def live() -> Response:
    """Whether the process answers at all."""
    return json_answer({"status": "live"})


@router.get("/health/ready")
async def ready(request: Request) -> Response:
    """Whether requests can be sent here; not while models load or the worker drains."""
    if not service_of(request).ready:
        raise RefusedError(503, "not_ready", "Not ready.", retry_after=1)
    return json_answer({"status": "ready"})


@router.get("/info", dependencies=[needs("embeddings")])
async def info(request: Request, using: Using) -> Response:
    """What is served, and within which limits."""
    config = service_of(request).config
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
    }
    return json_answer(found)


@router.get(
    "/metrics",
    dependencies=[needs("metrics")],
    response_class=Response,  # So that only the answer is text, and its errors stay JSON.
    responses={200: {"content": {"text/plain": {}}}},
)
async def metrics(request: Request) -> Response:
    """Measurements for Prometheus."""
    return Response(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.post("/admin/reload", status_code=202, dependencies=[needs("admin")])
async def reload(request: Request) -> Response:
    """Load models, intents and replies anew in every worker; requests on their way are not disturbed."""
    service_of(request).wish_reload()
    return json_answer({"status": "reloading"}, 202)


page_router = APIRouter(include_in_schema=False)
"""The page: plain files of the package, nothing from elsewhere."""
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
    """Try the service by hand."""
    return _file("index.html")


@page_router.get("/page/{name}")
async def part(name: str) -> Response:
    """A file of the page."""
    if name not in TYPES:
        raise RefusedError(404, "not_found", "There is nothing here.")
    return _file(name)
