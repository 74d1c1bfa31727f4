"""Evaluate any encoder on dialogue benchmarks, and compare models fairly."""

from __future__ import annotations

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.compare import compare_runs
from turnloom.benchmarks.run import RunResult, TaskResult, read_results, read_runs, run_tasks
from turnloom.benchmarks.suites import SUITES, suite_tasks, tasks_named
from turnloom.benchmarks.task import Draw, Task, TaskInfo

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
