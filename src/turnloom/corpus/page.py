"""Self-contained HTML pages with plots drawn as SVG: no script, nothing loaded from anywhere."""

from __future__ import annotations

import html
from collections.abc import Sequence

__all__ = ["Html", "bars", "curve", "page", "rows_table", "wide_table"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5a6675; --line: #d7dde5; --fill: #2f6fb0; --back: #ffffff;
  --warn: #8a4b00; --warnback: #fff4e3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf2; --soft: #a6b2c2; --line: #39434f; --fill: #6fa8dc;
  --back: #161b22; --warn: #ffcf8f; --warnback: #33270f; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 0 auto;
  max-width: 68rem; padding: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 0 0 .5rem; }
p.lead { color: var(--soft); margin-top: 0; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 2rem 2.5rem; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1rem;
  margin: 1.5rem 0; }
.numbers div { border-top: 3px solid var(--fill); padding-top: .4rem; }
.numbers dt { color: var(--soft); font-size: .85rem; } .numbers dd { margin: 0; font-size: 1.45rem; font-weight: 600; }
.warnings { background: var(--warnback); color: var(--warn); padding: .9rem 1.2rem .9rem 2.2rem; margin: 1.5rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
svg .bar { fill: var(--fill); } svg .axis { stroke: var(--line); }
svg .curve { fill: none; stroke: var(--fill); stroke-width: 2; }
footer { color: var(--soft); font-size: .85rem; margin-top: 2rem; }
.wide section { margin: 2.5rem 0; } .wide h2 { font-size: 1.3rem; } h3 { font-size: 1.05rem; margin: 1rem 0 .3rem; }
nav a { margin-right: 1rem; white-space: nowrap; } a { color: var(--fill); }
.scroll { overflow-x: auto; margin: .3rem 0 1.5rem; } .scroll th, .scroll td { overflow-wrap: normal; }
.scroll th[scope=row] { font-weight: normal; min-width: 8rem; } .scroll th.number { white-space: normal; }
figure { margin: 0 0 1rem; } figcaption { color: var(--soft); font-size: .9rem; }
@page { margin: 14mm; }
@media print { :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --fill: #2f6fb0; --back: #fff;
  --warn: #5c3200; --warnback: #fff; } body { max-width: none; padding: 0; font-size: 10pt; } nav { display: none; }
  .grid section, figure:not(.table), tr { break-inside: avoid; } h2, h3, h2 + p, figcaption { break-after: avoid; }
  .scroll { overflow: visible; } figcaption { font-size: 8pt; }
  .scroll table { font-size: 7pt; } .scroll th, .scroll td { padding: .1rem .2rem; } }
"""
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, _TOP = 560, 220, 52, 18, 36, 10


class Html(str):
    """Text that is HTML already and must not be escaped again."""

    __slots__ = ()


def _escaped(cell: str | int) -> str:
    if isinstance(cell, Html):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else html.escape(cell)


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _frame(title: str, x_label: str, highest: float, body: str, *, percent: bool = False) -> str:
    """An SVG with a title for readers of the page's text, a y axis from 0 to `highest`, and a label below."""
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{html.escape(title, quote=True)}">']
    for step in range(5):
        y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - step / 4)
        value = highest * step / 4
        label = f"{100 * value:.0f}%" if percent else _short(value)
        parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    parts.append(
        f'<text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 4}" text-anchor="middle">{html.escape(x_label)}</text>'
    )
    return "".join(parts) + body + "</svg>"


