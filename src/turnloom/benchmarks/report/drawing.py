"""Plots of the report, drawn as SVG: maps of points, labelled points, heat maps and intervals."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turnloom.benchmarks.compare import Interval

__all__ = ["STYLE", "Cloud", "cloud_map", "figure", "heat_map", "intervals_plot", "labelled_points", "legend"]

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9")
"""Okabe and Ito's colours, told apart by people of every colour vision; a second round gets another shape."""
STYLE = """
.maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1rem 1.5rem; }
.maps svg { border: 1px solid var(--line); } .ink { fill: var(--ink); stroke: none; }
.link { stroke: var(--soft); stroke-width: 1; } .whisker { stroke: var(--ink); stroke-width: 2; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; font-size: .9rem; }
.legend svg { width: .9rem; height: .9rem; vertical-align: -.1rem; margin-right: .3rem; }
.plot { max-width: 34rem; } .plot svg text, .maps svg text { font-size: 12px; } svg .dark { fill: var(--back); }
@media print { .maps { grid-template-columns: repeat(3, 1fr); } }
""" + "".join(f".c{number} {{ fill: {colour}; }} " for number, colour in enumerate(PALETTE))
SIZE, EDGE = 400, 14
Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cloud:
    """Points of one kind: all in one colour and one shape.

    Attributes:
        name: What they are.
        points: Where they are, a row each.
        number: Which colour and shape of the series; None for ink, which is black on white paper.
    """

    name: str
    points: Points
    number: int | None


def figure(drawing: str, caption: str, kind: str = "") -> str:
    """A drawing with a caption."""
    name = f' class="{kind}"' if kind else ""
    return f"<figure{name}>{drawing}<figcaption>{html.escape(caption)}</figcaption></figure>"


def _svg(title: str, width: float, height: float, body: str) -> str:
    name = html.escape(title, quote=True)
    return f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{name}">{body}</svg>'


def _mark(x: float, y: float, number: int | None) -> str:
    if number is None:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2"/>'
    if number < len(PALETTE):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    return f'<path d="M{x - 4.5:.1f} {y + 3.5:.1f}h9l-4.5 -8z"/>'


def _colour(number: int | None) -> str:
    return "ink" if number is None else f"c{number % len(PALETTE)}"


def cloud_map(title: str, clouds: Sequence[Cloud], links: Sequence[tuple[Points, Points]] = ()) -> str:
    """Points in the plane, without axes: only what is near what means something."""
    whole = np.concatenate([cloud.points for cloud in clouds])
    low, high = whole.min(axis=0), whole.max(axis=0)
    scale = (SIZE - 2 * EDGE) / np.maximum(high - low, 1e-9)

    def place(point: Points) -> tuple[float, float]:
        x, y = EDGE + (point - low) * scale
        return float(x), float(y)

    body = []
    for start, end in links:
        (x1, y1), (x2, y2) = place(start), place(end)
        body.append(f'<line class="link" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
    for cloud in clouds:
        marks = "".join(_mark(*place(point), cloud.number) for point in cloud.points)
        body.append(f'<g class="{_colour(cloud.number)}"><title>{html.escape(cloud.name)}</title>{marks}</g>')
    return _svg(title, SIZE, SIZE, "".join(body))


def legend(clouds: Sequence[Cloud]) -> str:
    """Which mark stands for what."""
    items = "".join(
        f'<li><svg viewBox="0 0 12 12" aria-hidden="true"><g class="{_colour(cloud.number)}">'
        f"{_mark(6, 6, cloud.number)}</g></svg>{html.escape(cloud.name)}</li>"
        for cloud in clouds
    )
    return f'<ul class="legend" aria-label="Legend">{items}</ul>'


def _ticks(low: float, high: float) -> list[float]:
    """Round values between two ends, about five."""
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= 6)
    return [float(value) for value in np.arange(math.ceil(low / step) * step, high + step / 1000, step)]


def _range(values: Sequence[float], margin: float = 0.12) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = margin * (high - low) or 0.5
    return low - room, high + room


