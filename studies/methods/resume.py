"""Runs killed without warning at random moments, resumed until they end: are they those that nothing disturbed?

Usage: python -m studies.methods.resume
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from safetensors.torch import load_file
from tests.training.toy import conversations, write_start, write_table

from studies.lib.figures import record

RUNS, STEPS = 10, 60
RECIPES = ("dse", "dse-heads")


def command(recipe: str, start: Path, table: Path, out: Path) -> list[str]:
    changes = {
        "stages.0.batch_size": 16,
        "stages.0.steps": STEPS,
        "stages.0.encoder_rate": 1e-3,
        "model.dropout": 0.1,
        "report_to": "none",
        "bf16": "false",
        "evaluate_every": 0,
        "save_every": 5,
    }
    words = [sys.executable, "-m", "turnloom.cli.main", "train", recipe, str(table), "--start", str(start)]
    return [
        *words,
        "--out",
        str(out),
        *[part for path, value in changes.items() for part in ("--set", f"{path}={value}")],
    ]


def run_to_the_end(words: list[str], out: Path, rng: random.Random, seconds: float) -> int:
    """Start, kill after a random time, start again with --resume; how many times it was killed."""
    environment, killed = {**os.environ, "OMP_NUM_THREADS": "1"}, 0
    while not (out / "modules.json").exists():
        resume = ["--resume"] if (out / "training" / "recipe.yaml").exists() else []
        process = subprocess.Popen(
            [*words, *resume], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # The first two starts are killed somewhere in the run; then it may end.
        if killed < 2:
            time.sleep(rng.uniform(0.4, 1.0) * seconds)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                killed += 1
        process.wait()
    return killed


def main() -> None:
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        table, start = write_table(place / "table", conversations(300)), write_start(place / "start")
        whole = {}
        seconds = 0.0
        for recipe in RECIPES:
            began = time.monotonic()
            words = command(recipe, start, table, place / recipe)
            subprocess.run(words, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True, capture_output=True)
            seconds = time.monotonic() - began
            whole[recipe] = place / recipe
        identical = 0
        for number in range(RUNS):
            recipe, out = RECIPES[number % 2], place / f"run-{number}"
            killed = run_to_the_end(command(recipe, start, table, out), out, rng, seconds)
            same = all(
                (load_file(path)[key] == load_file(out / path.relative_to(whole[recipe]))[key]).all()
                for path in whole[recipe].rglob("model.safetensors")
                if "training" not in path.parts
                for key in load_file(path)
            )
            identical += same
            print(f"{recipe}, killed {killed} times: {'identical' if same else 'different'}", flush=True)
    record("methods", {"resume_runs": RUNS, "resume_runs_bit_identical": identical})


if __name__ == "__main__":
    main()
