"""Measure reply search before and after training, and choose the model that `turnloom quickstart` continues with."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from turnloom.cli.console import say, share_progress
from turnloom.cli.evaluate import measure_all
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.benchmarks import RunResult, TaskResult
    from turnloom.benchmarks.compare import Difference
    from turnloom.runtime import Encoder

HEADS = "-heads"
CONTEXTS = {"-next": "one turn", "-context3": "three turns", "-all": "all turns"}
KEPT = "base-model"
VECTORS = "vectors"


def choose_model(out: Path, base: Path) -> Path:
    """Measure both models on held-out conversations; return the trained one, unless it is clearly worse.

    If it is, the base model is copied into the folder, so that you can move and serve the folder as a whole.
    """
    from turnloom.runtime.model_folder import model_folder

    trained = out / "model"
    try:
        before, after = _measure(out, base, trained)
    except TurnloomError as error:
        say(f"Not measured: {error.problem}. With more conversations this step will tell.")
        return trained
    lines, is_worse = describe_scores(before, after)
    for line in lines:
        say(line)
    say(f"In detail: turnloom compare {out}/scores/before {out}/scores/after")
    if not is_worse:
        return trained
    if not (out / KEPT).exists():
        shutil.copytree(model_folder(base), out / f".{KEPT}", dirs_exist_ok=True)
        (out / f".{KEPT}").rename(out / KEPT)
    return out / KEPT


def _measure(out: Path, base: Path, trained: Path) -> list[RunResult]:
    from turnloom.benchmarks.suites import reply_tasks

    tasks, vectors = reply_tasks(out / "held-out"), out / VECTORS
    shared = share_turns(base, trained)
    table, kept = out / ("prepared" if shared else "held-out"), vectors / (trained.name if shared else KEPT)
    after = encode_once(trained, table, vectors / trained.name, again=shared)
    before = encode_once(base, table, kept, again=False)
    return measure_all({"before": before, "after": after}, tasks, out / "scores")


def share_turns(base: Path, trained: Path) -> bool:
    """Whether two models give single turns the same vectors, because only a network above them was trained."""
    from turnloom.runtime import load_encoder
    from turnloom.runtime.protocols import turn_encoder

    return turn_encoder(load_encoder(base)).fingerprint == turn_encoder(load_encoder(trained)).fingerprint


def encode_once(model: Path, table: Path, vectors: Path, *, again: bool = True) -> Encoder:
    """Return a model that reads a table's texts from stored vectors; missing texts are encoded first.

    With `again=False`, existing vectors stay as they are: they may cover more texts than the table has.
    """
    from turnloom.runtime import load_encoder
    from turnloom.vectors import VectorOptions, build_vectors
    from turnloom.vectors.encoder import stored
    from turnloom.vectors.table import MANIFEST

    encoder = load_encoder(model)
    if again or not (vectors / MANIFEST).exists():
        with share_progress() as show:
            build_vectors([table], vectors, VectorOptions(lambda: encoder, command="turnloom quickstart"), show)
    return stored(encoder, vectors)


def _for_replies(run: RunResult) -> RunResult:
    """Return the run with one result per task: with the context and reply outputs where the model has them."""
    tasks: dict[str, TaskResult] = {}
    for name, task in sorted(run.tasks.items(), key=lambda item: item[0].endswith(HEADS)):
        tasks[name.removesuffix(HEADS)] = task
    return run.model_copy(update={"tasks": tasks})


def describe_scores(before: RunResult, after: RunResult) -> tuple[list[str], bool]:
    """Return lines that compare two runs, and whether the second is clearly worse."""
    from turnloom.benchmarks.compare import compare_runs

    first, second = _for_replies(before), _for_replies(after)
    lines = []
    for name, task in first.tasks.items():
        now = second.tasks[name]
        turns = next(said for end, said in CONTEXTS.items() if name.endswith(end))
        failed = task.error or now.error
        scores = failed or f"{task.mean():.1f} % before, {now.mean():.1f} % after training"
        lines.append(f"after {turns}: {scores}")
    try:
        overall = compare_runs(first, second).overall
    except TurnloomError:  # Every task failed in one of the runs; the lines say why.
        return lines, False
    return [*lines, *_conclusion(overall)], overall.is_clear and overall.interval.mean < 0


def _conclusion(overall: Difference) -> list[str]:
    said = (
        f"After training, the true reply came first in {overall.second:.0f} of 100 cases,"
        f" against {overall.first:.0f} before."
    )
    longer = "train longer (--minutes 30 and another --out) or on more conversations"
    if not overall.is_clear:
        return [said, f"That is no clear difference. For more, {longer}."]
    if overall.interval.mean > 0:
        return [said]
    return [said, f"Replies and intents below use the base model, which is better. To improve on it, {longer}."]
