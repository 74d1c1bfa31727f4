"""How many steps a recipe makes in a minute of a quiet machine: arms of equal time are arms of so many steps.

Usage: python -m studies.lib.pace START TABLE RECIPE...

Nothing else may run meanwhile. An arm may then share the machine, and is still what the machine does alone in its time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from turnloom.training import load_recipe, train

PACE = Path(__file__).parent / "pace.json"
STEPS, WARM = 24, 3
ROWS = 20_000


def known_paces() -> dict[str, float]:
    """The steps a minute that were measured, by recipe."""
    found: dict[str, float] = json.loads(PACE.read_text()) if PACE.exists() else {}
    return found


def step_times(recipe: str, start: str, table: str, steps: int) -> list[float]:
    """When each of so many steps ended, in seconds."""
    times: list[float] = []

    def note(doing: str, _part: float, _note: str) -> None:
        if doing == "training":
            times.append(time.perf_counter())

    changes = {"model.start": start, "report_to": "none", "evaluate_every": "0", "stages.0.limit": str(ROWS)}
    wanted = load_recipe(recipe, {**changes, "stages.0.steps": str(steps)})
    with tempfile.TemporaryDirectory() as folder:
        train(wanted, [Path(table)], Path(folder) / "model", on_progress=note)
    return times


def measured(recipe: str, start: str, table: str) -> float:
    """Steps a minute."""
    times = step_times(recipe, start, table, WARM + STEPS)
    return 60 * STEPS / (times[-1] - times[WARM - 1])


def main(start: str, table: str, *recipes: str) -> None:
    for recipe in recipes:
        known = known_paces()
        if recipe not in known:
            known[recipe] = round(measured(recipe, start, table), 3)
            PACE.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
            print(f"{recipe}: {known[recipe]} steps a minute")


if __name__ == "__main__":
    main(*sys.argv[1:])
