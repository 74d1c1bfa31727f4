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


def from_logs(intents: Figures, discovery: Figures, conversation: Figures) -> Chart:
    """What a team gets from its own logs, and what the usual tools make of the same."""
    return Chart(
        "What your own logs give you",
        "Share that is right, beside the usual tools. Higher is better.",
        (
            Group(
                "Intents: each has a name, an example and your logs",
                {"Turnloom": intents["mean4.1shot.names_pool"], "SetFit, example": intents["setfit.mean4.1shot"]},
            ),
            Group(
                "Intents that nobody listed: messages in the right group",
                {"Turnloom": discovery["mean_accuracy"], "BERTopic": discovery["bertopic.mean_accuracy"]},
            ),
            Group(
                "Airline support: the true reply comes first of 100",
                {
                    "Turnloom": conversation["airline_adapted_all_top1"],
                    "all-MiniLM-L6-v2": conversation["start.airline_top1"],
                },
            ),
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


def scale_stages(scale: Figures, prepared: Mapping[str, Figures], indexed: Mapping[str, Figures]) -> dict[str, Chart]:
    """Return a chart for each stage that grows with a corpus, by its file's name, of the sizes that are measured.

    Args:
        scale: The figures of the study on scale.
        prepared: Points of `prepare`, by size in turns.
        indexed: Points of reply indexes, by size in replies.
    """
    near = {f"{size} million": size for size in (5, 17, 37) if f"near_{size}m_peak_gib" in scale}
    contexts = [size for size in (10_000, 30_000, 100_000, 300_000, 1_000_000) if f"data_{size}_top1" in scale]
    charts = {
        "scale-prepare": (
            "Cleaning, by turns",
            "Two cores, one process, without near duplicates. Shorter is better.",
            {
                "Seconds per million turns": {name: point["per_million"] for name, point in prepared.items()},
                "Peak memory, GiB": {name: point["peak_gib"] for name, point in prepared.items()},
            },
        ),
        "scale-near": (
            "Near duplicates, by turns",
            "Cleaning with near duplicates, one process. Shorter is better.",
            {
                "Processor seconds per million turns": {
                    name: scale[f"near_{size}m_seconds_per_million"] for name, size in near.items()
                },
                "Peak memory, GiB": {name: scale[f"near_{size}m_peak_gib"] for name, size in near.items()},
            },
        ),
        "scale-encode": (
            "Encoding",
            "Two layers of all-MiniLM-L6-v2, short texts. Longer is better.",
            {
                "Texts per second of a core": {
                    "turnloom vectors": scale["encode_texts_per_core_second"],
                    "bare encoder": scale["encode_texts_per_core_second"] / scale["encode_ratio_to_bare"],
                }
            },
        ),
        "scale-replies": (
            "Reply search, by replies",
            "Two cores. Shorter is better.",
            {
                "Time to answer at p95, ms": {name: point["hybrid_p95_ms"] for name, point in indexed.items()},
                "Memory while searching, GiB": {name: point["search_gib"] for name, point in indexed.items()},
                "Memory while building, GiB": {name: point["build_gib"] for name, point in indexed.items()},
                "Minutes to build": {name: point["build_minutes"] for name, point in indexed.items()},
            },
        ),
        "scale-data": (
            "Conversation training, by contexts",
            "True next reply first of 100, in %, at equal steps. Longer is better.",
            {"Mean of two validation splits": {f"{size:,}": scale[f"data_{size}_top1"] for size in contexts}},
        ),
    }
    return {
        name: Chart(title, note, tuple(Group(*group) for group in groups.items()), unit="", own_scales=True)
        for name, (title, note, groups) in charts.items()
        if all(groups.values())
    }


def read_scale_stages() -> dict[str, Chart]:
    """Read what the stages' charts show."""
    prepared = json.loads((ROOT / "studies" / "corpus" / "results.json").read_text(encoding="utf-8"))
    indexed = json.loads((ROOT / "studies" / "applications" / "replies_curve.json").read_text(encoding="utf-8"))
    larger = ROOT / "studies" / "scale" / "results.json"
    for name, point in json.loads(larger.read_text(encoding="utf-8") if larger.exists() else "{}").items():
        if name.startswith("replies-") and point.get("done") and int(name[8:]) > max(map(int, indexed)):
            indexed[name[8:]] = point
    return scale_stages(
        read_figures("scale"),
        {f"{size} million": prepared[f"scale-exact-{size}"] for size in (5, 17, 37)},
        {f"{int(size):,}": point for size, point in indexed.items()},
    )


def drawings() -> dict[Path, str]:
    """Return every chart by its file."""
    return {
        **{IMAGES / f"{name}.svg": chart.svg() for name, chart in read_scale_stages().items()},
        IMAGES / "against-setfit.svg": against_setfit(read_figures("applications")).svg(),
        IMAGES / "from-logs.svg": from_logs(*map(read_figures, ("intents", "discovery", "conversation"))).svg(),
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
