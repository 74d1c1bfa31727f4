"""Writes the tables of this folder's README from the results: scores, and differences to the start.

Usage: python -m studies.methods.page
"""

from __future__ import annotations

from pathlib import Path

from studies.figures import STUDIES
from studies.methods.arms import METHODS, RESULTS
from studies.methods.figures import as_used
from studies.tables import ROWS, differences_table, put_tables, scores_table
from turnwise.benchmarks import read_results

PAGE = Path(__file__).parent / "README.md"


def main() -> None:
    folders = {"start": STUDIES / "baselines" / "all-MiniLM-L6-v2", **{name: RESULTS / name for name in METHODS}}
    found = {name: as_used(result) for name, folder in folders.items() if (result := read_results(folder))}
    start = found["start"]
    rows = {title: names for title, names in ROWS.items() if names[0] in found[METHODS[0]].tasks}
    columns = {name: (result, start) for name, result in found.items() if name != "start"}
    put_tables(PAGE, scores_table(found, rows), ["**Differences to the start**"], differences_table(columns, rows))


if __name__ == "__main__":
    main()
