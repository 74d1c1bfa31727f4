"""`turnloom compare`: which of several evaluated models is better, and whether that is clear."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from turnloom.cli.console import console
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.benchmarks.compare import Comparison, Difference

__all__ = ["compare"]


def compare(
    runs: list[Path] = typer.Argument(..., help="Folders with results.json, two or more; the first is the reference."),
) -> None:
    """Compare evaluated models: differences with 95 % intervals, and in words whether one is better.

    Both what was drawn and which test messages there are is resampled. Verdicts are corrected for the number of tasks.

    [bold]Examples[/]

    turnloom compare runs/evaluate/old-model runs/evaluate/new-model
    """
    from turnloom.benchmarks.compare import compare_runs
    from turnloom.benchmarks.run import read_runs

    found = read_runs(runs)
    if len(found) < 2:
        raise TurnloomError("one run alone cannot be compared", "name two or more folders with results.json")
    first, *others = found
    for other in others:
        _print(compare_runs(found[first], found[other]), first, other)


def _cells(difference: Difference, first: str, second: str) -> tuple[str, ...]:
    interval = difference.interval
    ends = "" if math.isnan(interval.low) else f" [{interval.low:+.2f}, {interval.high:+.2f}]"
    scores = (f"{difference.first:.2f}", f"{difference.second:.2f}", f"{interval.mean:+.2f}{ends}")
    return (*scores, difference.verdict(first, second))


def _print(comparison: Comparison, first: str, second: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=escape(f"{second} against {first}"), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    table.add_column("task", no_wrap=True)
    for heading in (escape(first), escape(second), "difference, 95 %"):
        table.add_column(heading, justify="right", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for name, difference in comparison.tasks.items():
        table.add_row(name, *map(escape, _cells(difference, first, second)))
    table.add_section()
    table.add_row("overall", *map(escape, _cells(comparison.overall, first, second)), style="bold")
    console.print(table)
    console.print(_closing(comparison, first, second), markup=False)
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
