"""Collects the scores of all methods from their results into figures.json.

Usage: python -m studies.methods.figures
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path

from studies.arms import is_done
from studies.baselines.figures import scores_of
from studies.figures import record
from studies.methods.arms import MATCHING, METHODS, MINUTES, RAW, RESULTS, SEEDS, TEMPLATES
from studies.tables import mean_run
from turnloom.benchmarks import RunResult, read_results

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


def finished_seeds(method: str) -> list[Path]:
    """The results of the seeds of a method that are finished, the first seed first."""
    names = [method, *[f"{method}-seed{seed}" for seed in range(1, SEEDS.get(method, 1))]]
    return [RESULTS / name for name in names if is_done(RESULTS / name)]


def method_figures(method: str) -> dict[str, float]:
    """The means over the seeds of a method that are finished."""
    folders = finished_seeds(method)
    found = [result for folder in folders if (result := read_results(folder)) is not None]
    if not found:
        return {}
    pairs = [json.loads((folder / "training.json").read_text())["pairs"] for folder in folders]
    return {**all_scores(mean_run(found)), "pairs": statistics.fmean(pairs), "seeds": len(found)}


def main() -> None:
    start = read_results(Path(__file__).parent.parent / "baselines" / "all-MiniLM-L6-v2")
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
