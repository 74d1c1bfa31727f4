"""How fast views are built and read: a trainer on two cores takes about 100 pairs a second.

Usage: python -m studies.methods.view_speed TABLE
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from studies.lib.figures import record
from turnloom.corpus import read_table
from turnloom.corpus.inspect import count_pairs
from turnloom.views import Consecutive, Windows, build_view, load_view, stream_view

BATCH = 128


def rows_per_second(batches: Iterable[dict[str, list[Any]]]) -> float:
    """Every batch is read, and its texts with it."""
    start, rows = time.perf_counter(), 0
    for batch in batches:
        rows += len(batch["reply"])
    return rows / (time.perf_counter() - start)


def seconds_per_million(table: Path, out: Path, view: Consecutive | Windows) -> tuple[int, float, float]:
    """The number of rows; seconds on the clock and of processor time for each million of them."""
    start, busy = time.perf_counter(), time.process_time()
    rows = build_view(table, out, view).count()
    return rows, (time.perf_counter() - start) / rows * 1e6, (time.process_time() - busy) / rows * 1e6


def main(table: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        pairs, seconds, processor = seconds_per_million(table, Path(folder) / "pairs", Consecutive())
        assert pairs == count_pairs(read_table(table))
        rows, window_seconds, window_processor = seconds_per_million(table, Path(folder) / "windows", Windows())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        mapped = rows_per_second(load_view(Path(folder) / "pairs").iter(BATCH))
        streamed = rows_per_second(stream_view(Path(folder) / "pairs").iter(BATCH))
    record(
        "methods",
        {
            "view_pairs": pairs,
            "view_seconds_per_million_pairs": seconds,
            "view_processor_seconds_per_million_pairs": processor,
            "view_windows_rows": rows,
            "view_windows_seconds_per_million_rows": window_seconds,
            "view_windows_processor_seconds_per_million_rows": window_processor,
            "view_peak_gib": peak,
            "view_rows_per_second": mapped,
            "view_streamed_rows_per_second": streamed,
        },
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
