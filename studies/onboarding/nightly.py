"""A slice of the studies, measured again: does today's code still give the numbers on the pages?

Usage: TURNLOOM_DATA=... python -m studies.onboarding.nightly

Takes a few minutes on two cores. It ends with code 1 if a number is further from the committed one than its tolerance.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from tests.corpus.labelled_privacy import is_right, read_half

from studies.corpus.near import measured as near_measured
from studies.lib.figures import STUDIES, record
from studies.lib.results import Results
from turnloom.benchmarks import RunResult
from turnloom.corpus.privacy.patterns import scrub_texts

MODEL = "models/turnloom-mini"
ENCODER, CONVERSATION = ("flagship", "final-seed0"), ("conversation", "seed2")
"""The runs that the committed weights come from."""
TASKS = {
    "sts-stsb_en": (ENCODER, 0.1),
    "intent-1shot-snips": (ENCODER, 0.5),
    "intent-1shot-banking77": (ENCODER, 0.5),
    "oos-1shot-clinc150": (ENCODER, 0.2),
    "select-medquad": (ENCODER, 0.5),
    "select-sgd-next-heads": (CONVERSATION, 0.3),
}
"""Where each score was measured before, and by how many points it may differ: weights are kept in half precision."""


@dataclass(frozen=True)
class Check:
    """A number measured again, beside the committed one."""

    name: str
    now: float
    committed: float
    tolerance: float

    @property
    def holds(self) -> bool:
        return abs(self.now - self.committed) <= self.tolerance

    def __str__(self) -> str:
        verdict = "" if self.holds else "  OUTSIDE"
        return f"{self.name}: {self.now:.4f}, committed {self.committed:.4f} ± {self.tolerance}{verdict}"


def committed(study: str, figure: str) -> float:
    return float(json.loads((STUDIES / study / "figures.json").read_text())[figure])


def scores() -> list[Check]:
    """What the committed weights score."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["evaluate", MODEL, "--tasks", ",".join(TASKS), "--out", folder]
        subprocess.run([sys.executable, "-m", "turnloom.cli.main", *words], check=True)
        now = RunResult.model_validate_json((Path(folder) / "results.json").read_text())
    checks = []
    for name, ((study, run), most) in TASKS.items():
        before = Results(study).scores(run)
        assert before is not None, f"{study} has no run {run}"
        checks.append(Check(name, now.tasks[name].mean(), before.tasks[name].mean(), most))
    return checks


def near_duplicates() -> list[Check]:
    recall, precision = near_measured()
    found = {"near_duplicate_recall": recall, "near_duplicate_precision": precision}
    return [Check(name, value, committed("corpus", name), 0.005) for name, value in found.items()]


def scrubbing() -> list[Check]:
    """Personal data found in the texts of the patterns' own author, names and user names apart."""
    rows = [row for row in read_half("held_back") if row.category not in ("name", "handle")]
    changed = scrub_texts(pa.array([row.text for row in rows], pa.large_string()))[0].to_pylist()
    right = [(row.category == "none", is_right(row, text)) for row, text in zip(rows, changed, strict=True)]
    kept = [good for plain, good in right if plain]
    clean = [good for plain, good in right if not plain]
    return [
        Check("pii_own_recall", sum(clean) / len(clean), committed("corpus", "pii_own_recall"), 1e-4),
        Check("pii_own_over_scrub", 1 - sum(kept) / len(kept), committed("corpus", "pii_own_over_scrub"), 1e-4),
    ]


SLICE: tuple[Callable[[], list[Check]], ...] = (scrubbing, scores, near_duplicates)


def main() -> None:
    checks = []
    for measure in SLICE:
        checks += (found := measure())
        print(*found, sep="\n", flush=True)
    holds = all(check.holds for check in checks)
    record("onboarding", {"nightly_slice_numbers": len(checks), "nightly_slice_within_tolerance": float(holds)})
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
