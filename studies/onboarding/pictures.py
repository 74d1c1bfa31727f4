"""Pictures of real pages for the documentation, taken in a real browser at the end of the tutorial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.browser import opened
from tools.code_blocks import ROOT

WIDTH, HEIGHT = 1000, 900
REPORT = ROOT / "docs" / "baselines.html"
CONVERSATION = "customer: hello\nagent: Hello! How can I help?\ncustomer: my order has not arrived yet"


def take_pictures(place: Path, address: str, out: Path) -> None:
    """The page of `inspect`, the report, its map of intents, and the service's page after it has answered.

    Args:
        place: Where the tutorial was done.
        address: Where its service listens.
        out: The folder for the pictures.
    """
    out.mkdir(parents=True, exist_ok=True)
    with opened(place / "chats.html", WIDTH) as (page, _):
        page.screenshot(path=out / "inspect.png")
    with opened(REPORT, WIDTH) as (page, _):
        page.screenshot(path=out / "report.png")
        page.screenshot(path=out / "map-of-intents.png", full_page=True, clip=_chapter(page, "Map of intents"))
    with opened(f"http://{address}/", WIDTH) as (page, _):
        page.locator("#conversation").fill(CONVERSATION)
        page.locator("#conversation").press("Control+Enter")
        page.locator("#replies li").first.wait_for()
        page.screenshot(path=out / "service.png")
    for name in ("inspect", "report", "map-of-intents", "service"):
        _frame(out / f"{name}.png")


def _frame(path: Path) -> None:
    """Draw a line around a picture: on a white page it would seem to be part of that."""
    from PIL import Image, ImageDraw

    with Image.open(path) as picture:
        ImageDraw.Draw(picture).rectangle((0, 0, picture.width - 1, picture.height - 1), outline="#c5cdd3", width=2)
        picture.save(path)


def _chapter(page: Any, title: str) -> dict[str, float]:
    """From a heading to the next, at most one screen."""
    tops = page.evaluate(
        "[...document.querySelectorAll('h2')].map(h => [h.textContent, h.getBoundingClientRect().top])"
    )
    place = next(number for number, (text, _) in enumerate(tops) if text.startswith(title))
    top, end = tops[place][1], tops[place + 1][1]
    return {"x": 0, "y": top, "width": WIDTH, "height": min(end - top, HEIGHT)}
