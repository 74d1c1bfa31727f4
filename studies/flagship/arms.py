"""The final recipe with three seeds.

Usage: TURNLOOM_DATA=... python -m studies.flagship.arms MODELS [ARM...]

Rules: the start is all-MiniLM-L6-v2; the data are eleven open sets without what the benchmarks test, and no labels;
choices are made on validation splits, never on test splits. DSTC11, Bitext and topical_chat are looked at once, with
the final recipe.
"""

from __future__ import annotations

import sys
from pathlib import Path

from studies.lib.arms import Arm, Study
from studies.lib.results import Results

SEEDS = (0, 1, 2)
RESULTS = Results("flagship")
RUNS = Path("runs/flagship")
SUITES = (("--suite", "dse"), ("--suite", "diaeval"), ("--tasks", "sts-stsb_en,retrieve-multidogo"))


def arms() -> list[Arm]:
    """The final recipe with three seeds."""
    return [Arm(f"final-seed{seed}", "turnloom", seed, minutes=None, measured=SUITES) for seed in SEEDS]


def main(models: str, *wanted: str) -> None:
    Study(RESULTS, RUNS, Path(models)).run(arms(), wanted)


if __name__ == "__main__":
    main(*sys.argv[1:])
