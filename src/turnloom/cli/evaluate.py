"""`turnloom evaluate`, `compare` and `report`: measure encoders on dialogue benchmarks, and see which is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from turnloom.cli.console import (
    BF16,
    VECTORS,
    console,
    count_progress,
    load_model,
    new_table,
    say,
    split_names,
    write_text,
)
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.benchmarks import RunResult, Task
    from turnloom.benchmarks.compare import Comparison, Difference


def _load(model: str, bf16: bool) -> Any:
    from turnloom.benchmarks.baselines import BASELINES, BM25Scorer, baseline

    name, _, folder = model.partition(":")
    if model == "bm25":
        return BM25Scorer()
    if name in BASELINES:
        return baseline(name, Path(folder) if folder else None, bf16=bf16)
    if name == "rerank":
        from turnloom.runtime.reranker import ConversationScorer

        return ConversationScorer(load_model(Path(folder), bf16=bf16))
    return load_model(Path(model), bf16=bf16)


def _wanted(suite: str | None, tasks: str | None, intents: Path | None, responses: Path | None) -> list[Task]:
    """Return the named tasks or the suite's, and those on the user's own data; `quick` by default."""
    from turnloom.benchmarks import suite_tasks, tasks_named
    from turnloom.benchmarks.suites import intent_tasks, reply_tasks

    own = [*(intent_tasks(intents) if intents else []), *(reply_tasks(responses) if responses else [])]
    if tasks:
        return [*tasks_named(split_names(tasks)), *own]
    return [*suite_tasks(suite or "quick"), *own] if suite or not own else own


def evaluate(
    model: str = typer.Argument(
        ...,
        help="A model's folder; or rerank:FOLDER for its re-ranker, "
        "bm25, tfidf, static:FOLDER, whitening:FOLDER, cls:FOLDER, mean:FOLDER.",
    ),
    suite: str | None = typer.Option(
        None, help="quick (the default), dse, dse-finetune, dialoguecse, tadse, diaeval, ums, conversation or all."
    ),
    tasks: str | None = typer.Option(None, help="Only these tasks, separated by commas."),
    intents: Path | None = typer.Option(
        None, help="Your own labelled messages: CSV, TSV or JSONL with the columns text and label, perhaps split."
    ),
    responses: Path | None = typer.Option(None, help="Your own conversations: the folder of a dialogue table."),
    draws: int | None = typer.Option(None, help="The most random draws per task."),
    seed: int = typer.Option(0, help="The first draw's seed."),
    out: Path | None = typer.Option(None, help="Where results.json goes; by default runs/evaluate/MODEL."),
    cache: Path = typer.Option(Path("runs/embeddings"), help="Where embeddings are kept between runs."),
    vectors: Path | None = VECTORS,
    bf16: bool = BF16,
) -> None:
    """See how well a model understands dialogue: intents, out of scope, replies, retrieval, similarity.

    Finished tasks are not run again, and each text is encoded once.

    [bold]Examples[/]

    turnloom evaluate my-model/ --suite quick

    turnloom evaluate my-model/ --suite dse --out runs/my-model

    turnloom evaluate my-model/ --intents my-intents.csv --responses runs/corpus

    turnloom evaluate static:my-model/ --tasks intent-1shot-clinc150,sts-stsb_en
    """
    from turnloom.benchmarks import CachedEncoder, run_tasks
    from turnloom.benchmarks.baselines import lexical_tasks
    from turnloom.vectors.encoder import stored

    wanted = _wanted(suite, tasks, intents, responses)
    encoder = stored(_load(model, bf16), vectors)
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


def measure_all(models: Mapping[str, Any], tasks: list[Task], folder: Path) -> list[RunResult]:
    """Run tasks on each model, with a progress bar and a results folder of its name."""
    from turnloom.benchmarks import CachedEncoder, run_tasks

    results = []
    with count_progress() as progress:
        for name, model in models.items():
            bar = progress.add_task(name, total=len(tasks), note="")

            def step(task: str, number: int, total: int, bar: Any = bar) -> None:
                progress.update(bar, completed=number, total=total, note=task)

            results.append(run_tasks(CachedEncoder(model), tasks, folder / name, on_task=step))
    return results


def _summary(result: RunResult, names: list[str], out: Path) -> None:

    table = new_table(result.model)
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
            say(f"{name} failed: {failed.error}")
    console.print(
        "  ".join(f"{family}: {mean:.2f}" for family, mean in result.family_means().items() if family != "geometry")
    )
    say(f"Every draw of every score: {out}/results.json")


def compare(
    runs: list[Path] = typer.Argument(..., help="Folders with results.json, two or more; the first is the reference."),
) -> None:
    """See which model is better: differences with 95 % intervals, and a verdict in words.

    Draws and test messages are resampled. Verdicts are corrected for the number of tasks.

    [bold]Examples[/]

    turnloom compare runs/evaluate/old-model runs/evaluate/new-model
    """
    from turnloom.benchmarks.compare import compare_runs
    from turnloom.benchmarks.run import read_runs

    results = read_runs(runs)
    if len(results) < 2:
        raise TurnloomError("one run alone cannot be compared", "name two or more folders with results.json")
    first, *others = results
    for other in others:
        _print(compare_runs(results[first], results[other]), first, other)


def _cells(difference: Difference, first: str, second: str) -> tuple[str, ...]:
    interval = difference.interval
    ends = "" if math.isnan(interval.low) else f" [{interval.low:+.2f}, {interval.high:+.2f}]"
    scores = (f"{difference.first:.2f}", f"{difference.second:.2f}", f"{interval.mean:+.2f}{ends}")
    return (*scores, difference.verdict(first, second))


def _print(comparison: Comparison, first: str, second: str) -> None:

    table = new_table(escape(f"{second} against {first}"), padding=(0, 1, 0, 0))
    table.add_column("task", no_wrap=True)
    for heading in (escape(first), escape(second), "difference, 95 %"):
        table.add_column(heading, justify="right", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for name, difference in comparison.tasks.items():
        table.add_row(name, *map(escape, _cells(difference, first, second)))
    table.add_section()
    table.add_row("overall", *map(escape, _cells(comparison.overall, first, second)), style="bold")
    console.print(table)
    say(_closing(comparison, first, second))
    say("That is true of these two models: trained with another seed, either may score differently.")
    if any(math.isnan(difference.interval.low) for difference in comparison.tasks.values()):
        console.print("Tasks without an interval were measured before examples were kept: evaluate them again.")


def _closing(comparison: Comparison, first: str, second: str) -> str:
    clear = [difference for difference in comparison.tasks.values() if difference.is_clear]
    better = sum(difference.interval.mean > 0 for difference in clear)
    worse, rest = len(clear) - better, len(comparison.tasks) - len(clear)
    overall = comparison.overall.verdict(first, second)
    return (
        f"Overall: {overall}. Of {len(comparison.tasks)} tasks, {second} is better on {better}, {first} on {worse}; "
        f"no clear difference on {rest}."
    )


def report(
    runs: list[Path] = typer.Argument(..., help="Folders with results.json, as 'turnloom evaluate' writes them."),
    out: Path = typer.Option(Path("report.html"), help="Where the page goes."),
    cache: Path = typer.Option(Path("runs/embeddings"), help="Where embeddings are kept; no model is loaded."),
) -> None:
    """Get one self-contained HTML page: leaderboard, every task, maps, confusions, published numbers.

    [bold]Examples[/]

    turnloom report runs/evaluate/old-model runs/evaluate/new-model --out report.html
    """
    from turnloom.benchmarks.report import build_report
    from turnloom.benchmarks.run import read_runs

    with console.status("reading …") as status:
        text = build_report(read_runs(runs), cache, lambda name: status.update(f"{name} …"))
    write_text(out, text)
    say(f"Page: {out} ({len(text.encode()) / 1e6:.1f} MB)")
