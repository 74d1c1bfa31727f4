"""Running tasks: one after another, none losing the others, resumed where a run broke off."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.results import RunResult, TaskResult, read_results
from turnloom.benchmarks.task import Task
from turnloom.errors import TurnloomError
from turnloom.runtime.encoder import Scorer

__all__ = ["run_tasks"]


def _is_done(found: TaskResult | None, draws: int, seed: int) -> bool:
    return found is not None and found.error is None and len(found.groups) == draws and found.seed == seed


def _applies(task: Task, encoder: CachedEncoder) -> bool:
    """Spaces of contexts and replies are measured for models that have them; a scorer can re-rank, and nothing else."""
    if isinstance(encoder.encoder, Scorer):
        return task.info.family == "response re-ranking" or task.lexical
    return encoder.has_heads or not task.info.name.endswith("-heads")


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
        if _is_done(result.tasks.get(name), count, seed):
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
