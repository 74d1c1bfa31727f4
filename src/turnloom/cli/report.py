"""`turnloom report`: evaluated models on one HTML page."""

from __future__ import annotations

from pathlib import Path

import typer

from turnloom.cli.console import console, write_text

__all__ = ["report"]


def report(
    runs: list[Path] = typer.Argument(..., help="Folders with results.json, as 'turnloom evaluate' writes them."),
    out: Path = typer.Option(Path("report.html"), help="Where the page goes."),
    cache: Path = typer.Option(Path("runs/embeddings"), help="Where embeddings are kept; no model is loaded."),
) -> None:
    """Write one self-contained HTML page: leaderboard, every task, maps, confusions, published numbers.

    [bold]Examples[/]

    turnloom report runs/evaluate/old-model runs/evaluate/new-model --out report.html
    """
    from turnloom.benchmarks.report import build_report
    from turnloom.benchmarks.run import read_runs

    found = read_runs(runs)
    with console.status("reading …") as status:
        text = build_report(found, cache, lambda name: status.update(f"{name} …"))
    write_text(out, text)
    console.print(f"Page: {out} ({len(text.encode()) / 1e6:.1f} MB)", markup=False)
