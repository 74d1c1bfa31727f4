"""The methods side by side: the same start, the same conversations, the same time.

Usage: TURNWISE_DATA=... python -m studies.methods.arms START TABLE [ARM...]

Each arm trains for 30 minutes (evaluation and saving not counted) and is then measured on the suites `dse` and
`diaeval`. An arm whose results are there is skipped; one that was interrupted goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MINUTES = 30
SEEDS = {"dse": 3, "wmdc-heads": 3}
METHODS = ("dse", "wmdc-heads", "wmdc", "dse-heads", "simcse", "dse-123-1", "tod-bert")
RESULTS = Path(__file__).parent / "results"
RUNS = Path("runs/methods")


def arms() -> list[tuple[str, str, int]]:
    """Name, recipe and seed of each arm; first seeds first."""
    return [
        (method if seed == 0 else f"{method}-seed{seed}", method, seed)
        for seed in range(3)
        for method in METHODS
        if seed < SEEDS.get(method, 1)
    ]


def train(name: str, method: str, seed: int, start: str, table: str) -> None:
    folder = RUNS / name
    if not (folder / "modules.json").exists():
        command = ["turnwise", "train", method, table, "--start", start, "--out", str(folder)]
        command += ["--minutes", str(MINUTES), "--set", f"seed={seed}", "--set", "report_to=none"]
        resume = ["--resume"] if (folder / "training").exists() else []
        subprocess.run([*command, "--validation", "benchmarks", *resume], check=True)
    out = RESULTS / name
    out.mkdir(parents=True, exist_ok=True)
    (out / "training.json").write_text((folder / "training" / "result.json").read_text())


def measure(name: str) -> None:
    for suite in ("dse", "diaeval"):
        command = ["turnwise", "evaluate", str(RUNS / name), "--suite", suite, "--out", str(RESULTS / name), "--bf16"]
        subprocess.run(command, check=True)
    (RESULTS / name / "done.json").write_text(json.dumps({"suites": ["dse", "diaeval"]}) + "\n")


def main(start: str, table: str, *wanted: str) -> None:
    for name, method, seed in arms():
        if (wanted and name not in wanted) or (RESULTS / name / "done.json").exists():
            continue
        train(name, method, seed, start, table)
        measure(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
