"""Collects the scores of all methods from their results into figures.json.

Usage: python -m studies.methods.figures
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path

from studies.baselines.figures import SCORES, scores_of
from studies.figures import record
from studies.methods.arms import METHODS, MINUTES, RESULTS, SEEDS
from turnwise.benchmarks import RunResult, read_results

HEADED = ("ubuntu_irc_top1", "sgd_next_top1", "multiwoz_next_top1", "sgd_context3_top1", "multiwoz_context3_top1")


def all_scores(result: RunResult) -> dict[str, float]:
    """The scores of a run; next turns in the space of contexts and replies where the model has one."""
    scores = scores_of(result)
    for figure in HEADED:
        headed = result.tasks.get(f"{SCORES[figure][0]}-heads")
        if headed is not None and headed.error is None:
            scores[figure] = headed.mean()
    return scores


def main() -> None:
    start = read_results(Path(__file__).parent.parent / "baselines" / "all-MiniLM-L6-v2")
    assert start is not None
    figures = {f"start.{name}": value for name, value in all_scores(start).items()}
    figures["minutes_per_method"] = MINUTES
    for method in METHODS:
        names = [method, *[f"{method}-seed{seed}" for seed in range(1, SEEDS.get(method, 1))]]
        folders = [RESULTS / name for name in names if (RESULTS / name / "done.json").exists()]
        found = [result for folder in folders if (result := read_results(folder)) is not None]
        if not found:
            continue
        scores = [all_scores(result) for result in found]
        for name in scores[0]:
            figures[f"{method}.{name}"] = statistics.fmean(each[name] for each in scores)
        pairs = [json.loads((folder / "training.json").read_text())["pairs"] for folder in folders]
        figures[f"{method}.pairs"] = statistics.fmean(pairs)
    record("methods", figures)


if __name__ == "__main__":
    main()
