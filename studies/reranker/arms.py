"""Response selection alone and with UMS, side by side: the same start, the same conversations, the same time.

Usage: TURNWISE_DATA=... python -m studies.reranker.arms START TABLE [ARM...]

An arm whose results are there is skipped; one that was interrupted goes on. The checkpoint of an arm is chosen on the
validation splits; the suite `ums` then measures it on the test splits.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
RUNS = Path("runs/reranker")
MINUTES, ABLATION_MINUTES, MASKED_MINUTES = 45, 15, 20
TASKS = ("insertion", "deletion", "search")
MAIN = ("selection", "ums", "self-adversarial", "ums-plus")


@dataclass(frozen=True)
class Arm:
    """What differs from arm to arm.

    Attributes:
        recipe: The recipe.
        minutes: Of training, evaluation and saving left out.
        changes: Places of the recipe.
        masked: Minutes of masked words on the encoder before.
    """

    recipe: str
    minutes: int = MINUTES
    changes: tuple[str, ...] = ()
    masked: int = 0


def arms() -> dict[str, Arm]:
    """All arms by name, the main ones first."""
    found = {
        "selection": Arm("selection"),
        "ums": Arm("ums"),
        "self-adversarial": Arm("selection", changes=("stages.0.view.negatives=[random, self]",)),
        "ums-plus": Arm("ums", masked=MASKED_MINUTES),
    }
    for count in range(len(TASKS) + 1):
        for kept in itertools.combinations(TASKS, count):
            left_out = [task for task in TASKS if task not in kept]
            changes = tuple(f"stages.0.objective.{task}=0" for task in left_out)
            found[f"tasks-{'-'.join(kept) or 'none'}"] = Arm("ums", ABLATION_MINUTES, changes)
    return found


def run(folder: Path, recipe: str, table: str, start: str, minutes: int, *options: str) -> None:
    """Train into a folder, or go on with it; a whole model is left alone."""
    if (folder / "training" / "result.json").exists():
        return
    command = ["turnwise", "train", recipe, table, "--start", start, "--out", str(folder), "--minutes", str(minutes)]
    resume = ["--resume"] if (folder / "training").exists() else []
    subprocess.run([*command, "--set", "report_to=none", *options, *resume], check=True)


def train(name: str, arm: Arm, start: str, table: str) -> None:
    if arm.masked:
        run(RUNS / "masked", "mlm", table, start, arm.masked)
        start = str(RUNS / "masked")
    changes = [word for change in arm.changes for word in ("--set", change)]
    run(RUNS / name, arm.recipe, table, start, arm.minutes, "--validation", "benchmarks", *changes)
    (RESULTS / name).mkdir(parents=True, exist_ok=True)
    summary = json.loads((RUNS / name / "training" / "result.json").read_text())
    (RESULTS / name / "training.json").write_text(json.dumps(summary, indent=1) + "\n")


def main(start: str, table: str, *wanted: str) -> None:
    for name, arm in arms().items():
        out = RESULTS / name
        if (wanted and name not in wanted) or (out / "done.json").exists():
            continue
        train(name, arm, start, table)
        command = ["turnwise", "evaluate", str(RUNS / name), "--suite", "ums", "--out", str(out), "--bf16"]
        subprocess.run(command, check=True)
        (out / "done.json").write_text(json.dumps({"suites": ["ums"]}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
