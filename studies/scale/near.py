"""Near duplicates at 5, 17 and 37 million turns: seconds per million and peak memory, each in a process of its own.

Usage: python -m studies.scale.near FOLDER [SIZE...]     (FOLDER takes about 3 GB; what is measured is skipped)

SIZE is in millions. Up to five, the same without near duplicates is measured, too.

Seconds are those of processors: on a shared machine the clock says more about the others.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.corpus.generate import generate
from studies.corpus.scale import SIZES, run_arm
from studies.lib.figures import record
from studies.lib.results import Results

RESULTS = Results("scale")


def point(kind: str, size: float, folder: Path) -> dict[str, float]:
    """Seconds and memory at a size, measured if they are not there."""
    name = f"{kind}-{size:g}"
    if name not in RESULTS.runs():
        generate(round(size * 1_000_000), folder / f"{size:g}")
        RESULTS.put(name, run_arm(kind, folder / f"{size:g}", folder / "out"))
        shutil.rmtree(folder / "out")
    return RESULTS.runs()[name]


def main(folder: Path, sizes: Sequence[float]) -> None:
    for size in sizes:
        for kind in ("near", "exact") if size <= SIZES[0] else ("near",):
            found = point(kind, size, folder)
            seconds, peak = found["processor_per_million"], found["peak_gib"]
            record("scale", {f"{kind}_{size:g}m_seconds_per_million": seconds, f"{kind}_{size:g}m_peak_gib": peak})
    if set(SIZES) <= set(sizes):
        every = [point("near", size, folder)["processor_per_million"] for size in SIZES]
        record("scale", {"near_flatness": max(every) / min(every)})


if __name__ == "__main__":
    main(Path(sys.argv[1]), [float(size) for size in sys.argv[2:]] or SIZES)
