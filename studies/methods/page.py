"""Writes the tables of this folder's README and of docs/methods.md: scores, and differences to the start (first seeds).

Usage: python -m studies.methods.page
"""

from __future__ import annotations

from pathlib import Path

from studies.figures import STUDIES
from studies.methods.arms import METHODS
from studies.methods.figures import as_used, finished_seeds
from studies.tables import ROWS, differences_table, put_tables, scores_table
from turnwise.benchmarks import read_results

PAGE = Path(__file__).parent / "README.md"
GUIDE = Path("docs/methods.md")


def main() -> None:
    folders = {"start": [STUDIES / "baselines" / "all-MiniLM-L6-v2"]}
    folders |= {method: finished_seeds(method) for method in METHODS}
    found = {name: [as_used(run) for seed in seeds if (run := read_results(seed))] for name, seeds in folders.items()}
    start, first = found["start"][0], found[METHODS[0]][0]
    rows = {title: names for title, names in ROWS.items() if names[0] in first.tasks}
    columns = {name: (seeds[0], start) for name, seeds in found.items() if name != "start"}
    scores = scores_table(found, rows)
    put_tables(PAGE, scores, ["**Differences of first seeds to the start**"], differences_table(columns, rows))
    put_tables(GUIDE, scores)


if __name__ == "__main__":
    main()
