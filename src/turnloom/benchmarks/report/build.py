"""The whole report, put together."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from turnloom.benchmarks.cache import read_vectors
from turnloom.benchmarks.report.confusion import CONFUSION_TASK, confusion_part, find_confusion
from turnloom.benchmarks.report.drawing import STYLE, figure, labelled_points
from turnloom.benchmarks.report.maps import INTENT_TASK, PAIR_TASK, Lookup, intent_maps, pair_maps
from turnloom.benchmarks.report.published import comparable_tables, other_tables
from turnloom.benchmarks.report.standing import Standing, find_standing
from turnloom.benchmarks.report.tables import leaderboard, task_tables
from turnloom.benchmarks.results import RunResult
from turnloom.corpus.page import page
from turnloom.errors import TurnloomError

__all__ = ["build_report"]

CONFUSED_MODELS = 2
GEOMETRY = "geometry-clinc150"
HEAT_STYLE = ".heat figure { min-width: 40rem; max-width: 56rem; }"


def _missing(models: Sequence[str], task: str, standing: Standing, cache: Path) -> str:
    """Which command makes the vectors that are not there; results that exist already would not be made again."""
    if not models:
        return ""
    rough = any(standing.runs[name].fingerprint.endswith("-bf16") for name in models)
    command = f"turnloom evaluate MODEL --tasks {task} --cache {cache}{' --bf16' if rough else ''} --out NEW-FOLDER"
    return (
        f"<p>No vectors are kept in {html.escape(str(cache))} for {html.escape(', '.join(models))}. "
        f"This makes them: <code>{html.escape(command)}</code></p>"
    )


def _geometry(standing: Standing) -> str:
    points = {
        name: (run.tasks[GEOMETRY].mean("uniformity"), run.tasks[GEOMETRY].mean("alignment"))
        for name, run in standing.runs.items()
        if GEOMETRY in run.tasks and not run.tasks[GEOMETRY].error
    }
    if not points:
        return f"<p>No run has {GEOMETRY}: <code>turnloom evaluate MODEL --tasks {GEOMETRY}</code></p>"
    drawing = labelled_points("Uniformity and alignment of each model", points, "uniformity", "alignment")
    caption = (
        "CLINC150 test messages; messages of one intent are positives. Lower is better on both axes: spread evenly "
        "over the sphere (left), messages of one intent close together (below)."
    )
    return figure(drawing, caption, "plot")


def _confusions(lookups: Mapping[str, Lookup], standing: Standing, cache: Path) -> str:
    parts, missing = [], []
    for model in list(lookups)[:CONFUSED_MODELS]:
        found = find_confusion(lookups[model])
        if found is None:
            missing.append(model)
        else:
            parts.append(confusion_part(model, found))
    return "".join(parts) + _missing(missing, CONFUSION_TASK, standing, cache)


def _where_data_is(part: Callable[[], str]) -> str:
    """A part of the page, or what is wrong when its public set is not on this machine."""
    try:
        return part()
    except TurnloomError as error:
        return f"<p>Not drawn. {html.escape(str(error))}</p>"


def build_report(runs: Mapping[str, RunResult], cache: Path, on_part: Callable[[str], None] = lambda _: None) -> str:
    """The report on some runs as one self-contained HTML page.

    Args:
        runs: The runs by name.
        cache: Where embeddings are kept between runs: maps and confusions are made of them, no model is loaded.
        on_part: Called with the name of each part before it is made.

    Raises:
        TurnloomError: If the runs have no task in common.
    """
    standing = find_standing(runs)
    lookups = {name: partial(read_vectors, cache, runs[name].fingerprint) for name in standing.places}

    def maps(draw: Callable[[Mapping[str, Lookup]], tuple[str, list[str]]], task: str) -> str:
        drawn, missing = draw(lookups)
        return drawn + _missing(missing, task, standing, cache)

    note = "<p>Near means alike; distances between far groups and directions mean nothing (t-SNE).</p>"
    parts: dict[str, Callable[[], str]] = {
        "Leaderboard": lambda: leaderboard(standing),
        "Every task": lambda: task_tables(standing),
        "Map of intents": lambda: note + maps(intent_maps, INTENT_TASK),
        "Map of questions and answers": lambda: note + maps(pair_maps, PAIR_TASK),
        "Uniformity and alignment": lambda: _geometry(standing),
        "Confused intents": lambda: _confusions(lookups, standing, cache),
        "Beside published numbers": lambda: comparable_tables(standing),
        "Not comparable, for orientation": other_tables,
    }
    sections = {}
    for name, part in parts.items():
        on_part(name)
        sections[name] = _where_data_is(part)
    numbers = {
        "models": str(len(runs)),
        "tasks ranked by": str(len(standing.tasks)),
        "best overall": next(iter(standing.places)),
    }
    lead = "Dialogue benchmarks, higher is better. Intervals are 95 %, over draws and over test messages."
    return page("Evaluated encoders", lead, numbers, [], sections, style=STYLE + HEAT_STYLE, wide=True)
