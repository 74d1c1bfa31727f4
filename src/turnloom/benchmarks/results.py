"""What a run of benchmarks found: one JSON file, written anew after every task."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import turnloom
from turnloom.benchmarks.task import TaskInfo
from turnloom.errors import TurnloomError
from turnloom.files import write_whole

__all__ = ["RunResult", "TaskResult", "read_results", "read_runs"]

FILE = "results.json"


def _versions() -> dict[str, str]:
    packages = ("sentence-transformers", "transformers", "torch", "numpy", "scikit-learn")
    return {"turnloom": turnloom.__version__, "python": platform.python_version()} | {
        package: metadata.version(package) for package in packages
    }


class TaskResult(BaseModel):
    """The scores of one task, draw by draw, and the main score of each group of test examples in each draw."""

    model_config = ConfigDict(extra="forbid")

    info: TaskInfo
    draws: list[dict[str, float]] = Field(default_factory=list)
    groups: list[list[float]] = Field(default_factory=list)
    seed: int = 0
    seconds: float = 0.0
    error: str | None = None

    def mean(self, score: str | None = None) -> float:
        """The mean of a score over draws; the main score if none is named."""
        return statistics.fmean(draw[score or self.info.main_score] for draw in self.draws)

    def spread(self) -> float:
        """The standard deviation of the main score over draws."""
        values = [draw[self.info.main_score] for draw in self.draws]
        return statistics.stdev(values) if len(values) > 1 else 0.0


class RunResult(BaseModel):
    """One model on some tasks."""

    model_config = ConfigDict(extra="forbid")

    model: str
    fingerprint: str
    languages: list[str]
    versions: dict[str, str] = Field(default_factory=_versions)
    machine: str = Field(default_factory=lambda: f"{platform.machine()}, {os.cpu_count()} cores")
    tasks: dict[str, TaskResult] = Field(default_factory=dict)

    def counts(self, task: TaskResult) -> bool:
        """Whether a task belongs into means: it succeeded, in a language that the model declares or on own data.

        A variant whose thresholds come from the test split stands for comparison with a paper, and for nothing else.
        """
        spoken = task.info.own_data or task.info.language in self.languages
        return task.error is None and spoken and task.info.thresholds_from != "test"

    def family_means(self) -> dict[str, float]:
        """The mean main score of each family of tasks."""
        families: dict[str, list[float]] = {}
        for task in self.tasks.values():
            if self.counts(task):
                families.setdefault(task.info.family, []).append(task.mean())
        return {family: statistics.fmean(values) for family, values in families.items()}

    def save(self, folder: Path) -> None:
        """Write the results so that a killed run leaves the last whole file."""
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / FILE, json.dumps(self.model_dump(), indent=1) + "\n")


def read_results(folder: Path) -> RunResult | None:
    """The results of an earlier run, if there are any.

    Raises:
        TurnloomError: If the file is damaged, or of another version.
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        return RunResult.model_validate_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise TurnloomError(f"{path} holds no results ({reason})", "evaluate again, into another --out") from error


def read_runs(folders: Sequence[Path]) -> dict[str, RunResult]:
    """The results of several runs by the model's name; by folder where two models have one name.

    Raises:
        TurnloomError: If a folder holds no results.
    """
    found = {}
    for folder in folders:
        result = read_results(folder)
        if result is None:
            raise TurnloomError(f"{folder} has no {FILE}", f"write it with 'turnloom evaluate MODEL --out {folder}'")
        found[folder] = result
    models = [result.model for result in found.values()]
    return {
        result.model if models.count(result.model) == 1 else str(folder): result for folder, result in found.items()
    }
