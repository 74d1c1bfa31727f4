"""How many tasks have a known answer, and on how many an oracle scores 100 and a constant encoder scores chance.

Usage: python -m studies.baselines.known_answers
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tests.benchmarks.known_answers import Constant, Oracle, chance, known_tasks, score, write_sets

from studies.lib.figures import record


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_sets(Path(folder))
        os.environ["TURNLOOM_DATA"] = folder
        tasks = known_tasks()
        perfect = sum(abs(score(task, Oracle()) - 100) < 1e-6 for task in tasks)
        guessing = sum(abs(score(task, Constant()) - chance(task)) < 1e-6 for task in tasks)
    record(
        "baselines",
        {"tasks_with_known_answers": len(tasks), "tasks_oracle_100": perfect, "tasks_constant_at_chance": guessing},
    )


if __name__ == "__main__":
    main()
