"""Evaluation one can trust: any encoder, measured on dialogue, fairly, in one command."""

from __future__ import annotations

from turnwise.benchmarks.cache import CachedEncoder
from turnwise.benchmarks.compare import compare_runs
from turnwise.benchmarks.results import RunResult, TaskResult, read_results, read_runs
from turnwise.benchmarks.run import run_tasks
from turnwise.benchmarks.suites import SUITES, suite_tasks, tasks_named
from turnwise.benchmarks.task import Draw, Task, TaskInfo

__all__ = [
    "SUITES",
    "CachedEncoder",
    "Draw",
    "RunResult",
    "Task",
    "TaskInfo",
    "TaskResult",
    "compare_runs",
    "read_results",
    "read_runs",
    "run_tasks",
    "suite_tasks",
    "tasks_named",
]
