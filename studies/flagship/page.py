"""Writes the tables of docs/results.md from the results: scores, and differences with their intervals.

Usage: python -m studies.flagship.page
"""

from __future__ import annotations

from pathlib import Path

from studies.figures import STUDIES
from studies.flagship.arms import RESULTS, SEEDS
from studies.flagship.figures import HELD_OUT
from studies.methods.arms import METHODS
from studies.methods.arms import RESULTS as METHOD_RESULTS
from studies.methods.figures import as_used
from studies.tables import ROWS, Rows, differences_table, put_tables, scores_table
from turnwise.benchmarks import RunResult, read_results

PAGE = Path("docs/results.md")
ALL_ROWS: Rows = {
    **ROWS,
    "held out: DSTC11, 1-shot": (HELD_OUT["dstc11_1shot"],),
    "held out: Bitext, 1-shot": (HELD_OUT["bitext_1shot"],),
    "held out: Topical-Chat, next turn": (HELD_OUT["topical_chat_next_top1"],),
}


def runs() -> dict[str, RunResult]:
    """The flagship first, then what it is compared with."""
    folders = {f"turnwise, seed {seed}": RESULTS / f"final-seed{seed}" for seed in SEEDS}
    folders |= {"start": STUDIES / "baselines" / "all-MiniLM-L6-v2", "gte-small": STUDIES / "baselines" / "gte-small"}
    folders |= {method: METHOD_RESULTS / method for method in METHODS}
    found = {name: read_results(folder) for name, folder in folders.items()}
    more = read_results(RESULTS / "start")  # What the baselines' suites do not have.
    if more is not None and (start := found["start"]) is not None:
        found["start"] = start.model_copy(update={"tasks": {**more.tasks, **start.tasks}})
    return {name: as_used(result) for name, result in found.items() if result is not None}


def main() -> None:
    found = runs()
    (_, ours), *others = found.items()
    columns = {f"over {name}": (ours, other) for name, other in others}
    scores = scores_table({name: [result] for name, result in found.items()}, ALL_ROWS)
    put_tables(PAGE, scores, ["**Differences**"], differences_table(columns, ALL_ROWS))


if __name__ == "__main__":
    main()
