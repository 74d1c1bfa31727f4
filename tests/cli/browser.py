"""A page in a real browser, headless, and whatever the browser has to complain about."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def opened(
    where: Path | str, width: int, scheme: Literal["light", "dark"] = "light"
) -> Iterator[tuple[Any, list[str]]]:
    """A page (a file or an address), and a list that fills with console messages, errors and requests to elsewhere."""
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium")
    assert browser_path, "install Debian's chromium"
    problems: list[str] = []
    address = where.as_uri() if isinstance(where, Path) else where

    def note_elsewhere(asked: Any) -> None:
        if asked.url.startswith("http") and not asked.url.startswith(address):
            problems.append(asked.url)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=CHROMIUM)
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.set_default_timeout(120_000)  # In ms: beside other tests, everything takes a while.
        # What Chromium only advises, such as a form around a password, is no problem.
        page.on("console", lambda message: message.type == "verbose" or problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", note_elsewhere)
        page.goto(address)
        yield page, problems
        browser.close()


def serious_violations(page: Any) -> list[str]:
    """What keeps people out, by axe-core: its serious and critical findings, with the first element of each."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in grave]


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
