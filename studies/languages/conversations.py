"""Replies in Chinese: a conversation encoder over frozen vectors, on CrossWOZ.

Usage: python -m studies.languages.conversations RUNS MODEL...

RUNS has the test table; each MODEL's name ends with its seed (`conversation-1`). The frozen encoder gets its best
number of turns.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from studies.lib.figures import record
from studies.lib.results import Results
from turnloom.benchmarks import RunResult
from turnloom.benchmarks.compare import compare_runs, task_interval

RESULTS = Results("languages")
FROZEN = "universal-sentence-encoder"
TABLE = "crosswoz_zh-test"
TURNS = ("next", "context3", "all")


def measured(run: str, model: str, table: Path) -> RunResult:
    if RESULTS.scores(run) is None:
        RESULTS.evaluate(run, model, "--responses", str(table))
    found = RESULTS.scores(run)
    assert found is not None
    return found


def figures(frozen: RunResult, runs: list[RunResult]) -> dict[str, float]:
    stem, ours = f"select-{TABLE}", f"select-{TABLE}-all-heads"
    alone = {turns: frozen.tasks[f"{stem}-{turns}"] for turns in TURNS}
    best = max(alone, key=lambda turns: alone[turns].mean())
    each = [run.tasks[ours].mean() for run in runs]
    found = {f"frozen.crosswoz_{turns}_top1": task.mean() for turns, task in alone.items()}
    found |= {"frozen.crosswoz_top1": alone[best].mean(), "crosswoz_all_top1": statistics.fmean(each)}
    found["crosswoz_seeds"] = len(each)
    if len(each) > 1:
        found["crosswoz_all_top1_spread"] = max(each) - min(each)
    found["crosswoz_all_ratio"] = found["crosswoz_all_top1"] / found["frozen.crosswoz_top1"]
    found["crosswoz_all_top10"] = statistics.fmean(run.tasks[ours].mean("top10") for run in runs)
    found["crosswoz_next_top1"] = statistics.fmean(run.tasks[f"{stem}-next-heads"].mean() for run in runs)
    interval = task_interval(runs[0].tasks[ours])
    found |= {"crosswoz_all_top1_low": interval.low, "crosswoz_all_top1_high": interval.high}
    before, after = (  # The same contexts by both: all turns.
        run.model_copy(update={"tasks": {"all": run.tasks[name]}})
        for run, name in ((frozen, f"{stem}-all"), (runs[0], ours))
    )
    return found | {"crosswoz_all_gain_low": compare_runs(before, after).tasks["all"].interval.low}


def main(folder: str, *models: str) -> None:
    table = Path(folder) / TABLE
    frozen = measured("frozen", FROZEN, table)
    runs = [measured(f"seed{model.rpartition('-')[2]}", model, table) for model in models]
    record("languages", figures(frozen, runs))


if __name__ == "__main__":
    main(*sys.argv[1:])
