"""The page of `turnwise inspect` in a real browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.corpus.test_statistics import corpus, measured
from turnwise.corpus.inspect_page import inspect_page

CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_without_errors_and_fits(tmp_path: Path, width: int) -> None:
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium")
    assert browser_path, "install Debian's chromium"
    page_path = tmp_path / "page.html"
    page_path.write_text(inspect_page(measured(corpus()), "test"), encoding="utf-8")
    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=CHROMIUM)
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.append(request.url) if request.url.startswith("http") else None)
        page.goto(page_path.as_uri())
        assert page.locator("h1").inner_text() == "Dialogues in test"
        assert page.locator("svg rect").count() > 50
        assert page.locator("ul.warnings li").count() == 6
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        browser.close()
    assert overflow <= 0
    assert problems == []
