"""Report on evaluated models, as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from markupsafe import Markup

from turnloom.benchmarks.cache import read_vectors
from turnloom.benchmarks.report import maps
from turnloom.benchmarks.report.leaderboard import Standing, find_standing, leaderboard, task_tables
from turnloom.benchmarks.report.published import comparable_tables, other_tables
from turnloom.benchmarks.run import RunResult
from turnloom.errors import TurnloomError
from turnloom.pages import figure, page, paragraph
from turnloom.pages.plots import labelled_points
from turnloom.runtime.protocols import BF16

__all__ = ["build_report"]


GEOMETRY = "geometry-clinc150"


def _geometry(standing: Standing) -> Markup:
    points = {
        name: (run.tasks[GEOMETRY].mean("uniformity"), run.tasks[GEOMETRY].mean("alignment"))
        for name, run in standing.runs.items()
        if GEOMETRY in run.tasks and not run.tasks[GEOMETRY].error
    }
    if not points:
        return paragraph(f"No run has {GEOMETRY}: <code>turnloom evaluate MODEL --tasks {GEOMETRY}</code>")
    drawing = labelled_points("Uniformity and alignment of each model", points, "uniformity", "alignment")
    caption = (
        "CLINC150 test messages; messages of one intent are positives. Lower is better on both axes: spread evenly "
        "over the sphere (left), messages of one intent close together (below)."
    )
    return figure(drawing, caption, "plot")


def build_report(runs: Mapping[str, RunResult], cache: Path, on_part: Callable[[str], None] = lambda _: None) -> str:
    """Return a report on runs, by name, as one self-contained HTML page.

    Maps and confusions use the embeddings that earlier runs left in `cache`; no model is loaded. `on_part` is called
    with the name of each section before it is built.
    """
    standing = find_standing(runs)
    lookups = {name: partial(read_vectors, cache, runs[name].fingerprint) for name in standing.places}

    def from_vectors(draw: Callable[[Mapping[str, maps.Lookup]], maps.Drawn], task: str) -> Markup:
        """Draw what the cache allows, and show the command for missing vectors."""
        drawn, missing = draw(lookups)
        if not missing:
            return drawn
        bf16 = " --bf16" if any(runs[name].fingerprint.endswith(BF16) for name in missing) else ""
        # A new folder, since existing results would not be computed again.
        command = f"turnloom evaluate MODEL --tasks {task} --cache {cache}{bf16} --out NEW-FOLDER"
        text = "No vectors are kept in {} for {}. This makes them: <code>{}</code>"
        return drawn + paragraph(text, str(cache), ", ".join(missing), command)

    note = paragraph("Near means alike; distances between far groups and directions mean nothing (t-SNE).")
    parts: dict[str, Callable[[], Markup]] = {
        "Leaderboard": lambda: leaderboard(standing),
        "Every task": lambda: task_tables(standing),
        "Map of intents": lambda: note + from_vectors(maps.intent_maps, maps.INTENT_TASK),
        "Map of questions and answers": lambda: note + from_vectors(maps.pair_maps, maps.PAIR_TASK),
        "Uniformity and alignment": lambda: _geometry(standing),
        "Confused intents": lambda: from_vectors(maps.confusions, maps.CONFUSION_TASK),
        "Beside published numbers": lambda: comparable_tables(standing),
        "Not comparable, for orientation": other_tables,
    }
    sections = {}
    for name, part in parts.items():
        on_part(name)
        try:
            sections[name] = part()
        except TurnloomError as error:  # A public data set is not on this machine.
            sections[name] = paragraph("Not drawn. {}", str(error))
    numbers = {
        "models": str(len(runs)),
        "tasks ranked by": str(len(standing.tasks)),
        "best overall": next(iter(standing.places)),
    }
    lead = "Dialogue benchmarks, higher is better. Intervals are 95 %, over draws and over test messages."
    return page("Evaluated encoders", lead, numbers, [], sections, wide=True)
