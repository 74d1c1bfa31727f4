"""Near duplicates at 5, 17 and 37 million turns: seconds per million and peak memory, each in a process of its own.

Usage: python -m studies.scale.near FOLDER     (FOLDER takes about 3 GB; sizes whose result is there are skipped)

Seconds are those of processors: on a shared machine the clock says more about the others.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from studies.corpus.generate import generate
from studies.corpus.scale import SIZES, run_arm
from studies.lib.figures import record
from studies.lib.results import Results

RESULTS = Results("scale")


def main(folder: Path) -> None:
    for size in SIZES:
        name = f"near-{size}"
        if name not in RESULTS.runs():
            generate(size * 1_000_000, folder / str(size))
            RESULTS.put(name, run_arm("near", folder / str(size), folder / "out"))
            shutil.rmtree(folder / "out")
    points = [RESULTS.runs()[f"near-{size}"] for size in SIZES]
    seconds = [point["processor_per_million"] for point in points]
    figures = {f"near_{size}m_seconds_per_million": one for size, one in zip(SIZES, seconds, strict=True)}
    figures |= {f"near_{size}m_peak_gib": point["peak_gib"] for size, point in zip(SIZES, points, strict=True)}
    record("scale", figures | {"near_flatness": max(seconds) / min(seconds)})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
