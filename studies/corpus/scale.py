"""`prepare` at 5, 17 and 37 million turns: seconds per million, peak memory, beside bare Daft and DuckDB.

Usage: python -m studies.corpus.scale FOLDER     (FOLDER takes about 6 GB; arms whose result is there are skipped)
"""

from __future__ import annotations

import functools
import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from studies.corpus.generate import generate
from studies.lib.figures import record
from studies.lib.results import Results

RESULTS = Results("corpus")
SIZES = (5, 17, 37)
COMPARED = 5


def _prepare(source: Path, out: Path, near: bool) -> None:
    from turnloom.corpus.cleaning.near import NearOptions
    from turnloom.corpus.prepare import PrepareOptions, prepare

    prepare(source, out, PrepareOptions(near_duplicates=NearOptions() if near else None))


def _bare_daft(source: Path, out: Path) -> None:
    from studies.corpus.bare_daft import run

    run(source, out)


def _duckdb(source: Path, out: Path) -> None:
    from studies.corpus.duckdb_steps import run

    run(source, out)


ARMS: dict[str, Callable[[Path, Path], None]] = {
    "exact": lambda source, out: _prepare(source, out, near=False),
    "near": lambda source, out: _prepare(source, out, near=True),
    "bare-daft": _bare_daft,
    "duckdb": _duckdb,
}


def measure(arm: str, source: Path, out: Path) -> None:
    """Run one arm in this process, which is started for it, and print what it took."""
    start = time.perf_counter()
    ARMS[arm](source, out)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    turns = json.loads((source / "manifest.json").read_text())["turns"]
    found = {
        "turns": turns,
        "seconds": seconds,
        "per_million": seconds / (turns / 1e6),
        "processor_per_million": (used.ru_utime + used.ru_stime) / (turns / 1e6),
        "peak_gib": used.ru_maxrss / 2**20,
    }
    print(json.dumps(found))


def run_arm(arm: str, source: Path, out: Path) -> dict[str, float]:
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "studies.corpus.scale", "--arm", arm, str(source), str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(f"{arm} {source.name}: {found}", flush=True)
    return found


def arm(name: str, measured: Callable[[], dict[str, float]]) -> dict[str, float]:
    """The result of an arm, measured if it is not there."""
    if name not in RESULTS.runs():
        RESULTS.put(name, measured())
    return RESULTS.runs()[name]


def compare(source: Path, out: Path) -> dict[str, float]:
    """Turnloom, bare Daft and DuckDB in turns, three rounds; the median of each."""
    rounds = [
        {name: run_arm(name, source, out)["seconds"] for name in ("exact", "bare-daft", "duckdb")} for _ in range(3)
    ]
    return {name: sorted(each[name] for each in rounds)[1] for name in rounds[0]}


def main(folder: Path) -> None:
    for size in SIZES:
        generate(size * 1_000_000, folder / str(size))
    compared = arm("compared", lambda: compare(folder / str(COMPARED), folder / "out"))
    curves: dict[str, list[dict[str, float]]] = {"exact": [], "near": []}
    for kind, points in curves.items():
        for size in SIZES:
            source = folder / str(size)
            points.append(arm(f"scale-{kind}-{size}", functools.partial(run_arm, kind, source, folder / "out")))
    seconds = [point["per_million"] for point in curves["exact"]]
    record(
        "corpus",
        {
            "scale_37m_peak_gib": curves["exact"][-1]["peak_gib"],
            "scale_37m_seconds_per_million_turns": seconds[-1],
            "scale_flatness": max(seconds) / min(seconds),
            "speed_ratio_to_bare_daft": compared["bare-daft"] / compared["exact"],
            "speed_ratio_to_duckdb": compared["duckdb"] / compared["exact"],
        },
    )


if __name__ == "__main__":
    if sys.argv[1] == "--arm":
        measure(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
    else:
        main(Path(sys.argv[1]))
