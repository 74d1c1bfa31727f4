"""The points of the sweeps: ten minutes of training each, two seeds, one thing changed at a time.

Usage: TURNLOOM_DATA=... python -m studies.sweeps.points MODELS [POINT...]

A point's name says what it is; `questions.py` says which points answer which question.
"""

from __future__ import annotations

import sys
from pathlib import Path

from studies.baselines.figures import INTENTS
from studies.lib.arms import Arm, Study
from studies.lib.results import Results

MINUTES, SEEDS = 10, (0, 1)
RESULTS = Results("sweeps")
ONE_SHOT = [f"intent-1shot-{name}" for name in INTENTS]
TASKS = {  # By the first word of a point's name: what its questions ask of it, and no more.
    "windows": [f"select-{name}-{kind}" for name in ("sgd", "multiwoz21") for kind in ("next", "context3")],
    "matching": ["retrieve-multidogo", "sts-stsb_en"],
    "passes": ONE_SHOT,
    "templates": ["knn-snips", "knn-atis"],
    "gte": ONE_SHOT,
}
OBJECTIVE, VIEW = "stages.0.objective", "stages.0.view"
PLAIN = f"{OBJECTIVE}={{kind: nt_xent, form: symmetric, head: linear}}"

POINTS: dict[str, tuple[str, list[str]]] = {
    # WMDC, Figure 3: windows and reweighting.
    "windows-1": ("wmdc", [f"{VIEW}.sizes=[1]"]),
    "windows-123": ("wmdc", []),
    "windows-1-plain": ("wmdc", [f"{VIEW}.sizes=[1]", PLAIN]),
    "windows-123-plain": ("wmdc", [PLAIN]),
    # DialogueCSE, Figures 2 and 3, Tables 3 and 4.
    "matching": ("dialoguecse", []),
    "matching-turns-1": ("dialoguecse", [f"{VIEW}.turns=1"]),
    "matching-turns-5": ("dialoguecse", [f"{VIEW}.turns=5"]),
    "matching-rows-1000": ("dialoguecse", ["stages.0.limit=1000"]),
    # Table 3 has no 0.02: this point is in the list of points, and answers none of the questions.
    "matching-temperature-0.02": ("dialoguecse", [f"{OBJECTIVE}.temperature=0.02"]),
    "matching-temperature-0.5": ("dialoguecse", [f"{OBJECTIVE}.temperature=0.5"]),
    "matching-negatives-1": ("dialoguecse", [f"{OBJECTIVE}.negatives=1"]),
    "matching-negatives-9": ("dialoguecse", [f"{OBJECTIVE}.negatives=9"]),
    # DSE, Figure 3: several passes over few pairs, with a look at validation on the way.
    "passes-consecutive": ("dse", ["stages.0.limit=4000", "evaluate_every=31"]),
    "passes-dropout": ("dse-dropout", ["stages.0.limit=4000", "evaluate_every=31"]),
    # TaDSE, Tables 4 and 5.
    "templates-utterance-top0": ("simcse-templates", [f"{VIEW}.top_k=0"]),
    "templates-utterance-top5": ("simcse-templates", []),
    "templates-both-top5": ("tadse", [f"{OBJECTIVE}.pair=0"]),
    "templates-pair-top0": ("tadse", [f"{VIEW}.top_k=0"]),
    "templates-pair-top5": ("tadse", []),
    # DSE, Tables 10 and 11: a second backbone.
    "gte-dse": ("dse", []),
}


def points() -> list[Arm]:
    """Every point with every seed, the first seed of all before the second."""
    return [
        Arm(
            f"{name}-seed{seed}",
            recipe,
            seed,
            MINUTES,
            table="runs/slots" if name.startswith("templates") else "runs/tier-a",
            start="gte-small" if name.startswith("gte") else "all-MiniLM-L6-v2",
            measured=(("--tasks", ",".join(TASKS[name.split("-")[0]])),),
            changes=dict(change.split("=", 1) for change in changes),
        )
        for seed in SEEDS
        for name, (recipe, changes) in POINTS.items()
    ]


def main(models: str, *wanted: str) -> None:
    Study(RESULTS, Path("runs/sweeps"), Path(models)).run(points(), wanted)


if __name__ == "__main__":
    main(*sys.argv[1:])
