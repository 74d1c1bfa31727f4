"""Runs that stand for several training seeds."""

from __future__ import annotations

import pytest
from studies.lib.tables import differences_table, mean_run, scores_table, transposed

from turnloom.benchmarks import RunResult
from turnloom.benchmarks.compare import compare_runs
from turnloom.benchmarks.run import TaskResult
from turnloom.benchmarks.task import TaskInfo

INFO = TaskInfo(
    name="one", family="intent", level="utterance", dataset="clinc150", language="en", main_score="accuracy", draws=2
)


def run(*groups: list[float], error: str | None = None) -> RunResult:
    """A model whose draws found these scores in the groups of test messages."""
    draws = [{"accuracy": sum(row) / len(row), "other": row[0]} for row in groups]
    task = TaskResult(info=INFO, draws=draws, groups=list(groups), error=error)
    return RunResult(model="m", fingerprint="f", languages=["en"], tasks={"one": task})


def test_scores_are_means_over_seeds_draw_by_draw_and_group_by_group() -> None:
    mean = mean_run([run([10.0, 20.0], [30.0, 50.0]), run([20.0, 40.0], [30.0, 10.0])]).tasks["one"]
    assert mean.groups == [[15.0, 30.0], [30.0, 30.0]]
    assert mean.draws == [{"accuracy": 22.5, "other": 15.0}, {"accuracy": 30.0, "other": 30.0}]


def test_one_seed_stands_for_itself() -> None:
    alone = run([10.0, 20.0], [30.0, 50.0])
    assert mean_run([alone]) == alone


def test_differences_of_means_stay_paired() -> None:
    seeds = [run([50.0, 60.0, 70.0], [55.0, 65.0, 75.0]), run([52.0, 62.0, 72.0], [57.0, 67.0, 77.0])]
    start = run([48.0, 58.0, 68.0], [53.0, 63.0, 73.0])
    overall = compare_runs(start, mean_run(seeds)).overall
    # Each seed lies a fixed distance above the start in all groups: paired, nothing is left to doubt.
    assert overall.paired
    assert (overall.interval.low, overall.interval.high) == pytest.approx((3.0, 3.0))
    (_, _, row) = differences_table({"over start": (mean_run(seeds), start)}, {"row": ("one",)})
    assert row == "| row | +3.0 (+3.0 to +3.0) \\* |"
    assert scores_table({"m": seeds}, {"row": ("one",)})[-1] == "| row | 63.5 ± 1.4 |"


def test_a_seed_that_lacks_a_task_or_failed_has_no_part_in_its_mean() -> None:
    whole, failed = run([10.0, 20.0], [30.0, 50.0]), run([90.0, 90.0], [90.0, 90.0], error="broke")
    lacking = whole.model_copy(update={"tasks": {}})
    assert mean_run([failed, whole]).tasks == whole.tasks
    assert mean_run([lacking, whole]).tasks == whole.tasks
    assert not mean_run([lacking, failed]).tasks
    assert differences_table({"over": (mean_run([failed]), whole)}, {"row": ("one",)})[-1] == "| row |  |"


def test_seeds_of_different_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        mean_run([run([10.0, 20.0], [30.0, 50.0]), run([10.0, 20.0])])


def test_a_wide_table_becomes_several_that_fit() -> None:
    table = ["| | a | b |", "|---|---|---|", "| x | 1 | 2 |", "| y | 3 |  |", "| z | 5 |  |"]
    assert transposed(table, 2) == [
        ["| | x | y |", "|---|---|---|", "| a | 1 | 3 |", "| b | 2 |  |"],
        ["| | z |", "|---|---|", "| a | 5 |"],
    ]
