"""Whether `turnloom train --minutes N` ends in time: by how much the whole command exceeds its minutes, in percent.

Usage: TURNLOOM_DATA=... python -m studies.onboarding.minutes [FOLDER]

Nothing else may run meanwhile. The clock starts before the command does: Python's start and imports count. It adapts
turnloom-mini to 15,000 conversations of four open sets; FOLDER keeps their tables for the next time. Every command must
leave a model that encodes.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from studies.lib.figures import record
from turnloom.corpus.engine import daft
from turnloom.corpus.schema import ARROW_SCHEMA
from turnloom.corpus.table import MANIFEST, TableWriter
from turnloom.runtime import load_encoder

SETS = ("sgd", "multiwoz21", "self_dialogue", "taskmaster")
DIALOGUES = 15_000
MINUTES = (1, 5)
MODEL = Path(__file__).parents[2] / "models" / "turnloom-mini"


def sampled_table(folder: Path, sets: Sequence[str] = SETS, dialogues: int = DIALOGUES) -> Path:
    """A table of so many conversations, drawn from all of the sets; made unless it is there."""
    prepared, sample = folder / "prepared", folder / "sample"
    if not (prepared / MANIFEST).exists():
        subprocess.run(["turnloom", "prepare", *sets, "--split", "train", "--out", str(prepared)], check=True)
    if not (sample / MANIFEST).exists():
        parts = sorted(str(path) for path in prepared.glob("*.parquet"))
        rows = ds.dataset(parts).to_table(columns=ARROW_SCHEMA.names)
        chosen = sorted(random.Random(0).sample(range(len(rows)), dialogues))
        writer = TableWriter(sample)
        writer.write(daft().from_arrow(rows.take(pa.array(chosen))))
        writer.finish("studies.onboarding.minutes.sampled_table", {})
    return sample


def overrun_percent(table: Path, out: Path, minutes: float) -> float:
    """By how much the command took longer than it was given; negative if it ended before."""
    command = ["turnloom", "train", "turnloom", str(table), "--adapt", "--start", str(MODEL), "--out", str(out)]
    begun = time.perf_counter()
    subprocess.run([*command, "--minutes", f"{minutes:g}"], check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    seconds = time.perf_counter() - begun
    assert len(load_encoder(out).encode(["where is my parcel"])) == 1
    return 100 * (seconds / 60 - minutes) / minutes


def main(folder: Path) -> None:
    table = sampled_table(folder)
    with tempfile.TemporaryDirectory() as runs:
        overruns = {
            f"minutes_overrun_percent_{minutes}": overrun_percent(table, Path(runs) / str(minutes), minutes)
            for minutes in MINUTES
        }
    record("onboarding", overruns)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            main(Path(place))
