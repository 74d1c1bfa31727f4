"""The search for one recipe better than each, and what each of its ingredients is worth.

Usage: TURNWISE_DATA=... python -m studies.flagship.arms MODELS [ARM...]

Rules: the start is all-MiniLM-L6-v2; the data are eleven open sets without what the benchmarks test, and no labels;
arms have equal time; choices are made on validation splits (the last point of each arm's curve), never on test
splits, so search arms are trained and not measured. DSTC11, Bitext and topical_chat are looked at once, with the
final recipe.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from studies.arms import Arm, Study

MINUTES, FINAL_MINUTES, SEEDS = 30, 150, (0, 1, 2)
RESULTS = Path(__file__).parent / "results"
OBJECTIVE = "stages.0.objective"
CHANGES: dict[str, dict[str, str]] = {
    "draft": {},
    # Each ingredient removed.
    "without-pull": {f"{OBJECTIVE}.pull": "0"},
    "without-meaning": {f"{OBJECTIVE}.meaning": "0"},
    "without-shared-replies": {"stages.0.also": "[]"},
    "without-refit": {"refit": "null"},
    "without-windows": {"stages.0.view.sizes": "[1]"},
    # Each weight moved.
    "reply-gradient-0": {f"{OBJECTIVE}.reply_gradient": "0"},
    "reply-gradient-1": {f"{OBJECTIVE}.reply_gradient": "1"},
    "pull-50": {f"{OBJECTIVE}.pull": "50"},
    "meaning-2": {f"{OBJECTIVE}.meaning": "2"},
}
SUITES = tuple(("--suite", suite) for suite in ("dse", "dialoguecse", "tadse", "diaeval"))


def arms() -> list[Arm]:
    """The search first, then the final recipe with three seeds."""
    found = [Arm(name, "turnwise", 0, MINUTES, measured=(), changes=change) for name, change in CHANGES.items()]
    return found + [Arm(f"final-seed{seed}", "turnwise", seed, FINAL_MINUTES, measured=SUITES) for seed in SEEDS]


def validation(name: str) -> dict[str, float]:
    """What validation says of an arm in the end; with refitted heads, after that."""
    curve = json.loads((RESULTS / name / "training.json").read_text())["curve"]
    last: dict[str, float] = curve[-1]
    return last


def main(models: str, *wanted: str) -> None:
    study = Study(RESULTS, Path("runs/flagship"), Path(models))
    study.run(arms(), wanted)
    for name in CHANGES:
        if study.is_done(name):
            print(name, {key: round(value, 2) for key, value in validation(name).items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
