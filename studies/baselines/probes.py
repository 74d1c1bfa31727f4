"""How long a probe takes when the vectors are there already: the slowest one of the suite.

Usage: TURNLOOM_DATA=... python -m studies.baselines.probes MODEL
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from studies.lib.figures import record
from turnloom.benchmarks import CachedEncoder, run_tasks, suite_tasks
from turnloom.runtime import load_encoder


def main(folder: str) -> None:
    tasks = [task for task in suite_tasks("diaeval") if task.info.language == "en"]
    slowest = 0.0
    for task in tasks:
        with tempfile.TemporaryDirectory() as out:
            encoder = CachedEncoder(load_encoder(folder, bf16=True), Path("runs/embeddings"))
            start = time.perf_counter()
            run_tasks(encoder, [task], Path(out))
            slowest = max(slowest, time.perf_counter() - start)
            print(f"{task.info.name}: {time.perf_counter() - start:.0f} s")
    record("baselines", {"probe_minutes": slowest / 60})


if __name__ == "__main__":
    main(sys.argv[1])
