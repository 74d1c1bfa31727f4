"""Self-contained HTML pages: no scripts, nothing loaded from elsewhere, for light, dark, print and phones.

They are rendered by Jinja: text is escaped unless it is `Markup`.
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
    """Render a paragraph; `text` is HTML with a `{}` for each value, which is escaped."""
    return Markup(f"<p>{text}</p>").format(*values)


def figure(drawing: Markup, caption: str, style: str = "") -> Markup:
    """Render a drawing with a caption and, optionally, a class of the style sheet."""
    return _part("figure", drawing, caption, style)


def legend(clouds: Sequence[Cloud]) -> Markup:
    """Render a legend that explains each mark."""
    return _part("legend", clouds)


def rows_table(headings: Sequence[str], rows: Sequence[Sequence[str | int]]) -> Markup:
    """Render a table; whole numbers are right-aligned with thousands separators."""
    return _part("rows_table", headings, rows)


def wide_table(label: str, headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> Markup:
    """Render a table of numbers that scrolls in its own frame on narrow pages; the first cell of a row is its heading.

    Screen readers announce the label; the caption is shown above the table.
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
    """Render a whole HTML page: a lead, key figures, highlighted warnings, and sections with headings.

    A wide page, for wide tables, stacks its sections and links to them at the top.
    """
    values = {"title": title, "lead": lead, "numbers": numbers, "warnings": warnings, "sections": sections}
    return _templates().get_template("page.html").render(values, wide=wide) + "\n"
