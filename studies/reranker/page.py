"""Writes the tables of the page from the results: scores, differences with intervals, subsets of tasks, retrieval.

Usage: python -m studies.reranker.page
"""

from __future__ import annotations

import statistics
from pathlib import Path

from studies.lib.tables import Rows, differences_table, put_tables, scores_table
from studies.reranker.arms import RESULTS, SUBSETS
from studies.reranker.figures import SETS, finished, measured, scores_of, validation_of
from studies.reranker.retrieval import SETS as RETRIEVED
from turnloom.benchmarks import RunResult

PAGE = Path(__file__).parent / "README.md"
STAGES = {
    "retrieve": "turnloom-mini",
    "bm25": "BM25",
    "retrieve_new": "turnloom-mini, what was said left out",
    "bm25_new": "BM25, what was said left out",
}
TITLES = {"rerank-{}": "R10@1", "rerank-{}-adversarial": "R10@1, a turn planted"}
ROWS: Rows = {
    f"{title}, {which}": tuple(task.format(name) for name in names)
    for task, title in TITLES.items()
    for which, names in {"mean of three": SETS, **{name: (name,) for name in SETS}}.items()
}


def _percent(values: list[float]) -> str:
    return " | ".join(f"{value:.1f}" for value in values)


def planted_row(runs: dict[str, list[RunResult]]) -> str:
    """How often the planted turn is put first: no task's main score, so the table of scores leaves it out."""
    wins = [scores_of(run)["planted_wins"] for (run,) in runs.values()]
    return f"| planted turn first, mean of three | {_percent(wins)} |"


def subsets_table() -> list[str]:
    """What validation says of each subset of tasks in the end."""
    lines = ["| tasks | R10@1 | a turn planted | planted turn first |", "|---|---|---|---|"]
    for name in finished(SUBSETS):
        tasks = name.removeprefix("tasks-").replace("-", ", ")
        lines.append(f"| {tasks} | {_percent(list(validation_of(name).values()))} |")
    return lines


def retrieval_table() -> list[str]:
    """Top-1 over all replies, mean of two sets: each first stage alone, re-ranked, and what that adds."""
    told = RESULTS.runs().get("retrieval", {})
    if not told:
        return []
    lines = ["| first stage | re-ranker and its weight | alone | re-ranked | gain |", "|---|---|---|---|---|"]
    for stage, title in STAGES.items():
        for name, one in told.items():
            alone, ordered = (
                statistics.fmean(one[dataset][f"{stage}_{what}"] for dataset in RETRIEVED)
                for what in ("top1", "rerank_top1")
            )
            gain = one["gains"][stage]
            interval = f"{gain['mean']:+.2f} ({gain['low']:+.2f} to {gain['high']:+.2f})"
            lines.append(f"| {title} | `{name}`, {one['weights'][stage]} | {alone:.2f} | {ordered:.2f} | {interval} |")
    return lines


def main() -> None:
    runs = {name: [run] for name, run in measured().items()}
    tables = [[*scores_table(runs, ROWS), planted_row(runs)]] if runs else []
    if "selection" in runs and len(runs) > 1:
        others = {f"{name} over selection": run for name, (run,) in runs.items() if name != "selection"}
        (alone,) = runs["selection"]
        tables.append(differences_table({title: (run, alone) for title, run in others.items()}, ROWS))
    put_tables(PAGE, *tables, subsets_table(), retrieval_table())


if __name__ == "__main__":
    main()