def bars(title: str, counts: Sequence[int], x_label: str, *, first: int = 0) -> str:
    """A histogram; the last bar stands for its value and above.

    Args:
        title: What a screen reader says.
        counts: The height of each bar.
        x_label: The label below.
        first: The value of the first bar.
    """
    highest = max([*counts, 1])
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(counts), 1)
    scale = (_HEIGHT - _TOP - _BOTTOM) / highest
    every = max(1, len(counts) // 12)
    body = []
    for place, count in enumerate(counts):
        x, height, value = _LEFT + place * step, count * scale, first + place
        name = f"{value} and above" if place == len(counts) - 1 else str(value)
        body.append(
            f'<rect class="bar" x="{x + 0.5:.1f}" y="{_HEIGHT - _BOTTOM - height:.1f}" width="{max(step - 1, 0.5):.1f}"'
            f' height="{height:.1f}"><title>{name}: {count:,}</title></rect>'
        )
        if place % every == 0:
            body.append(
                f'<text x="{x + step / 2:.1f}" y="{_HEIGHT - _BOTTOM + 14}" text-anchor="middle">{value}</text>'
            )
    return _frame(title, x_label, highest, "".join(body))


def curve(title: str, points: dict[float, float], x_label: str) -> str:
    """A share over a share, the points evenly spaced along x with their own labels."""
    if not points:
        return ""
    step = (_WIDTH - _LEFT - _RIGHT - 10) / max(len(points) - 1, 1)
    places, body = [], []
    for number, (share, value) in enumerate(points.items()):
        x, y = _LEFT + 10 + number * step, _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value)
        places.append(f"{x:.1f},{y:.1f}")
        body.append(
            f'<circle class="bar" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{share:.2%}: {value:.1%}</title></circle>'
        )
        label = f"{100 * share:g}%"
        body.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 14}" text-anchor="middle">{label}</text>')
    line = f'<polyline class="curve" points="{" ".join(places)}"/>'
    return _frame(title, x_label, 1.0, line + "".join(body), percent=True)


def rows_table(headings: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    """A table; whole numbers are right-aligned with separators."""
    numeric = [bool(rows) and isinstance(rows[0][place], int) for place in range(len(headings))]
    kinds = [' class="number"' if is_number else "" for is_number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{html.escape(name)}</th>' for kind, name in zip(kinds, headings, strict=True)
    )
    body = []
    for row in rows:
        cells = [_escaped(cell) for cell in row]
        body.append(
            "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, cells, strict=True)) + "</tr>"
        )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def wide_table(label: str, headings: Sequence[str], rows: Sequence[Sequence[str | int]], *, caption: str = "") -> str:
    """A table of numbers that scrolls in its own frame where the page is narrow; the first cell heads its row.

    Args:
        label: What a screen reader says.
        headings: The heading of each column.
        rows: The cells.
        caption: What stands above it, if anything.
    """
    head = "".join(
        f'<th scope="col"{" class=number" if place else ""}>{_escaped(name)}</th>'
        for place, name in enumerate(headings)
    )
    body = "".join(
        f'<tr><th scope="row">{_escaped(row[0])}</th>'
        + "".join(f'<td class="number">{_escaped(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    # The caption stands outside the frame that scrolls: on a phone it would be cut off.
    above = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="table">{above}<div class="scroll" role="region" tabindex="0" '
        f'aria-label="{html.escape(label, quote=True)}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></figure>"
    )


def page(
    title: str,
    lead: str,
    numbers: dict[str, str],
    warnings: Sequence[str],
    sections: dict[str, str],
    *,
    style: str = "",
    wide: bool = False,
) -> str:
    """A whole HTML page.

    Args:
        title: Its title.
        lead: A sentence below it.
        numbers: The figures to see first.
        warnings: Plain sentences that stand out.
        sections: HTML by heading.
        style: CSS beside what all pages have.
        wide: One section below the other with links to them above, for pages of wide tables.
    """
    facts = "".join(f"<div><dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd></div>" for k, v in numbers.items())
    notes = "".join(f"<li>{html.escape(warning)}</li>" for warning in warnings)
    notes = f'<ul class="warnings" aria-label="What to know">{notes}</ul>' if notes else ""
    body = "".join(
        f'<section id="part{number}"><h2>{html.escape(name)}</h2>{content}</section>'
        for number, (name, content) in enumerate(sections.items())
    )
    links = "".join(f'<a href="#part{number}">{html.escape(name)}</a> ' for number, name in enumerate(sections))
    links = f'<nav aria-label="Sections">{links}</nav>' if wide else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}{style}</style></head><body><main><h1>{html.escape(title)}</h1>"
        f'<p class="lead">{html.escape(lead)}</p><dl class="numbers">{facts}</dl>{notes}{links}'
        f'<div class="{"wide" if wide else "grid"}">{body}</div></main></body></html>\n'
    )
