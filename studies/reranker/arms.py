"""Response selection alone and with UMS, side by side: the same start, the same conversations, the same time.

Usage: TURNLOOM_DATA=... python -m studies.reranker.arms MODELS [ARM...]

MODELS is the folder of all-MiniLM-L6-v2. The checkpoint of an arm is chosen on the validation splits; the suite `ums`
then measures it on the test splits. Subsets of tasks are trained and not measured: the last point of each one's curve
counts.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from studies.lib.arms import Arm, Study
from studies.lib.results import Results

RESULTS = Results("reranker")
# By the pace of two cores without AMX, which compute in fp32; that of `mlm` is of a CPU three times as fast.
MINUTES, MASKED_MINUTES = 45, 20 / 3
SUBSET_STEPS = 178
"""Of each subset of tasks: all three, all asked of each row, make about so many in 15 minutes."""
TASKS = ("insertion", "deletion", "search")
KEPT = {
    f"tasks-{'-'.join(kept) or 'none'}": kept
    for count in range(len(TASKS) + 1)
    for kept in itertools.combinations(TASKS, count)
}
MAIN, SUBSETS = ("selection", "ums", "self-adversarial", "ums-plus"), tuple(KEPT)
SUITE = (("--suite", "ums"),)


def arms() -> list[Arm]:
    """All arms, the main ones first; `masked` is what `ums-plus` starts from."""
    # A step of selection takes seven tenths of the time: so each arm chooses among about as many checkpoints.
    alone = {"evaluate_every": "450"}
    both = {"evaluate_every": "320"}
    adversarial = {**alone, "stages.0.view.negatives": "[random, self]"}
    found = [
        Arm("selection", "selection", minutes=MINUTES, measured=SUITE, changes=alone),
        Arm("ums", "ums", minutes=MINUTES, measured=SUITE, changes=both),
        Arm("self-adversarial", "selection", minutes=MINUTES, measured=SUITE, changes=adversarial),
        Arm("masked", "mlm", minutes=MASKED_MINUTES, measured=()),
        Arm("ums-plus", "ums", minutes=MINUTES, start="masked", measured=SUITE, changes=both),
    ]
    for name, kept in KEPT.items():
        changes = {f"stages.0.objective.{task}": "0" for task in TASKS if task not in kept}
        changes["stages.0.view.questions"] = "all"
        found.append(Arm(name, "ums", steps=SUBSET_STEPS, measured=(), changes=changes))
    return found


def main(models: str, *wanted: str) -> None:
    Study(RESULTS, Path("runs/reranker"), Path(models)).run(arms(), wanted)


if __name__ == "__main__":
    main(*sys.argv[1:])
