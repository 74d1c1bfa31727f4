"""Collects the scores of all arms from their results into figures.json.

Usage: python -m studies.reranker.figures
"""

from __future__ import annotations

import statistics

from studies.figures import record
from studies.reranker.arms import RESULTS, arms
from turnwise.benchmarks import RunResult, read_results

SETS = ("ubuntu_irc", "sgd", "multiwoz21")
SCORES = {
    "r10_at_1": ("rerank-{}", "r10_at_1"),
    "mrr": ("rerank-{}", "mrr"),
    "adversarial_r10_at_1": ("rerank-{}-adversarial", "r10_at_1"),
    "adversarial_mrr": ("rerank-{}-adversarial", "mrr"),
    "planted_wins": ("rerank-{}-adversarial", "planted_first"),
}


def scores_of(result: RunResult) -> dict[str, float]:
    """The mean of the three sets, in percent."""
    found = {}
    for figure, (task, score) in SCORES.items():
        names = [task.format(dataset) for dataset in SETS]
        if all(name in result.tasks and result.tasks[name].error is None for name in names):
            found[figure] = statistics.fmean(result.tasks[name].mean(score) for name in names)
    return found


def main() -> None:
    for name in [arm.name for arm in arms()]:
        result = read_results(RESULTS / name) if (RESULTS / name / "done.json").exists() else None
        if result is not None:
            record("reranker", {f"{name}.{score}": value for score, value in scores_of(result).items()})


if __name__ == "__main__":
    main()
