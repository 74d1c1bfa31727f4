"""The page of `turnloom inspect` in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.browser import opened, overflow, serious_violations
from tests.corpus.test_statistics import corpus, measured
from turnloom.corpus.inspect import inspect_page


@pytest.mark.slow
def test_what_keeps_people_out_is_found(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html><body><img src='data:,'><p style='color:#eee'>pale</p></body></html>")
    with opened(tmp_path / "page.html", 1280) as (page, _):
        assert {found.split(":")[0] for found in serious_violations(page)} >= {"image-alt", "color-contrast"}


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_without_errors_and_fits(tmp_path: Path, width: int) -> None:
    page_path = tmp_path / "page.html"
    page_path.write_text(inspect_page(measured(corpus()), "test"), encoding="utf-8")
    with opened(page_path, width) as (page, problems):
        assert page.locator("h1").inner_text() == "Dialogues in test"
        assert page.locator("svg .mark").count() > 50
        assert page.locator("ul.warnings li").count() == 6
        assert overflow(page) <= 0
        assert serious_violations(page) == []
    assert problems == []
