"""The leaderboard and the table of every task."""

from __future__ import annotations

import html
import math

from turnloom.benchmarks.compare import NO_DIFFERENCE, Interval, task_interval
from turnloom.benchmarks.report.drawing import figure, intervals_plot
from turnloom.benchmarks.report.standing import Place, Standing
from turnloom.benchmarks.results import RunResult
from turnloom.corpus.page import Html, wide_table

__all__ = ["leaderboard", "standing_in_words", "task_tables"]


def _ends(interval: Interval) -> str:
    return "" if math.isnan(interval.low) else f"<br><small>{interval.low:.1f} to {interval.high:.1f}</small>"


def _against_best(place: Place) -> str:
    if place.behind is None:
        return "best mean"
    return f"{place.behind.interval.mean:+.1f}, clear" if place.is_clear else NO_DIFFERENCE


def standing_in_words(standing: Standing) -> str:
    """Who is best, and who cannot be told apart from the best."""
    best, *others = standing.places
    equal = [name for name in others if not standing.places[name].is_clear]
    clear = [name for name in others if standing.places[name].is_clear]
    text = f"{best} has the highest overall mean."
    if equal:
        text += f" There is {NO_DIFFERENCE} between it and {_listed(equal)}."
    if clear:
        text += f" It is clearly better than {_listed(clear)}."
    return text


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def leaderboard(standing: Standing) -> str:
    """Models by families with 95 % intervals, the best first; in words who is no worse than the best."""
    families = list(next(iter(standing.places.values())).families)
    rows = []
    for name, place in standing.places.items():
        marked = "" if place.is_clear else " ●"
        means = [place.overall, *(place.families[family] for family in families)]
        cells = [Html(f"{mean.mean:.1f}{_ends(mean)}") for mean in means]
        rows.append((f"{name}{marked}", cells[0], _against_best(place), *cells[1:]))
    caption = (
        f"Mean scores with 95 % intervals over the {len(standing.tasks)} tasks that all ranked models have; overall is "
        "the mean over families. ● marks the best and those without a clear difference to it. Models that saw the same "
        "draws and messages are compared pair by pair: a difference can be clear although intervals overlap."
    )
    parts = [f"<p>{html.escape(standing_in_words(standing))}</p>"]
    headings = ["model", "overall", "against the best", *families]
    parts.append(wide_table("Leaderboard", headings, rows, caption=caption))
    overall = {name: place.overall for name, place in standing.places.items()}
    parts.append(
        figure(intervals_plot("Overall means with 95 % intervals", overall), "Overall mean, 95 % interval.", "plot")
    )
    apart = [name for name in standing.runs if name not in standing.places]
    if apart:
        parts.append(f"<p>Not ranked, since not measured on every family of tasks: {html.escape(_listed(apart))}.</p>")
    return "".join(parts)


def _cell(run: RunResult, task: str, is_best: bool) -> str:
    found = run.tasks.get(task)
    if found is None:
        return ""
    if found.error:
        return "failed"
    interval = task_interval(found)
    text = f"{interval.mean:.1f}" + ("" if math.isnan(interval.low) else f" ± {interval.half_width:.1f}")
    text = f"{text} *" if not run.counts(found) else text
    return Html(f"<b>{text}</b>") if is_best else text


def task_tables(standing: Standing) -> str:
    """A table a family with every task and model."""
    infos = {name: task.info for run in standing.runs.values() for name, task in run.tasks.items()}
    families: dict[str, list[str]] = {}
    for name, info in infos.items():
        if info.family != "geometry":
            families.setdefault(info.family, []).append(name)
    parts = [
        "<p>Means with half the width of the 95 % interval. Bold: clearly better than every other model. "
        "* Not in means: the model does not declare the language, or thresholds come from the test messages.</p>"
    ]
    for family, tasks in families.items():
        runs = {name: run for name, run in standing.runs.items() if run.tasks.keys() & set(tasks)}
        rows = []
        for task in tasks:
            best = standing.clear_best(task)
            cells = [_cell(run, task, name == best) for name, run in runs.items()]
            rows.append((f"{task} ({infos[task].main_score})", *cells))
        parts.append(f"<h3>{family.capitalize()}</h3>")
        parts.append(wide_table(f"Tasks: {family}", ["task (score)", *runs], rows))
    return "".join(parts)
