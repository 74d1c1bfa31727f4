"""Run tasks one after another, and write one JSON file after each; a failed task does not stop the others."""

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
    """The scores of one task by draw, and each draw's main score by group of test examples."""

    model_config = ConfigDict(extra="forbid")

    info: TaskInfo
    draws: list[dict[str, float]] = Field(default_factory=list)
    groups: list[list[float]] = Field(default_factory=list)
    seed: int = 0
    seconds: float = 0.0
    error: str | None = None

    def mean(self, score: str | None = None) -> float:
        """Return the mean of a score over draws; by default of the main score."""
        return statistics.fmean(draw[score or self.info.main_score] for draw in self.draws)

    def spread(self) -> float:
        """Return the standard deviation of the main score over draws."""
        values = [draw[self.info.main_score] for draw in self.draws]
        return statistics.stdev(values) if len(values) > 1 else 0.0


class RunResult(BaseModel):
    """The results of one model on some tasks.

    Attributes:
        model: The model's name.
        fingerprint: Identifies the model.
        languages: The languages that the model declares.
        versions: The versions of the software.
        machine: The machine's processor type and number of cores.
        tasks: The result of each task, by name.
    """

    model_config = ConfigDict(extra="forbid")

    model: str
    fingerprint: str
    languages: list[str]
    versions: dict[str, str] = Field(default_factory=_versions)
    machine: str = Field(default_factory=lambda: f"{platform.machine()}, {os.cpu_count()} cores")
    tasks: dict[str, TaskResult] = Field(default_factory=dict)

    def counts(self, task: TaskResult) -> bool:
        """Whether a task counts in means: it succeeded, in a language that the model declares or on your own data.

        A variant with thresholds from the test split is only for comparison with a paper, and doesn't count.
        """
        spoken = task.info.own_data or task.info.language in self.languages
        return task.error is None and spoken and task.info.thresholds_from != "test"

    def family_means(self) -> dict[str, float]:
        """Return the mean main score of each family of tasks."""
        families: dict[str, list[float]] = {}
        for task in self.tasks.values():
            if self.counts(task):
                families.setdefault(task.info.family, []).append(task.mean())
        return {family: statistics.fmean(values) for family, values in families.items()}

    def save(self, folder: Path) -> None:
        """Write the results atomically: a killed run leaves the last complete file."""
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / FILE, json.dumps(self.model_dump(), indent=1) + "\n")


def read_results(folder: Path) -> RunResult | None:
    """Read the results of an earlier run, if any; raise TurnloomError if the file is damaged."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        return RunResult.model_validate_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise TurnloomError(f"{path} holds no results ({reason})", "evaluate again, into another --out") from error


def read_runs(folders: Sequence[Path]) -> dict[str, RunResult]:
    """Read the results of several runs, by model name; by folder if two models have the same name."""
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
    """Whether a task applies: outputs for contexts and replies need a model with heads, and a scorer only re-ranks."""
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
    """Evaluate an encoder on tasks, and write the results after each one.

    Args:
        encoder: The encoder, with a cache.
        tasks: The tasks to run.
        out: The folder for `results.json`; tasks that it already contains are not run again.
        draws: The number of random draws per task; by default each task's own.
        seed: The first draw's seed.
        on_task: Called before each task with its name, its number and the number of tasks.
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
