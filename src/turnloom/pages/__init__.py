"""Self-contained HTML pages: no script, nothing loaded from anywhere, light and dark, on paper and on a phone.

They are made from Jinja templates: text is escaped unless it is `Markup`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from turnloom.pages.plots import Cloud


@cache
def _templates() -> Environment:
    loader = PackageLoader("turnloom.pages")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _part(name: str, *values: Any) -> Markup:
    return Markup(getattr(_templates().get_template("parts.html").module, name)(*values))


def paragraph(text: str, *values: str) -> Markup:
    """A paragraph; `text` is HTML with a `{}` for each of the values, which are escaped."""
    return Markup(f"<p>{text}</p>").format(*values)


def figure(drawing: Markup, caption: str, style: str = "") -> Markup:
    """A drawing with a caption, perhaps of a class of the style sheet."""
    return _part("figure", drawing, caption, style)


def legend(clouds: Sequence[Cloud]) -> Markup:
    """Which mark stands for what."""
    return _part("legend", clouds)


def rows_table(headings: Sequence[str], rows: Sequence[Sequence[str | int]]) -> Markup:
    """A table; whole numbers are right-aligned with separators."""
    return _part("rows_table", headings, rows)


def wide_table(label: str, headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> Markup:
    """A table of numbers that scrolls in its own frame where the page is narrow; the first cell heads its row.

    The label is what a screen reader says, the caption stands above the table.
    """
    return _part("wide_table", label, headings, rows, caption)


def page(
    title: str,
    lead: str,
    numbers: Mapping[str, str],
    warnings: Sequence[str],
    sections: Mapping[str, Markup],
    *,
    wide: bool = False,
) -> str:
    """A whole HTML page: a lead, the figures to see first, warnings that stand out, and sections by heading.

    A wide page has one section below the other with links to them above, for wide tables.
    """
    values = {"title": title, "lead": lead, "numbers": numbers, "warnings": warnings, "sections": sections}
    return _templates().get_template("page.html").render(values, wide=wide) + "\n"
