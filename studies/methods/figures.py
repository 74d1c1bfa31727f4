"""Collects the scores of all methods from their results into figures.json.

Usage: python -m studies.methods.figures
"""

from __future__ import annotations

import statistics

from studies.baselines.figures import RESULTS as BASELINES
from studies.baselines.figures import scores_of
from studies.lib.figures import record
from studies.lib.tables import mean_run
from studies.methods.arms import MATCHING, METHODS, MINUTES, RAW, RESULTS, SEEDS, TEMPLATES
from turnloom.benchmarks import RunResult

HEADS = "-heads"


def as_used(result: RunResult) -> RunResult:
    """The same run with next turns as the model is used for them: by its heads where it has them."""
    tasks = dict(result.tasks)
    for name, headed in result.tasks.items():
        if name.startswith("select-") and name.endswith(HEADS) and headed.error is None:
            tasks[name.removesuffix(HEADS)] = headed
    return result.model_copy(update={"tasks": tasks})


def all_scores(result: RunResult) -> dict[str, float]:
    """The scores of a run; next turns in the space of contexts and replies where the model has one."""
    return scores_of(as_used(result))


def finished_seeds(method: str) -> list[str]:
    """The runs of a method that are finished, the first seed first."""
    names = [method, *[f"{method}-seed{seed}" for seed in range(1, SEEDS.get(method, 1))]]
    return [name for name in names if RESULTS.is_done(name)]


def method_figures(method: str) -> dict[str, float]:
    """The means over the seeds of a method that are finished."""
    seeds = finished_seeds(method)
    found = [result for seed in seeds if (result := RESULTS.scores(seed)) is not None]
    if not found:
        return {}
    pairs = [RESULTS.get(seed, "training")["pairs"] for seed in seeds]
    return {**all_scores(mean_run(found)), "pairs": statistics.fmean(pairs), "seeds": len(found)}


def main() -> None:
    start = BASELINES.scores("all-MiniLM-L6-v2")
    assert start is not None
    figures = {f"start.{name}": value for name, value in all_scores(start).items()}
    figures["minutes_per_method"] = MINUTES
    for method in (*METHODS, *MATCHING, *TEMPLATES):
        figures |= {f"{method}.{name}": value for name, value in method_figures(method).items()}
    for method in ("none", *RAW):
        found = method_figures(f"raw-{method}")
        figures |= {f"raw.{method}.{name}": value for name, value in found.items() if name == "intent_1shot_mean"}
    record("methods", figures)


if __name__ == "__main__":
    main()