def labelled_points(title: str, points: Mapping[str, tuple[float, float]], x_label: str, y_label: str) -> str:
    """A few named points over two axes."""
    width, height, left, bottom = 400, 300, 56, 44
    (x_low, x_high), (y_low, y_high) = (_range([point[axis] for point in points.values()]) for axis in (0, 1))

    def across(value: float) -> float:
        return left + (width - left - 10) * (value - x_low) / (x_high - x_low)

    def down(value: float) -> float:
        return 10 + (height - bottom - 10) * (y_high - value) / (y_high - y_low)

    body = []
    for value in _ticks(x_low, x_high):
        x = across(value)
        body.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="10" y2="{height - bottom}"/>')
        body.append(f'<text x="{x:.1f}" y="{height - bottom + 16}" text-anchor="middle">{value:g}</text>')
    for value in _ticks(y_low, y_high):
        y = down(value)
        body.append(f'<line class="axis" x1="{left}" x2="{width - 10}" y1="{y:.1f}" y2="{y:.1f}"/>')
        body.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    body.append(f'<text x="{(left + width) / 2}" y="{height - 6}" text-anchor="middle">{html.escape(x_label)}</text>')
    middle = (height - bottom) / 2
    turn = f'transform="rotate(-90 14 {middle})" text-anchor="middle"'
    body.append(f'<text x="14" y="{middle}" {turn}>{html.escape(y_label)}</text>')
    taken: list[tuple[float, float]] = []
    for name, point in sorted(points.items(), key=lambda item: -item[1][1]):
        x, y = across(point[0]), down(point[1])
        # A label goes below one that is already where it would be.
        low = max([y + 4, *(row + 13 for column, row in taken if abs(column - x) < 130 and abs(row - y - 4) < 13)])
        taken.append((x, low))
        side = f'x="{x - 9:.1f}" text-anchor="end"' if x > 0.6 * width else f'x="{x + 9:.1f}"'
        body.append(f'<circle class="bar" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        body.append(f'<text class="ink" {side} y="{low:.1f}">{html.escape(name)}</text>')
    return _svg(title, width, height, "".join(body))


def intervals_plot(title: str, intervals: Mapping[str, Interval]) -> str:
    """A dot and a whisker for each name, one below the other."""
    width, left, row = 400, 140, 26
    height = row * len(intervals) + 30
    ends = [value for found in intervals.values() for value in (found.mean, found.low, found.high)]
    low, high = _range([value for value in ends if not math.isnan(value)], 0.05)

    def across(value: float) -> float:
        return left + (width - left - 16) * (value - low) / (high - low)

    body = []
    for value in _ticks(low, high):
        x = across(value)
        body.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{height - 22}"/>')
        body.append(f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{value:g}</text>')
    for number, (name, found) in enumerate(intervals.items()):
        y = row * number + row / 2 + 4
        short = name if len(name) <= 20 else f"…{name[-19:]}"
        body.append(f'<text class="ink" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{html.escape(short)}</text>')
        if not math.isnan(found.low):
            x1, x2 = across(found.low), across(found.high)
            body.append(f'<line class="whisker" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        body.append(f'<circle class="bar" cx="{across(found.mean):.1f}" cy="{y:.1f}" r="5"/>')
    return _svg(title, width, height, "".join(body))


def heat_map(title: str, counts: npt.NDArray[np.int64], names: Sequence[str]) -> str:
    """How often a row's name was taken for a column's; columns have the numbers of the rows."""
    cell, left, top = 24, 320, 24
    highest = max(int((counts - np.diag(np.diag(counts))).max()), 1)
    body = []
    for row, name in enumerate(names):
        y = top + row * cell
        body.append(
            f'<text x="{left - 6}" y="{y + 16}" text-anchor="end">{html.escape(name)} {row + 1}</text>'
            f'<text x="{left + row * cell + cell / 2}" y="{top - 6}" text-anchor="middle">{row + 1}</text>'
        )
        for column, count in enumerate(counts[row]):
            x, share = left + column * cell, min(count / highest, 1.0)
            body.append(f'<rect class="axis" x="{x}" y="{y}" width="{cell}" height="{cell}" fill="none"/>')
            if count and row != column:
                ink = "dark" if share > 0.6 else "ink"
                body.append(
                    f'<rect class="bar" x="{x}" y="{y}" width="{cell}" height="{cell}" fill-opacity="{share:.2f}"/>'
                    f'<text class="{ink}" x="{x + cell / 2}" y="{y + 16}" text-anchor="middle">{count}</text>'
                )
    return _svg(title, left + len(names) * cell + 4, top + len(names) * cell + 4, "".join(body))
