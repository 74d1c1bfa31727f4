"""The search for one recipe better than each, and what each of its ingredients is worth.

Usage: TURNWISE_DATA=... python -m studies.flagship.arms MODELS [ARM...]

Rules: the start is all-MiniLM-L6-v2; the data are eleven open sets without what the benchmarks test, and no labels;
choices are made on validation splits, never on test splits, so the ablation's arms are trained and not measured: the
last point of each one's curve counts. DSTC11, Bitext and topical_chat are looked at once, with the final recipe.
"""

from __future__ import annotations

import sys
from pathlib import Path

from studies.arms import Arm, Study, curve_of

SEEDS = (0, 1, 2)
MINUTES = 30
RESULTS = Path(__file__).parent / "results"
OBJECTIVE = "stages.0.objective"
ABLATIONS: dict[str, dict[str, str]] = {
    "whole": {},
    "without-paraphrases": {"stages.0.also": "[]"},
    "without-agreement": {"stages.0.also.0.objective.agreement": "-1"},
    "without-meaning": {f"{OBJECTIVE}.meaning": "0"},
    "without-pull": {f"{OBJECTIVE}.pull": "0", "stages.0.also.0.objective.pull": "0"},
    "without-reply-gradient": {f"{OBJECTIVE}.reply_gradient": "0"},
    "without-context": {"stages.0.view.turns": "[1]"},
    "without-refit": {"refit": "null"},
}
SUITES = (("--suite", "dse"), ("--suite", "diaeval"), ("--tasks", "sts-stsb_en,retrieve-multidogo"))


def arms() -> list[Arm]:
    """The final recipe with three seeds, then each ingredient removed."""
    found = [Arm(f"final-seed{seed}", "turnwise", seed, minutes=None, measured=SUITES) for seed in SEEDS]
    return found + [
        Arm(name, "turnwise", 0, MINUTES, measured=(), changes=change) for name, change in ABLATIONS.items()
    ]


def validation(name: str) -> dict[str, float]:
    """What validation says of an arm in the end; with refitted heads, after that."""
    return curve_of(RESULTS / name)[-1]


def main(models: str, *wanted: str) -> None:
    study = Study(RESULTS, Path("runs/flagship"), Path(models))
    study.run(arms(), wanted)
    for name in ABLATIONS:
        if study.is_done(name):
            print(name, {key: round(value, 2) for key, value in validation(name).items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
