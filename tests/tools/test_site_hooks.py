"""What the site is filled with: reference pages from the code, the studies' pages with links that hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.reference import PAGES
from tools.site_hooks import filled, study_markdown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "cli",
            ["## turnloom train", "- `--adapt / --no-adapt`: ", "### turnloom replies search", "$ turnloom quickstart"],
        ),
        ("http", ["### POST /v1/intents", "- `messages` (list of ", "required): Each a text"]),
        ("recipes", ["### dse-heads", "keep_heads: true"]),
        ("service", ["allowed_folders: [.]"]),
    ],
)
def test_a_page_of_the_reference_comes_from_the_code(name: str, shown: list[str], tmp_path: Path) -> None:
    text = filled(f"# Title\n\n<!-- generated: {name} -->\n", tmp_path)
    assert text.startswith("# Title\n\n")
    assert not [part for part in shown if part not in text]
    assert set(PAGES) == {"cli", "http", "recipes", "service"}


def test_links_of_a_study_hold_on_the_site(tmp_path: Path) -> None:
    folder = tmp_path / "studies" / "one"
    folder.mkdir(parents=True)
    links = ["[a](../../docs/guides/serve.md#keys)", "[b](../two/README.md)", "[c](results.json)", "[d](https://x.org)"]
    (folder / "README.md").write_text(" ".join([*links, "![e](plot.svg)"]))
    moved = ["[a](../guides/serve.md#keys)", "[b](two.md)", "c (`studies/one/results.json`)", "[d](https://x.org)"]
    assert study_markdown("one", tmp_path) == " ".join([*moved, '<img src="plot.svg" alt="e">'])
