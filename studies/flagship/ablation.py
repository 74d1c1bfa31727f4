"""What each ingredient of the recipe is worth: one is removed at a time, and validation tells.

Usage: TURNLOOM_DATA=... python -m studies.flagship.ablation MODELS [ARM...]

Arms are trained and not measured on test splits; `validation.py` tells.
"""

from __future__ import annotations

import sys
from pathlib import Path

from studies.flagship.arms import RESULTS, RUNS
from studies.flagship.validation import validated
from studies.lib.arms import START, Arm, Study
from studies.lib.tables import put_tables

OBJECTIVE = "stages.0.objective"
PAGE = Path(__file__).parent / "README.md"
STEPS = 120
SHORT = {"refit.pairs": "15000", "evaluate_every": str(STEPS)}
REMOVED: dict[str, dict[str, str]] = {
    "whole": {},
    "without-paraphrases": {"stages.0.also": "[]"},
    "without-agreement": {"stages.0.also.0.objective.agreement": "-1"},
    "without-meaning": {f"{OBJECTIVE}.meaning": "0"},
    "without-pull": {f"{OBJECTIVE}.pull": "0", "stages.0.also.0.objective.pull": "0"},
    "without-reply-gradient": {f"{OBJECTIVE}.reply_gradient": "0"},
    "without-context": {"stages.0.view.turns": "[1]"},
}
AGAIN = (1,)
"""Further seeds of the whole recipe: how far runs lie apart of which nothing was removed."""
COLUMNS = ("intents", "similarity", "next turns after 1", "next turns after 3")


def arms() -> list[Arm]:
    """The recipe, then without each of its ingredients; refitted heads are in the first one's curve."""
    runs = [(name, 0, change) for name, change in REMOVED.items()]
    runs += [(f"whole-seed{seed}", seed, {}) for seed in AGAIN]
    return [
        Arm(name, "turnloom", seed, steps=STEPS, measured=(), changes={**SHORT, **change})
        for name, seed, change in runs
    ]


def told(name: str, model: Path) -> dict[str, float]:
    """What validation says of a model, asked once."""
    if RESULTS.get(name, "validation") is None:
        RESULTS.put(name, {"validation": validated(str(model))})
    found: dict[str, float] = RESULTS.get(name, "validation")
    return found


def table(models: Path) -> list[str]:
    """A row for the start, and for each arm that is done."""
    rows = {"start": told("start", models / START)}
    for name in (arm.name for arm in arms() if RESULTS.is_done(arm.name)):
        rows[name] = told(name, RUNS / name)
        if name == "whole":
            before = RESULTS.curve(name)[-2]["response_selection"]
            rows["without-refit"] = {"next turns after 1": before}
    lines = [
        "| | 1-shot intents, mean of four | STS-B dev | next turns, after one | after three |",
        "|---|---|---|---|---|",
    ]
    for name, scores in rows.items():
        cells = [f"{scores[column]:.1f}" if column in scores else "" for column in COLUMNS]
        lines.append(f"| {name.replace('-', ' ')} | {' | '.join(cells)} |")
    return lines


def main(models: str, *wanted: str) -> None:
    Study(RESULTS, RUNS, Path(models)).run(arms(), wanted)
    put_tables(PAGE, table(Path(models)))


if __name__ == "__main__":
    main(*sys.argv[1:])
