"""Plots as SVG for a page: drawn by matplotlib, coloured by the page's style sheet."""

from __future__ import annotations

import html
import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9")
"""Okabe and Ito's colours, distinguishable with any colour vision; a second round gets another shape."""
# Colours that nothing else uses: they become the page's variables, which differ by light, dark and print.
INK, SOFT, LINE, FILL, BACK = (f"#00000{number}" for number in range(1, 6))
_VARIABLES = {INK: "var(--ink)", SOFT: "var(--soft)", LINE: "var(--line)", FILL: "var(--fill)", BACK: "var(--back)"}
_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "text.color": SOFT,
    "axes.labelcolor": SOFT,
    "axes.labelpad": 8,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "xtick.bottom": False,
    "ytick.left": False,
    "axes.spines.left": False,
    "axes.spines.bottom": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": LINE,
    "lines.markeredgewidth": 0,
}
Points = npt.NDArray[np.float64]


def _svg(
    title: str,
    width: float,
    height: float,
    draw: Callable[[Axes], None],
    box: tuple[float, float, float, float] | None = None,
) -> Markup:
    """Draw on one pair of axes; the title is for screen readers.

    The axes fill the box (left, bottom, width and height in pixels), or the space that their labels leave.

    An artist whose gid is `mark:TEXT` shows the text on hover.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    # Ids derived from the title are unique within the page and reproducible.
    with style.context(["default", {**_STYLE, "svg.hashsalt": title}]), warnings.catch_warnings():
        # Matplotlib measures text with a font that lacks many scripts; the browser has its own.
        warnings.filterwarnings("ignore", message=r"Glyph \d+")
        figure = Figure(figsize=(width / 72, height / 72), layout=None if box else "constrained")
        if box:
            left, bottom, across, up = box
            draw(figure.add_axes((left / width, bottom / height, across / width, up / height)))
        else:
            draw(figure.subplots())
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    text = file.getvalue()
    # Its style would apply to the whole page, and its other ids are the same in every plot.
    text = re.sub(r"<defs>\s*<style.*?</defs>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'<g id="mark:([^"]*)">', r'<g class="mark"><title>\1</title>', text)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub("#00000[1-5]", lambda colour: _VARIABLES[colour[0]], text)
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{html.escape(title)}">'
    return Markup(re.sub("<svg[^>]*>", lambda _: head, text, count=1))


def bars(title: str, counts: Sequence[int], x_label: str, *, first: int = 0) -> Markup:
    """Draw a histogram from the value `first` on; the last bar counts its value and above."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    def draw(axes: Axes) -> None:
        values = range(first, first + len(counts))
        drawn = axes.bar(values, counts, width=0.92, color=FILL)
        for value, count, bar in zip(values, counts, drawn, strict=True):
            name = f"{value} and above" if value == values[-1] else str(value)
            bar.set_gid(f"mark:{name}: {count:,}")
        axes.set(xlabel=x_label, xlim=(first - 0.6, first + len(counts) - 0.4), ylim=(0, max([*counts, 1])))
        axes.xaxis.set_major_locator(MaxNLocator(13, integer=True, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        axes.grid(visible=False, axis="x")

    return _svg(title, 560, 220, draw)


def curve(title: str, points: Mapping[float, float], x_label: str) -> Markup:
    """Draw a share over a share, with evenly spaced and labelled points along x."""
    if not points:
        return Markup("")
    from matplotlib.ticker import PercentFormatter

    def draw(axes: Axes) -> None:
        axes.plot(range(len(points)), list(points.values()), color=FILL, linewidth=2)
        for number, (share, value) in enumerate(points.items()):
            axes.plot([number], [value], "o", color=FILL, markersize=7, gid=f"mark:{share:.2%}: {value:.1%}")
        axes.set(xlabel=x_label, ylim=(0, 1.03))
        axes.set_xticks(range(len(points)), [f"{100 * share:g}%" for share in points])
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.grid(visible=False, axis="x")

    return _svg(title, 560, 220, draw)


@dataclass(frozen=True)
class Cloud:
    """Points of one group, one per row, in the colour and shape of a number; None means ink (black on white)."""

    name: str
    points: Points
    number: int | None

    @property
    def colour(self) -> str:
        """Its colour in the page."""
        return _VARIABLES[INK] if self.number is None else PALETTE[self.number % len(PALETTE)]

    @property
    def is_round(self) -> bool:
        """Whether its points are circles rather than triangles."""
        return self.number is None or self.number < len(PALETTE)


def cloud_map(title: str, clouds: Sequence[Cloud], links: Sequence[tuple[Points, Points]] = ()) -> Markup:
    """Draw points in the plane, without axes: only distances between points mean something."""

    def draw(axes: Axes) -> None:
        for link in links:
            axes.plot(*np.transpose(link), color=SOFT, linewidth=1)
        for cloud in clouds:
            colour = INK if cloud.number is None else cloud.colour
            size = 4.4 if cloud.number is None else 8
            shape = "o" if cloud.is_round else "^"
            axes.plot(*cloud.points.T, shape, color=colour, markersize=size, gid=f"mark:{cloud.name}")
        axes.axis("off")

    return _svg(title, 400, 400, draw, (0, 0, 400, 400))


def labelled_points(title: str, points: Mapping[str, tuple[float, float]], x_label: str, y_label: str) -> Markup:
    """Draw a few named points over two axes."""

    def draw(axes: Axes) -> None:
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.margins(0.12)
        axes.locator_params(nbins=5)
        for name, point in points.items():
            axes.plot(*point, "o", color=FILL, markersize=10, gid=f"mark:{name}")
        taken: list[tuple[float, float]] = []
        for name, point in sorted(points.items(), key=lambda item: -item[1][1]):
            low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
            x, y = (point - low) / (high - low)
            # Move a label below one that is already in its place.
            y = min([y, *(row - 0.06 for column, row in taken if abs(column - x) < 0.4 and abs(row - y) < 0.06)])
            taken.append((x, y))
            side, offset = ("right", -9) if x > 0.5 else ("left", 9)
            label = axes.annotate(
                name, (x, y), (offset, 0), "axes fraction", "offset points", ha=side, va="center", color=INK
            )
            label.set_in_layout(False)

    return _svg(title, 400, 300, draw)


def intervals_plot(title: str, intervals: Mapping[str, tuple[float, float, float]]) -> Markup:
    """Draw a dot per mean and a whisker between its ends, one per line; NaN ends are not drawn."""

    def draw(axes: Axes) -> None:
        for row, (name, (mean, low, high)) in enumerate(intervals.items()):
            axes.plot([low, high], [row, row], color=INK, linewidth=2)
            axes.plot([mean], [row], "o", color=FILL, markersize=10, gid=f"mark:{name}")
        shown = [name if len(name) <= 20 else f"…{name[-19:]}" for name in intervals]
        axes.set_yticks(range(len(intervals)), shown, color=INK)
        axes.set_ylim(len(intervals) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")

    return _svg(title, 400, 26 * len(intervals) + 30, draw)


def heat_map(title: str, counts: npt.NDArray[np.int64], names: Sequence[str]) -> Markup:
    """Draw how often a row's name was confused with a column's; columns use the rows' numbers."""
    size, highest = len(names), max(int((counts - np.diag(np.diag(counts))).max()), 1)

    def draw(axes: Axes) -> None:
        for row, column in np.argwhere(counts):
            if row == column:
                continue
            share = counts[row, column] / highest
            mark = f"mark:{names[row]}, {names[column]}: {counts[row, column]}"
            axes.bar(column, 1, width=1, bottom=row - 0.5, color=FILL, alpha=share).patches[0].set_gid(mark)
            ink = BACK if share > 0.6 else INK
            axes.text(column, row, str(counts[row, column]), ha="center", va="center", color=ink)
        axes.set_xticks(range(size), [str(number) for number in range(1, size + 1)])
        axes.set_yticks(range(size), [f"{name} {number}" for number, name in enumerate(names, 1)])
        axes.set_xticks(np.arange(size + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(size + 1) - 0.5, minor=True)
        axes.tick_params(which="both", length=0, labeltop=True, labelbottom=False)
        axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
        axes.grid(visible=False)
        axes.grid(visible=True, which="minor")

    cells = 24 * size
    return _svg(title, 320 + cells + 4, cells + 28, draw, (320, 4, cells, cells))
