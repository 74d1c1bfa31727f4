"""`turnloom evaluate`: any encoder on the dialogue benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnloom.cli.console import console, count_progress, split_names

if TYPE_CHECKING:
    from turnloom.benchmarks import RunResult, Task

__all__ = ["evaluate"]


def _load(model: str, bf16: bool) -> Any:
    from turnloom.benchmarks.baselines import BASELINES, BM25Scorer, baseline
    from turnloom.runtime.encoder import load_encoder
    from turnloom.runtime.scorer import is_cross_encoder, load_scorer

    kind, _, folder = model.partition(":")
    if model == "bm25":
        return BM25Scorer()
    if kind in BASELINES:
        return baseline(kind, Path(folder) if folder else None, bf16=bf16)
    return load_scorer(Path(model), bf16=bf16) if is_cross_encoder(Path(model)) else load_encoder(model, bf16=bf16)


def _wanted(suite: str | None, tasks: str | None, intents: Path | None, responses: Path | None) -> list[Task]:
    """The named tasks or the suite, and those on own data; `quick` if nothing is asked for."""
    from turnloom.benchmarks import suite_tasks, tasks_named
    from turnloom.benchmarks.suites import intent_tasks, reply_tasks

    own = [*(intent_tasks(intents) if intents else []), *(reply_tasks(responses) if responses else [])]
    if tasks:
        return [*tasks_named(split_names(tasks)), *own]
    return [*suite_tasks(suite or "quick"), *own] if suite or not own else own


def evaluate(
    model: str = typer.Argument(
        ..., help="A model's folder; or bm25, tfidf, static:FOLDER, whitening:FOLDER, cls:FOLDER, mean:FOLDER."
    ),
    suite: str | None = typer.Option(
        None, help="quick (if nothing else is said), dse, dse-finetune, dialoguecse, tadse, diaeval, ums or all."
    ),
    tasks: str | None = typer.Option(None, help="Only these tasks, separated by commas."),
    intents: Path | None = typer.Option(
        None, help="Your own labelled messages: CSV, TSV or JSONL with the columns text and label, perhaps split."
    ),
    responses: Path | None = typer.Option(None, help="Your own conversations: the folder of a dialogue table."),
    draws: int | None = typer.Option(None, help="At most so many random draws a task."),
    seed: int = typer.Option(0, help="The first draw's seed."),
    out: Path | None = typer.Option(None, help="Where results.json goes; by default runs/evaluate/MODEL."),
    cache: Path = typer.Option(Path("runs/embeddings"), help="Where embeddings are kept between runs."),
    bf16: bool = typer.Option(
        False, help="Encode in bfloat16: faster on CPUs with AMX, slower on others; differences around 0.001."
    ),
) -> None:
    """Measure an encoder on dialogue: intents, out-of-scope, replies, retrieval, similarity.

    Tasks that results.json holds already are not run again; texts that were encoded once are not encoded again.

    [bold]Examples[/]

    turnloom evaluate my-model/ --suite quick

    turnloom evaluate my-model/ --suite dse --out runs/my-model

    turnloom evaluate my-model/ --intents my-intents.csv --responses runs/corpus

    turnloom evaluate static:my-model/ --tasks intent-1shot-clinc150,sts-stsb_en
    """
    from turnloom.benchmarks import CachedEncoder, run_tasks
    from turnloom.benchmarks.baselines import lexical_tasks

    wanted = _wanted(suite, tasks, intents, responses)
    encoder = _load(model, bf16)
    wanted = lexical_tasks(wanted) if model == "bm25" else wanted
    out = out or Path("runs/evaluate") / encoder.name
    with count_progress() as progress:
        bar = progress.add_task(encoder.name, total=len(wanted), note="")
        encoded = [0]

        def count(texts: int) -> None:
            encoded[0] += texts

        def step(name: str, number: int, total: int) -> None:
            progress.update(bar, completed=number, total=total, note=f"{name}, {encoded[0]:,} texts encoded")

        result = run_tasks(CachedEncoder(encoder, cache, count), wanted, out, draws=draws, seed=seed, on_task=step)
    _summary(result, [task.info.name for task in wanted], out)


def _summary(result: RunResult, names: list[str], out: Path) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=result.model, title_justify="left", box=SIMPLE_HEAD)
    for heading in ("task", "score"):
        table.add_column(heading)
    for heading in ("mean", "± std", "draws", "seconds"):
        table.add_column(heading, justify="right")
    for name in names:
        task = result.tasks.get(name)
        if task is None:
            continue
        if task.error:
            table.add_row(name, "[red]failed[/]", "", "", "", f"{task.seconds:.1f}")
            continue
        note = "" if result.counts(task) else " (language not declared: not in means)"
        spread = f"{task.spread():.2f}" if len(task.draws) > 1 else ""
        cells = (f"{task.mean():.2f}", spread, str(len(task.draws)), f"{task.seconds:.1f}")
        table.add_row(name + note, task.info.main_score, *cells)
    console.print(table)
    for name in names:
        failed = result.tasks.get(name)
        if failed is not None and failed.error:
            console.print(f"{name} failed: {failed.error}", markup=False)
    console.print(
        "  ".join(f"{family}: {mean:.2f}" for family, mean in result.family_means().items() if family != "geometry")
    )
    console.print(f"Every draw of every score: {out}/results.json", markup=False)
