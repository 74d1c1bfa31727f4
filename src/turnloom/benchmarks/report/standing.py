"""Who stands where: which runs can be ranked, on which tasks, and who is clearly behind the best."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from turnloom.benchmarks.compare import (
    LEVEL,
    Comparison,
    Difference,
    Interval,
    compare_runs,
    holm,
    mean_intervals,
    shared_tasks,
)
from turnloom.benchmarks.results import RunResult
from turnloom.errors import TurnloomError

__all__ = ["Place", "Standing", "find_standing"]


@dataclass(frozen=True)
class Place:
    """A model's means on the shared tasks, and how it compares with the best.

    Attributes:
        overall: The mean over families.
        families: The mean of each family.
        behind: The difference to the best; None for the best itself.
        is_clear: Whether it is clearly behind, corrected for the number of models.
    """

    overall: Interval
    families: dict[str, Interval]
    behind: Difference | None = None
    is_clear: bool = False


@dataclass(frozen=True)
class Standing:
    """All runs, ordered.

    Attributes:
        runs: The runs by name, the best first; those that cannot be ranked last.
        tasks: What the ranking is made of: the tasks that all ranked runs have.
        places: The ranked runs.
        pairs: Every two runs that share a task, compared.
    """

    runs: dict[str, RunResult]
    tasks: list[str]
    places: dict[str, Place]
    pairs: dict[tuple[str, str], Comparison]

    def clear_best(self, task: str) -> str | None:
        """The model that is clearly better than every other on a task, if there is one."""
        scores = {
            name: run.tasks[task].mean()
            for name, run in self.runs.items()
            if task in run.tasks and run.counts(run.tasks[task])
        }
        if len(scores) < 2:
            return None
        best = max(scores, key=lambda name: scores[name])
        differences = [self._pair(best, other).tasks.get(task) for other in scores if other != best]
        return best if all(found is not None and found.is_clear for found in differences) else None

    def _pair(self, one: str, other: str) -> Comparison:
        return self.pairs[(one, other) if (one, other) in self.pairs else (other, one)]


def _families(run: RunResult) -> set[str]:
    return {run.tasks[name].info.family for name in shared_tasks([run])}


def find_standing(runs: Mapping[str, RunResult]) -> Standing:
    """Rank the runs that have every family of tasks; the others would be ranked on something else.

    Raises:
        TurnloomError: If there is no task to rank by.
    """
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
