"""What `evaluate` adds to bare encoding, and what its cache saves.

Usage: TURNLOOM_DATA=... python -m studies.baselines.speed MODEL
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from studies.lib.figures import record
from turnloom.benchmarks import CachedEncoder, run_tasks, tasks_named
from turnloom.runtime.encoder import SentenceTransformerEncoder, load_encoder
from turnloom.runtime.protocols import Vectors

TASKS = ["intent-1shot-banking77", "select-sgd-next"]


def main(folder: str) -> None:
    encoder = load_encoder(folder)
    assert isinstance(encoder, SentenceTransformerEncoder)
    seen: list[str] = []
    bare = encoder.encode

    def noted(texts: Sequence[str]) -> Vectors:
        seen.extend(texts)
        return bare(texts)

    encoder.encode = noted  # type: ignore[method-assign]
    bare(["warm up"] * 64)
    with tempfile.TemporaryDirectory() as name:
        start = time.perf_counter()
        run_tasks(CachedEncoder(encoder, Path(name) / "cache"), tasks_named(TASKS), Path(name) / "first")
        first = time.perf_counter() - start
        start = time.perf_counter()
        encoder.model.encode(seen, batch_size=64, show_progress_bar=False)
        encoding = time.perf_counter() - start
        start = time.perf_counter()
        run_tasks(CachedEncoder(encoder, Path(name) / "cache"), tasks_named(TASKS), Path(name) / "second")
        second = time.perf_counter() - start
    # A second run is scoring alone: what is left of the first is encoding.
    print(f"{len(seen):,} texts: first {first:.1f} s, bare {encoding:.1f} s, second {second:.1f} s")
    record("baselines", {"encode_overhead": (first - second) / encoding, "cache_speedup": first / second})


def quick(folder: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        start = time.perf_counter()
        command = [
            "turnloom",
            "evaluate",
            folder,
            "--suite",
            "quick",
            "--cache",
            f"{name}/cache",
            "--out",
            f"{name}/out",
        ]
        subprocess.run(command, check=True)
        record("baselines", {"quick_suite_minutes": (time.perf_counter() - start) / 60})


if __name__ == "__main__":
    main(sys.argv[1])
    quick(sys.argv[1])
