"""Draw the charts of the README and the documentation from the studies' figures.

Usage: python -m tools.charts

Bars start at zero. Drawings fit a phone and grow with the page. A test fails when one of them does not match the
figures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH, MARGIN, LABEL = 480, 16, 136
BAR, GAP, GROUP = 20, 7, 46
OURS, OTHERS = "#00695c", ("#8d9aa5", "#b4bec6", "#d0d7dc")
Figures = Mapping[str, float]


@dataclass(frozen=True)
class Group:
    """Bars below one heading, each with a name and a value; the first is highlighted."""

    title: str
    bars: Mapping[str, float]


@dataclass(frozen=True)
class Chart:
    """A drawing of horizontal bars.

    Attributes:
        title: The headline: what the chart shows.
        note: How to read it, in one line.
        groups: Headings with their bars.
        unit: What follows a value.
        own_scales: Whether the longest bar of every group is as long as the drawing, for groups of different units.
    """

    title: str
    note: str
    groups: tuple[Group, ...]
    unit: str = " %"
    own_scales: bool = False

    def svg(self) -> str:
        """Return the drawing; its title and description are for screen readers."""
        longest = WIDTH - 2 * MARGIN - LABEL - 64
        parts, top = [], 66.0
        for group in self.groups:
            scale = longest / max(max(one.bars.values()) for one in ([group] if self.own_scales else self.groups))
            parts.append(f'<text class="group" x="{MARGIN}" y="{top + 14:.0f}">{escape(group.title)}</text>')
            top += 26
            for number, (name, value) in enumerate(group.bars.items()):
                parts.append(self._bar(name, value, value * scale, top, number))
                top += BAR + GAP
            top += GROUP - 26
        told = "; ".join(
            f"{group.title}: " + ", ".join(f"{name} {value:.1f}{self.unit}" for name, value in group.bars.items())
            for group in self.groups
        )
        height = top - GROUP + 26 + MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img">\n'
            f"<title>{escape(self.title)}</title><desc>{escape(told)}</desc>\n"
            "<style>text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1f2a30;font-size:14px}"
            ".title{font-size:18px;font-weight:700}.note{fill:#4d5b63;font-size:13px}.group{font-weight:600}"
            ".ours{font-weight:700;fill:#00574b}.end{text-anchor:end}</style>\n"
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:.0f}" rx="8" fill="#ffffff" '
            'stroke="#d5dbdf"/>\n'
            f'<text class="title" x="{MARGIN}" y="30">{escape(self.title)}</text>\n'
            f'<text class="note" x="{MARGIN}" y="50">{escape(self.note)}</text>\n' + "\n".join(parts) + "\n</svg>\n"
        )

    def _bar(self, name: str, value: float, width: float, top: float, number: int) -> str:
        colour = OURS if number == 0 else OTHERS[min(number - 1, len(OTHERS) - 1)]
        kind = ' class="ours"' if number == 0 else ""
        left, middle = MARGIN + LABEL, top + BAR / 2 + 5
        return (
            f'<text{kind} x="{MARGIN}" y="{middle:.0f}">{escape(name)}</text>'
            f'<rect x="{left}" y="{top:.0f}" width="{width:.1f}" height="{BAR}" rx="3" fill="{colour}"/>'
            f'<text{kind} x="{left + width + 6:.1f}" y="{middle:.0f}">{value:.1f}{self.unit}</text>'
        )


def read_figures(study: str) -> Figures:
    """Read a study's recorded figures."""
    found: Figures = json.loads((ROOT / "studies" / study / "figures.json").read_text(encoding="utf-8"))
    return found


def against_setfit(figures: Figures) -> Chart:
    """Mistakes on CLINC150: Turnloom, a linear layer, and SetFit."""
    names = {"Turnloom": "", "linear layer": "linear.", "SetFit": "setfit."}

    def missing(score: str) -> dict[str, float]:
        return {name: 100 - figures[f"{prefix}{score}"] for name, prefix in names.items()}

    return Chart(
        "Mistakes on CLINC150",
        "150 intents, 10 examples each. Share of messages, lower is better.",
        (
            Group("Wrong intent", missing("clinc150_in_accuracy_before_reject")),
            Group("Out-of-scope message let through *", missing("clinc150_oos_recall_at_equal_reject")),
        ),
    )


