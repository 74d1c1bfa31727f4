"""The web page: plain files of the package, nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, Response

from turnloom.service.errors import RefusedError

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
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


@router.get("/")
async def page() -> Response:
    """Try the service by hand."""
    return _file("index.html")


@router.get("/page/{name}")
async def part(name: str) -> Response:
    """A file of the page."""
    if name not in TYPES:
        raise RefusedError(404, "not_found", "There is nothing here.")
    return _file(name)
