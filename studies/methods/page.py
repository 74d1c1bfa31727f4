"""Writes the tables of this folder's README and of docs/methods.md: scores, and differences to the base model.

Usage: python -m studies.methods.page
"""

from __future__ import annotations

from pathlib import Path

from studies.baselines.figures import RESULTS as BASELINES
from studies.lib.tables import ROWS, Rows, differences_table, put_tables, scores_table, transposed
from studies.methods.arms import MATCHING, METHODS, RESULTS, TEMPLATES
from studies.methods.figures import as_used, finished_seeds
from turnloom.benchmarks import RunResult

PAGE = Path(__file__).parent / "README.md"
GUIDE = Path("docs/methods.md")
MORE_ROWS: Rows = {
    "1-shot intents, mean of four": ROWS["1-shot intents, mean of four"],
    "finding utterances that play the same part (MultiDoGO), MAP": ("retrieve-multidogo",),
    "STS-B": ROWS["STS-B (meaning)"],
    "nearest neighbour, SNIPS": ("knn-snips",),
    "nearest neighbour, ATIS": ("knn-atis",),
    "next turn, SGD": ROWS["next turn, SGD"],
    "after three turns, SGD": ROWS["after three turns, SGD"],
}
IDEAS = dict([MATCHING, TEMPLATES])
"""A paper's method, and its control."""


def runs_of(method: str) -> list[RunResult]:
    """A method's seeds as the model is used."""
    return [as_used(run) for seed in finished_seeds(method) if (run := RESULTS.scores(seed))]


def ideas_tables(start: RunResult) -> list[list[str]]:
    """Matching and templates beside the base model and their controls; nothing while an arm is missing."""
    found = {name: runs_of(name) for pair in IDEAS.items() for name in pair}
    if not all(found.values()):
        return []
    columns = {f"{idea} over {control}": (found[idea][0], found[control][0]) for idea, control in IDEAS.items()}
    columns |= {f"{idea} over the base model": (found[idea][0], start) for idea in IDEAS}
    scores = scores_table({"base model": [start], **found}, MORE_ROWS)
    return [["**Matching and templates**"], scores, differences_table(columns, MORE_ROWS)]


def main() -> None:
    start_run = BASELINES.scores("all-MiniLM-L6-v2")
    assert start_run is not None
    found = {"base model": [as_used(start_run)], **{method: runs_of(method) for method in METHODS}}
    start, first = found["base model"][0], found[METHODS[0]][0]
    rows = {title: names for title, names in ROWS.items() if names[0] in first.tasks}
    columns = {name: (seeds[0], start) for name, seeds in found.items() if name != "base model"}
    scores = scores_table(found, rows)
    ideas = ideas_tables(start)
    title = ["**Differences of first seeds to the base model**"]
    put_tables(PAGE, scores, title, differences_table(columns, rows), *ideas)
    on_page = [part for table in (scores, *ideas[1:2]) for part in transposed(table, 5)]
    put_tables(GUIDE, *on_page)


if __name__ == "__main__":
    main()
