"""Writes the tables of docs/results-tables.md from the results: scores, and differences with their intervals.

Usage: python -m studies.flagship.page
"""

from __future__ import annotations

from pathlib import Path

from studies.baselines.figures import RESULTS as BASELINE_RESULTS
from studies.flagship.arms import RESULTS, SEEDS
from studies.flagship.figures import HELD_OUT
from studies.lib.tables import ROWS, Rows, differences_table, mean_run, put_tables, scores_table, transposed
from studies.methods.arms import METHODS
from studies.methods.arms import RESULTS as METHOD_RESULTS
from studies.methods.figures import as_used, finished_seeds
from turnloom.benchmarks import RunResult

TASKS = (
    "Measure a column with any model, as `turnloom evaluate MODEL --tasks TASKS`. Of several tasks it is the mean. "
    "Next turns of a model with heads are asked of them: put `-heads` at the end of the task, as in "
    "`select-sgd-next-heads`."
)
PAGE = Path("docs/results-tables.md")
BASELINES = {"base model": "all-MiniLM-L6-v2", "gte-small": "gte-small"}
ALL_ROWS: Rows = {
    **ROWS,
    "held out: DSTC11, 1-shot": (HELD_OUT["dstc11_1shot"],),
    "held out: Bitext, 1-shot": (HELD_OUT["bitext_1shot"],),
    "held out: Topical-Chat, next turn": (HELD_OUT["topical_chat_next_top1"],),
}


def runs() -> dict[str, list[RunResult]]:
    """The seeds of the flagship first, then of what it is compared with."""
    kept = {"turnloom": [RESULTS.scores(f"final-seed{seed}") for seed in SEEDS]}
    kept |= {name: [BASELINE_RESULTS.scores(run)] for name, run in BASELINES.items()}
    kept |= {method: [METHOD_RESULTS.scores(seed) for seed in finished_seeds(method)] for method in METHODS}
    found = {name: [run for run in seeds if run] for name, seeds in kept.items()}
    more = RESULTS.scores("start")  # What the baselines' suites do not have.
    if more is not None:
        (start,) = found["base model"]
        found["base model"] = [start.model_copy(update={"tasks": {**more.tasks, **start.tasks}})]
    return {name: [as_used(run) for run in seeds] for name, seeds in found.items()}


def tasks_table() -> list[str]:
    """What to give `turnloom evaluate` for each column."""
    lines = [f"| {title} | `{','.join(tasks)}` |" for title, tasks in ALL_ROWS.items()]
    return ["| column | `--tasks` |", "|---|---|", *lines]


def main() -> None:
    found = runs()
    (_, ours), *others = found.items()
    mean = mean_run(ours)
    columns = {f"over {name}": (mean, mean_run(seeds)) for name, seeds in others}
    scores = transposed(scores_table(found, ALL_ROWS), 5)
    differences = transposed(differences_table(columns, ALL_ROWS), 3)
    put_tables(
        PAGE,
        ["## Scores"],
        *scores,
        ["## Differences: turnloom minus the others"],
        *differences,
        ["## Tasks"],
        [TASKS],
        tasks_table(),
    )


if __name__ == "__main__":
    main()