def next_replies(figures: Figures) -> Chart:
    """How often the true reply ranks first among 100."""
    names = {"turnloom-mini": "turnloom", "gte-small": "gte-small", "base model": "start"}
    groups = {
        "SGD, after one turn": "sgd_next_top1",
        "SGD, after three turns": "sgd_context3_top1",
        "MultiWOZ, after one turn": "multiwoz_next_top1",
        "MultiWOZ, after three turns": "multiwoz_context3_top1",
    }
    bars = {title: {name: figures[f"{run}.{score}"] for name, run in names.items()} for title, score in groups.items()}
    return Chart(
        "It finds the reply that really came next",
        "True reply ranked first among 100. Higher is better.",
        tuple(Group(title, values) for title, values in bars.items()),
    )


def methods(figures: Figures) -> Chart:
    """Every method that was measured on all three tasks, best first."""
    groups = {
        "The true next reply first of 100 (SGD), %": "sgd_next_top1",
        "What the assistant does next, macro F1": "action_macro_f1_mean",
        "Intents from one example, mean of four sets, %": "intent_1shot_mean",
    }
    runs = [name.removesuffix(".action_macro_f1_mean") for name in figures if name.endswith(".action_macro_f1_mean")]

    def ordered(score: str) -> dict[str, float]:
        found = {"base model" if run == "start" else run: figures[f"{run}.{score}"] for run in runs}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    return Chart(
        "No method is best at everything",
        "Same base model, data and training time. Higher is better.",
        tuple(Group(title, ordered(score)) for title, score in groups.items()),
        unit="",
    )


def how_many_examples(figures: Figures) -> Chart:
    """Accuracy by the number of examples, with names and a pool, with names, and with examples alone."""
    ways = {"names + pool": "names_pool", "names": "names", "examples only": "examples"}
    titles = {0: "No example", 1: "One example per intent", 5: "Five examples per intent"}
    groups = [
        Group(
            title, {name: figures[key] for name, way in ways.items() if (key := f"mean4.{shots}shot.{way}") in figures}
        )
        for shots, title in titles.items()
    ]
    return Chart(
        "How many examples do you need?",
        "Right intent, mean of four public test sets. Higher is better.",
        tuple(groups),
    )


def by_size(title: str, note: str, figures: Figures, sizes: Mapping[str, str], rows: Mapping[str, str]) -> Chart:
    """Bars by the size of a corpus, for those sizes that are measured.

    Args:
        title: The headline.
        note: How to read it.
        figures: The figures.
        sizes: What a size is called, and its name in figures.
        rows: Headings, and the names of their figures with a place for the size's.
    """
    groups = [
        Group(heading, {name: figures[key] for name, size in sizes.items() if (key := row.format(size)) in figures})
        for heading, row in rows.items()
    ]
    return Chart(title, note, tuple(group for group in groups if group.bars), unit="", own_scales=True)


def scale_stages(figures: Figures) -> dict[str, Chart]:
    """Return a chart for each stage that grows with a corpus, by its file's name."""
    return {
        "scale-near": by_size(
            "Near duplicates, by turns",
            "prepare with near duplicates, in one process. Shorter is better.",
            figures,
            {f"{size} million": f"{size}m" for size in (5, 17, 37)},
            {
                "Processor seconds per million turns": "near_{}_seconds_per_million",
                "Peak memory, GiB": "near_{}_peak_gib",
            },
        ),
        "scale-replies": by_size(
            "Reply search, by replies",
            "Width 384. One core builds. Shorter is better.",
            figures,
            {f"{size} million": f"{size}m" for size in (1, 3, 10)},
            {
                "Time to answer at p95, ms": "replies_{}_p95_ms",
                "Memory while searching, GiB": "replies_{}_search_gib",
                "Memory while building, GiB": "replies_{}_build_gib",
                "Minutes to build": "replies_{}_build_minutes",
            },
        ),
        "scale-data": by_size(
            "Conversation training, by contexts",
            "True next reply first of 100, in %, at equal steps. Longer is better.",
            figures,
            {"10,000": "10000", "30,000": "30000", "100,000": "100000", "300,000": "300000", "891,000": "1000000"},
            {"Mean of two validation splits": "data_{}_top1"},
        ),
    }


def drawings() -> dict[Path, str]:
    """Return every chart by its file."""
    stages = scale_stages(read_figures("scale"))
    return {
        **{IMAGES / f"{name}.svg": chart.svg() for name, chart in stages.items() if chart.groups},
        IMAGES / "against-setfit.svg": against_setfit(read_figures("applications")).svg(),
        IMAGES / "how-many-examples.svg": how_many_examples(read_figures("intents")).svg(),
        IMAGES / "methods.svg": methods(read_figures("methods")).svg(),
        IMAGES / "next-replies.svg": next_replies(read_figures("flagship")).svg(),
    }


def main() -> None:
    for path, text in drawings().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
