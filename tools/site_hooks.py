"""Hooks for mkdocs: reference pages from code, notebooks as pages, and the studies' pages.

A page includes them with a comment on its own line: `<!-- generated: cli -->`, `<!-- notebook: intents.ipynb -->`,
`<!-- study: flagship -->`.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # mkdocs loads this file by its path, and reverts changes to the search path afterwards.

from tools.reference import PAGES  # noqa: E402

_MARK = re.compile(r"^<!-- (generated|notebook|study): ([\w.-]+) -->$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def notebook_markdown(path: Path) -> str:
    """Convert a notebook with its outputs to Markdown."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        texts = [_text_of(output) for output in cell["outputs"]]
        if any(texts):
            shown = "".join(texts).rstrip()
            parts.append(f'<div class="output" markdown="1">\n\n```text\n{shown}\n```\n\n</div>')
    return "\n\n".join(parts)


def _text_of(output: dict[str, Any]) -> str:
    """Return the text that a cell printed or returned."""
    found = output.get("text") or output.get("data", {}).get("text/plain", "")
    return "".join(found)


def study_markdown(name: str, root: Path = ROOT) -> str:
    """Return a study's page with links that work on the site; links to anything else become text."""
    text = (root / "studies" / name / "README.md").read_text(encoding="utf-8")

    def moved(match: re.Match[str]) -> str:
        picture, label, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match[0]
        path, _, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join("studies", name, path))
        if place.startswith("docs/"):
            return f"{picture}[{label}]({posixpath.relpath(place, 'docs/studies')}{'#' + anchor if anchor else ''})"
        if picture:  # `on_post_build` copies it beside the page.
            return f'<img src="{posixpath.basename(place)}" alt="{label}">'
        study = re.fullmatch(r"studies/(\w+)/README\.md", place)
        return f"[{label}]({study[1]}.md)" if study else f"{label} (`{place}`)"

    return _LINK.sub(moved, text)


def filled(markdown: str, folder: Path) -> str:
    """Replace the comments in a page's text by what they include."""

    def asked(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if kind == "notebook":
            return notebook_markdown(folder / name)
        if kind == "study":
            return study_markdown(name)
        return PAGES[name]()

    return _MARK.sub(asked, markdown)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Label the theme's search for screen readers; mkdocs calls this for each finished page."""
    del page, config
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def on_post_build(config: Any) -> None:
    """Copy the studies' pictures beside their pages; mkdocs calls this at the end."""
    for path in (ROOT / "studies").glob("*/*.svg"):
        shutil.copy(path, Path(config["site_dir"]) / "studies" / path.parent.name / path.name)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Fill in a page's comments; mkdocs calls this for each page before it becomes HTML."""
    del config, files
    return filled(markdown, Path(page.file.abs_src_path).parent)
