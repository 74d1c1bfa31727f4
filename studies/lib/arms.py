"""Arms of a study: training runs of a fixed time, each measured and its results kept."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from studies.lib.pace import known_paces
from studies.lib.results import Results
from turnloom.runtime.encoder import computes_bf16_fast

__all__ = ["START", "Arm", "Study"]

START = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Arm:
    """One training run and what it is measured on.

    Attributes:
        name: Of the arm.
        recipe: The recipe.
        seed: The recipe's seed.
        minutes: Of training on a quiet machine; evaluation and saving are not counted. None for as long as the recipe
            says.
        steps: Of training, instead of minutes.
        paced: Whether it trains for the steps that the recipe makes in that time (`pace.json`); else the clock
            decides. A change that makes steps slower then costs time, not steps.
        table: What it learns from.
        start: A folder below the models', or the name of another arm.
        measured: The options of `turnloom evaluate`, for each call.
        changes: Places of the recipe that are set to something else.
    """

    name: str
    recipe: str
    seed: int = 0
    minutes: float | None = 30
    steps: int | None = None
    table: str = "runs/tier-a"
    start: str = START
    measured: tuple[tuple[str, str], ...] = (("--suite", "dse"), ("--suite", "diaeval"))
    changes: dict[str, str] = field(default_factory=dict)
    paced: bool = True


@dataclass(frozen=True)
class Study:
    """Where a study's results are kept, and where its models are made.

    An arm whose results are there is skipped; one that was interrupted goes on.
    """

    results: Results
    runs: Path
    models: Path

    def run(self, arms: Iterable[Arm], wanted: Collection[str] = ()) -> None:
        """Train and measure arms, all or those that are named."""
        for arm in arms:
            if not self.results.is_done(arm.name) and (not wanted or arm.name in wanted):
                self._train(arm)
                self._measure(arm)

    def _train(self, arm: Arm) -> None:
        folder = self.runs / arm.name
        if not (folder / "training" / "result.json").exists():  # What a run writes last.
            start = self.runs / arm.start if (self.runs / arm.start).exists() else self.models / arm.start
            command = ["turnloom", "train", arm.recipe, arm.table, "--start", str(start), "--out", str(folder)]
            changes = {"seed": str(arm.seed), "report_to": "none", **arm.changes}
            if arm.steps is not None:
                changes["stages.0.steps"] = str(arm.steps)
            elif arm.minutes is not None:
                pace = known_paces().get(arm.recipe) if arm.paced else None
                if pace is None:
                    changes["stages.0.minutes"] = str(arm.minutes)  # Of training alone; --minutes bounds everything.
                else:
                    changes["stages.0.steps"] = str(round(pace * arm.minutes))
            command += [f"--set={place}={value}" for place, value in changes.items()]
            resume = ["--resume"] if (folder / "training").exists() else []
            subprocess.run([*command, "--validation", "benchmarks", *resume], check=True)
        self.results.put(arm.name, {"training": json.loads((folder / "training" / "result.json").read_text())})

    def _measure(self, arm: Arm) -> None:
        precision = ["--bf16"] if computes_bf16_fast() else []
        for options in arm.measured:
            self.results.evaluate(arm.name, str(self.runs / arm.name), *options, *precision)
        self.results.put(arm.name, {"done": {"measured": [" ".join(one) for one in arm.measured]}})
