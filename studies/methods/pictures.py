"""Draws what each method gains and what it costs, from figures.json, for docs/methods.md.

Usage: python -m studies.methods.pictures
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from studies.methods.arms import METHODS

FIGURES = Path(__file__).parent / "figures.json"
PICTURE = Path("docs/images/methods.svg")
ACROSS = ("intent_1shot_mean", "intents from one example, mean of four sets, %")
PANELS = (
    ("sgd_next_top1", "SGD: the true next turn first of 100, %"),
    ("action_macro_f1_mean", "what the assistant does next, macro F1"),
    ("medquad_top1", "general questions (MedQuAD): the answer first, %"),
)


def main() -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "turnloom", "font.size": 9})
    import matplotlib.pyplot as plt

    figures: dict[str, float] = json.loads(FIGURES.read_text())
    drawing, axes = plt.subplots(1, len(PANELS), figsize=(12, 4), layout="constrained")
    for axis, (score, title) in zip(axes, PANELS, strict=True):
        _panel(axis, figures, score, title)
    drawing.savefig(PICTURE, metadata={"Date": None})


def _panel(axis: Any, figures: dict[str, float], score: str, title: str) -> None:
    """One dot a method; dashed lines cross at the start."""
    across, label = ACROSS
    axis.axvline(figures[f"start.{across}"], color="grey", linewidth=0.7, linestyle="--")
    axis.axhline(figures[f"start.{score}"], color="grey", linewidth=0.7, linestyle="--")
    for method in ("start", *METHODS):
        place = (figures[f"{method}.{across}"], figures[f"{method}.{score}"])
        axis.plot(*place, "o", color="black" if method == "start" else "#0072b2", markersize=5)
        axis.annotate(method, place, xytext=(4, 4), textcoords="offset points", fontsize=8)
    axis.margins(0.22)
    axis.set(xlabel=label, title=title)


if __name__ == "__main__":
    main()
