"""`turnloom compare` and `turnloom report` as a user meets them, the page in a real browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.test_compare import result, run, simulated_pair
from tests.benchmarks.test_report import measured
from tests.cli.browser import opened, overflow, serious_violations
from tests.cli.test_commands import run as command
from turnloom.benchmarks import RunResult
from turnloom.benchmarks.report import build_report

__all__ = ["measured"]  # A fixture.


def _saved(folder: Path) -> list[str]:
    first, second = simulated_pair(np.random.default_rng(5), 6)
    first.save(folder / "a")
    second.save(folder / "b")
    return [str(folder / "a"), str(folder / "b")]


def test_compare_says_it_in_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, out, _ = command(capsys, monkeypatch, "compare", *_saved(tmp_path))
    assert code == 0
    assert "b against a" in out
    assert out.count("no clear difference") >= 7
    assert "Of 8 tasks, b is better on 1, a on 0; no clear difference on 7." in out


def test_what_cannot_be_compared_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (first, _) = _saved(tmp_path)
    code, _, error = command(capsys, monkeypatch, "compare", first)
    assert code == 2
    assert "one run alone cannot be compared" in error
    for name in ("compare", "report"):
        code, _, error = command(capsys, monkeypatch, name, first, str(tmp_path / "nowhere"))
        assert code == 2
        assert "nowhere has no results.json" in error
        assert "turnloom evaluate MODEL --out" in error


def test_report_writes_a_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))
    out = tmp_path / "pages" / "report.html"
    code, text, _ = command(capsys, monkeypatch, "report", *_saved(tmp_path), "--out", str(out))
    assert code == 0
    assert "report.html (0.0 MB)" in text
    assert "Not drawn. clinc150 is not in" in out.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.nightly), 390])
def test_it_opens_without_errors_and_fits(
    tmp_path: Path, width: int, measured: tuple[dict[str, RunResult], Path]
) -> None:
    page_path = tmp_path / "page.html"
    runs, cache = measured
    others = {f"a-model-with-a-long-name-{n}": run("x", result(np.full((1, 50), 5.0 + n))) for n in range(6)}
    text = build_report({**runs, **others}, cache)
    assert build_report({**runs, **others}, cache) == text
    page_path.write_text(text, encoding="utf-8")
    with opened(page_path, width) as (page, problems):
        assert page.locator("h1").inner_text() == "Evaluated encoders"
        assert page.locator(".maps svg").count() == 4
        assert page.locator("svg[role=img]:not([aria-label])").count() == 0
        assert overflow(page) <= 0
        assert serious_violations(page) == []
    assert problems == []
