"""Collects the scores of all arms from their results into figures.json.

Usage: python -m studies.reranker.figures

Arms that were measured, and the encoder beside them, have the mean of the three test sets, `<arm>.<score>`; subsets of
tasks have what validation says of them in the end, `validation.<arm>.<score>`. All in percent.
"""

from __future__ import annotations

import statistics

from studies.lib.figures import record
from studies.reranker.arms import MAIN, RESULTS, SUBSETS
from turnloom.benchmarks import RunResult

ENCODERS = ("turnloom", "turnloom-all-turns")
"""turnloom-mini by itself, no cross-encoder: with the three turns that it reads, and with all of them."""
SETS = ("ubuntu_irc", "sgd", "multiwoz21")
SCORES = {
    "r10_at_1": ("rerank-{}", "r10_at_1"),
    "mrr": ("rerank-{}", "mrr"),
    "adversarial_r10_at_1": ("rerank-{}-adversarial", "r10_at_1"),
    "adversarial_mrr": ("rerank-{}-adversarial", "mrr"),
    "planted_wins": ("rerank-{}-adversarial", "planted_first"),
}
ON_VALIDATION = {
    "r10_at_1": "r10_at_1",
    "adversarial_r10_at_1": "adversarial_r10_at_1",
    "planted_wins": "planted_first",
}
"""What a figure is called in a curve of training."""


def scores_of(result: RunResult) -> dict[str, float]:
    """The mean of the three sets, in percent."""
    found = {}
    for figure, (task, score) in SCORES.items():
        names = [task.format(dataset) for dataset in SETS]
        if all(name in result.tasks and result.tasks[name].error is None for name in names):
            found[figure] = statistics.fmean(result.tasks[name].mean(score) for name in names)
    return found


def validation_of(arm: str) -> dict[str, float]:
    """What validation says of an arm in the end, in percent."""
    last = RESULTS.curve(arm)[-1]
    return {figure: last[name] for figure, name in ON_VALIDATION.items()}


def finished(arms: tuple[str, ...]) -> list[str]:
    """Those whose results are there."""
    return [name for name in arms if RESULTS.is_done(name)]


def measured() -> dict[str, RunResult]:
    """The results on test splits, of cross-encoders first."""
    found = {name: RESULTS.scores(name) for name in (*finished(MAIN), *ENCODERS)}
    return {name: result for name, result in found.items() if result is not None}


def main() -> None:
    for name, result in measured().items():
        record("reranker", {f"{name}.{score}": value for score, value in scores_of(result).items()})
    for name in finished(SUBSETS):
        record("reranker", {f"validation.{name}.{score}": value for score, value in validation_of(name).items()})


if __name__ == "__main__":
    main()
