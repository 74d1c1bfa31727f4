"""The methods side by side: the same start, the same conversations, the same time.

Usage: TURNLOOM_DATA=... python -m studies.methods.arms MODELS [ARM...]

MODELS is the folder of all-MiniLM-L6-v2.
"""

from __future__ import annotations

import sys
from pathlib import Path

from studies.lib.arms import Arm, Study
from studies.lib.results import Results

MINUTES = 30
SEEDS = {"dse": 3, "wmdc-heads": 3}
METHODS = ("dse", "wmdc-heads", "simcse", "wmdc", "tod-bert", "dse-heads", "dse-123-1")
MATCHING = ("dialoguecse", "siamese")
TEMPLATES = ("tadse", "simcse-templates")
RAW = ("simcse", "dse", "wmdc", "dialoguecse")
RESULTS = Results("methods")
INTENTS_1SHOT = "intent-1shot-clinc150,intent-1shot-banking77,intent-1shot-hwu64,intent-1shot-snips"


def arms() -> list[Arm]:
    """All arms; first seeds first, and what others start from before them."""
    found = [
        Arm(method if seed == 0 else f"{method}-seed{seed}", method, seed, MINUTES)
        for seed in range(3)
        for method in METHODS
        if seed < SEEDS.get(method, 1)
    ]
    suites = tuple(("--suite", suite) for suite in ("dse", "dialoguecse", "tadse"))
    found += [Arm(method, method, minutes=MINUTES, measured=suites) for method in MATCHING]
    found += [Arm(method, method, minutes=MINUTES, table="runs/slots", measured=suites) for method in TEMPLATES]
    intents = (("--tasks", INTENTS_1SHOT),)
    random = {"model.random": "{layers: 4, width: 256, heads: 4}", "stages.0.encoder_rate": "5e-4"}
    found.append(Arm("raw-none", "mlm", minutes=60, measured=intents, changes=random, paced=False))
    # The paper freezes the lower half of the layers; this encoder has four.
    half = {"dialoguecse": {"model.freeze_layers": "2"}}
    found += [
        Arm(
            f"raw-{method}",
            method,
            0,
            20,
            start="raw-none",
            measured=intents,
            changes=half.get(method, {}),
            paced=False,
        )
        for method in RAW
    ]
    return found


def main(models: str, *wanted: str) -> None:
    Study(RESULTS, Path("runs/methods"), Path(models)).run(arms(), wanted)


if __name__ == "__main__":
    main(*sys.argv[1:])
