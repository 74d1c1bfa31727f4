"""The leaderboard and the tables of every task: rank models on shared tasks, and see which are clearly behind."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from turnloom.benchmarks.compare import (
    LEVEL,
    NO_DIFFERENCE,
    Comparison,
    Difference,
    Interval,
    compare_runs,
    holm,
    mean_intervals,
    shared_tasks,
    task_interval,
)
from turnloom.benchmarks.run import RunResult
from turnloom.errors import TurnloomError
from turnloom.pages import figure, paragraph, wide_table
from turnloom.pages.plots import intervals_plot


@dataclass(frozen=True)
class Place:
    """A model's means on the shared tasks, overall and by family, and how far it is behind the best."""

    overall: Interval
    families: dict[str, Interval]
    behind: Difference | None = None  # None for the best itself.
    is_clear: bool = False  # Corrected for the number of models.


@dataclass(frozen=True)
class Standing:
    """All runs, the best first and unranked ones last, and the tasks that all ranked runs share.

    `places` has the ranked runs, `pairs` a comparison of each two runs that share a task.
    """

    runs: dict[str, RunResult]
    tasks: list[str]
    places: dict[str, Place]
    pairs: dict[tuple[str, str], Comparison]

    def clear_best(self, task: str) -> str | None:
        """Return the model that is clearly better than every other on a task, if there is one."""
        scores = {
            name: run.tasks[task].mean()
            for name, run in self.runs.items()
            if task in run.tasks and run.counts(run.tasks[task])
        }
        if len(scores) < 2:
            return None
        best = max(scores, key=lambda name: scores[name])
        both = [(self.pairs.get((best, other)) or self.pairs[other, best]) for other in scores if other != best]
        differences = [pair.tasks.get(task) for pair in both]
        return best if all(found is not None and found.is_clear for found in differences) else None


def _families(run: RunResult) -> set[str]:
    return {run.tasks[name].info.family for name in shared_tasks([run])}


def find_standing(runs: Mapping[str, RunResult]) -> Standing:
    """Rank the runs that have every family of tasks; the others are not comparable."""
    most = max(len(_families(run)) for run in runs.values())
    ranked = {name: run for name, run in runs.items() if len(_families(run)) == most}
    tasks = shared_tasks(list(ranked.values()))
    if not tasks:
        raise TurnloomError("these runs have no task in common", "evaluate all of them on the same suite")
    means = {name: mean_intervals(run, tasks) for name, run in ranked.items()}
    order = sorted(ranked, key=lambda name: -means[name][0].mean)
    behind = {name: compare_runs(runs[order[0]], runs[name], tasks).overall for name in order[1:]}
    p_values = holm([difference.p_value for difference in behind.values()])
    clear = {name: p_value < LEVEL for name, p_value in zip(behind, p_values, strict=True)}
    places = {name: Place(*means[name], behind.get(name), clear.get(name, False)) for name in order}
    ordered = {name: runs[name] for name in [*order, *(name for name in runs if name not in ranked)]}
    pairs = {
        (one, other): compare_runs(ordered[one], ordered[other])
        for one, other in itertools.combinations(ordered, 2)
        if shared_tasks([ordered[one], ordered[other]])
    }
    return Standing(ordered, tasks, places, pairs)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def standing_in_words(standing: Standing) -> str:
    """Say which model is best, and which are not clearly worse."""
    best, *others = standing.places
    equal = [name for name in others if not standing.places[name].is_clear]
    clear = [name for name in others if standing.places[name].is_clear]
    text = f"{best} has the highest overall mean."
    if equal:
        text += f" There is {NO_DIFFERENCE} between it and {_listed(equal)}."
    if clear:
        text += f" It is clearly better than {_listed(clear)}."
    return text


def _with_ends(interval: Interval) -> str:
    if math.isnan(interval.low):
        return f"{interval.mean:.1f}"
    return Markup(f"{interval.mean:.1f}<br><small>{interval.low:.1f} to {interval.high:.1f}</small>")


def leaderboard(standing: Standing) -> Markup:
    """Return a table of models by family with 95 % intervals, best first, and a summary in words."""
    rows = []
    for name, place in standing.places.items():
        marked = name if place.is_clear else f"{name} ●"
        families = [_with_ends(mean) for mean in place.families.values()]
        against_best = "best mean"
        if place.behind is not None:
            against_best = f"{place.behind.interval.mean:+.1f}, clear" if place.is_clear else NO_DIFFERENCE
        rows.append((marked, _with_ends(place.overall), against_best, *families))
    caption = (
        f"Mean scores with 95 % intervals over the {len(standing.tasks)} tasks that all ranked models have; overall is "
        "the mean over families. ● marks the best and those without a clear difference to it. Models that saw the same "
        "draws and messages are compared pair by pair: a difference can be clear although intervals overlap."
    )
    headings = ["model", "overall", "against the best", *next(iter(standing.places.values())).families]
    means = {name: place.overall for name, place in standing.places.items()}
    plot = intervals_plot(
        "Overall means with 95 % intervals", {name: (mean.mean, mean.low, mean.high) for name, mean in means.items()}
    )
    html = paragraph("{}", standing_in_words(standing))
    html += wide_table("Leaderboard", headings, rows, caption) + figure(plot, "Overall mean, 95 % interval.", "plot")
    apart = [name for name in standing.runs if name not in standing.places]
    if apart:
        html += paragraph("Not ranked, since not measured on every family of tasks: {}.", _listed(apart))
    return html


def _cell(run: RunResult, task: str, is_best: bool) -> str:
    result = run.tasks.get(task)
    if result is None:
        return ""
    if result.error:
        return "failed"
    interval = task_interval(result)
    text = f"{interval.mean:.1f}" + ("" if math.isnan(interval.low) else f" ± {interval.half_width:.1f}")
    text = f"{text} *" if not run.counts(result) else text
    return Markup(f"<b>{text}</b>") if is_best else text


def task_tables(standing: Standing) -> Markup:
    """Return one table per family, with every task and model."""
    infos = {name: task.info for run in standing.runs.values() for name, task in run.tasks.items()}
    families: dict[str, list[str]] = {}
    for name, info in infos.items():
        if info.family != "geometry":
            families.setdefault(info.family, []).append(name)
    html = paragraph(
        "Means with half the width of the 95 % interval. Bold: clearly better than every other model. "
        "* Not in means: the model does not declare the language, or thresholds come from the test messages."
    )
    for family, tasks in families.items():
        runs = {name: run for name, run in standing.runs.items() if run.tasks.keys() & set(tasks)}
        rows = []
        for task in tasks:
            best = standing.clear_best(task)
            cells = [_cell(run, task, name == best) for name, run in runs.items()]
            rows.append((f"{task} ({infos[task].main_score})", *cells))
        html += Markup("<h3>{}</h3>").format(family.capitalize())
        html += wide_table(f"Tasks: {family}", ["task (score)", *runs], rows)
    return html
