"""The notebooks of the cookbook run, and the site shows them with what they printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.notebooks import notebooks, run
from tools.site_hooks import filled, notebook_markdown


def test_each_notebook_has_a_page_and_outputs() -> None:
    assert len(notebooks()) == 3
    for path in notebooks():
        page = path.with_suffix(".md").read_text(encoding="utf-8")
        assert filled(page, path.parent).count("```text") >= 3, f"run: python -m tools.notebooks {path.stem}"
        assert "Traceback" not in notebook_markdown(path)


@pytest.mark.nightly
@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # Of Jupyter's own packages.
def test_a_notebook_runs(path: Path) -> None:
    assert any(cell.get("outputs") for cell in run(path).cells)
