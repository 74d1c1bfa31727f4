"""`turnloom replies build` and `add`, killed at random moments and run again.

Every reply must be there once, with the count of an undisturbed run, and whoever reads meanwhile must see the version
before, whole.

Usage: TURNLOOM_DATA=... python -m studies.applications.replies_kill MODEL
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from studies.lib.figures import record
from turnloom.replies import ReplyIndex

RUNS = 10
SETS = ("woz20", "casino")


def replies(index: Path) -> Counter[tuple[int, int]]:
    """Every row's key and count, as often as it is there."""
    rows = ReplyIndex(index)._searcher.replies.search().select(["key", "count"]).to_arrow()
    return Counter(zip(rows["key"].to_pylist(), rows["count"].to_pylist(), strict=True))


def differences(found: Counter[tuple[int, int]], expected: Counter[tuple[int, int]]) -> int:
    """Rows that are missing, doubled or wrongly counted."""
    return (found - expected).total() + (expected - found).total()


def run(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def killed(command: list[str], seconds: float, chance: random.Random, reader: Path | None) -> tuple[int, int]:
    """Kill the command once at a random moment, then let it end; kills, and readers that saw something else."""
    before = replies(reader) if reader else None
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end, torn = time.perf_counter() + chance.uniform(0.2, 0.95) * seconds, 0
    while time.perf_counter() < end and process.poll() is None:
        if reader is not None and before is not None:
            # A reader that looks when the write is done sees the new version: that is not half of one.
            seen = replies(reader)
            torn += seen != before and process.poll() is None and len(ReplyIndex(reader).versions) == 1
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    ended = process.wait() == -signal.SIGKILL
    if reader is not None and before is not None and ended and len(ReplyIndex(reader).versions) == 1:
        torn += replies(reader) != before
    subprocess.run(command, check=True, capture_output=True)
    return int(ended), torn


def main(model: str) -> None:
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in SETS:
            run(["turnloom", "convert", data, "--split", "train", "--out", str(folder / data)])

        def commands(index: Path) -> tuple[list[str], list[str]]:
            start = ["turnloom", "replies"]
            build = [*start, "build", str(folder / SETS[0]), "--model", model, "--out", str(index), "--bf16"]
            add = [*start, "add", str(folder / SETS[1]), "--index", str(index), "--model", model, "--bf16"]
            return build, add

        build, add = commands(folder / "undisturbed")
        seconds = run(build), run(add)
        expected = replies(folder / "undisturbed")
        kills = wrong = torn = 0
        for number in range(RUNS):
            index = folder / f"index-{number}"
            build, add = commands(index)
            first, _ = killed(build, seconds[0], chance, None)
            second, seen = killed(add, seconds[1], chance, index)
            different = differences(replies(index), expected)
            kills, wrong, torn = kills + first + second, wrong + different, torn + seen
            print(
                f"{number}: killed in build {first}, in add {second}; {different} replies differ, {seen} torn reads",
                flush=True,
            )
    record("applications", {"kill_runs": RUNS, "kills": kills, "replies_lost_or_doubled": wrong, "torn_reads": torn})


if __name__ == "__main__":
    main(sys.argv[1])
