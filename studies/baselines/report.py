"""Builds the report over all baselines and counts what a browser complains about.

Usage: TURNLOOM_DATA=... python -m studies.baselines.report [CACHE]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.cli.browser import opened, overflow

from studies.figures import record
from turnloom.benchmarks.report import build_report
from turnloom.benchmarks.run import read_runs

FOLDER = Path(__file__).parent


def main(cache: Path) -> None:
    runs = read_runs(sorted(path.parent for path in FOLDER.glob("*/results.json")))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "report.html"
        path.write_text(build_report(runs, cache, print), encoding="utf-8")
        complaints, wider = 0, 0
        for width in (390, 1280):
            with opened(path, width) as (page, problems):
                wider = max(wider, overflow(page))
            complaints += len(problems)
        size = path.stat().st_size
    figures = {"report_console_errors": complaints, "report_overflow_pixels": wider, "report_megabytes": size / 1e6}
    record("baselines", figures)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs/embeddings"))
