"""Runs: tasks one after another, none losing the others, their results in one JSON file written after each."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import turnloom
from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.task import Task, TaskInfo
from turnloom.errors import TurnloomError
from turnloom.files import write_whole
from turnloom.runtime.protocols import Scorer

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
    """The results of an earlier run, if there are any; raises TurnloomError if the file is damaged."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        return RunResult.model_validate_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise TurnloomError(f"{path} holds no results ({reason})", "evaluate again, into another --out") from error


def read_runs(folders: Sequence[Path]) -> dict[str, RunResult]:
    """The results of several runs by the model's name; by folder where two models have one name."""
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


def _applies(task: Task, encoder: CachedEncoder) -> bool:
    """Spaces of contexts and replies are measured for models that have them; a scorer can re-rank, and nothing else."""
    if isinstance(encoder.encoder, Scorer):
        return task.info.family == "response re-ranking" or task.lexical
    return encoder.has_heads or task.space == "plain"


def run_tasks(
    encoder: CachedEncoder,
    tasks: Sequence[Task],
    out: Path,
    *,
    draws: int | None = None,
    seed: int = 0,
    on_task: Callable[[str, int, int], None] = lambda *_: None,
) -> RunResult:
    """Evaluate an encoder on tasks and write the results after each one.

    Args:
        encoder: The encoder, cached.
        tasks: What to measure.
        out: Where `results.json` goes; tasks that it holds already are not run again.
        draws: Random draws a task; each task's own number if not given.
        seed: The first draw's seed.
        on_task: Called before each task with its name, its number and how many there are.
    """
    spoken = sorted(encoder.languages or ["en"])
    result = read_results(out)
    if result is not None and result.fingerprint != encoder.fingerprint:
        raise TurnloomError(f"{out} holds results of another model ({result.model})", "choose another --out")
    result = result or RunResult(model=encoder.name, fingerprint=encoder.fingerprint, languages=spoken)
    wanted = [task for task in tasks if _applies(task, encoder)]
    for number, task in enumerate(wanted):
        name, count = task.info.name, min(draws, task.info.draws) if draws else task.info.draws
        before = result.tasks.get(name)
        if before and before.error is None and len(before.groups) == count and before.seed == seed:
            continue
        on_task(name, number, len(wanted))
        start = time.perf_counter()
        try:
            drawn = task.evaluate(encoder, count, seed)
            scores, groups = [draw.scores for draw in drawn], [draw.groups() for draw in drawn]
            found = TaskResult(info=task.info, draws=scores, groups=groups, seed=seed)
        except TurnloomError as error:
            found = TaskResult(info=task.info, seed=seed, error=str(error))
        except Exception as error:
            found = TaskResult(info=task.info, seed=seed, error=f"{type(error).__name__}: {error}")
        found.seconds = time.perf_counter() - start
        result.tasks[name] = found
        result.save(out)
    return result
