"""Replies in Chinese: a conversation encoder over frozen vectors, on CrossWOZ and the Chinese DailyDialog.

Usage: python -m studies.languages.conversations RUNS MODEL...

RUNS has the test tables, each MODEL was trained with another seed. The frozen encoder gets its best number of turns.
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
TABLES = {"crosswoz": "crosswoz_zh-test", "xdailydialog": "xdailydialog_zh-test"}
TURNS = ("next", "context3", "all")


def measured(run: str, model: str, table: Path) -> RunResult:
    if RESULTS.scores(run) is None:
        RESULTS.evaluate(run, model, "--responses", str(table))
    found = RESULTS.scores(run)
    assert found is not None
    return found


def figures(short: str, table: Path, models: list[str]) -> dict[str, float]:
    frozen = measured(f"frozen-{short}", FROZEN, table)
    runs = [measured(f"seed{seed}-{short}", model, table) for seed, model in enumerate(models)]
    stem, ours = f"select-{table.name}", f"select-{table.name}-all-heads"
    alone = {turns: frozen.tasks[f"{stem}-{turns}"] for turns in TURNS}
    best = max(alone, key=lambda turns: alone[turns].mean())
    each = [run.tasks[ours].mean() for run in runs]
    found = {f"frozen.{short}_{turns}_top1": task.mean() for turns, task in alone.items()}
    found |= {f"frozen.{short}_top1": alone[best].mean(), f"{short}_all_top1": statistics.fmean(each)}
    found |= {f"{short}_all_top1_spread": max(each) - min(each)}
    found[f"{short}_all_top10"] = statistics.fmean(run.tasks[ours].mean("top10") for run in runs)
    found[f"{short}_next_top1"] = statistics.fmean(run.tasks[f"{stem}-next-heads"].mean() for run in runs)
    interval = task_interval(runs[0].tasks[ours])
    found |= {f"{short}_all_top1_low": interval.low, f"{short}_all_top1_high": interval.high}
    # The same contexts by both: with all turns.
    before, after = (
        run.model_copy(update={"tasks": {"all": run.tasks[name]}})
        for run, name in ((frozen, f"{stem}-all"), (runs[0], ours))
    )
    return found | {f"{short}_all_gain_low": compare_runs(before, after).tasks["all"].interval.low}


def main(folder: str, *models: str) -> None:
    found: dict[str, float] = {}
    for short, name in TABLES.items():
        found |= figures(short, Path(folder) / name, list(models))
    found["crosswoz_all_ratio"] = found["crosswoz_all_top1"] / found["frozen.crosswoz_top1"]
    record("languages", found)


if __name__ == "__main__":
    main(*sys.argv[1:])
