"""Writes the report over all baselines, docs/baselines.html, and counts what a browser complains about.

Usage: TURNLOOM_DATA=... python -m studies.baselines.report [CACHE]
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.browser import opened, overflow

from studies.baselines.figures import RESULTS
from studies.lib.figures import record
from turnloom.benchmarks.report import build_report

PAGE = Path("docs/baselines.html")


def main(cache: Path) -> None:
    runs = [scores for name in RESULTS.runs() if (scores := RESULTS.scores(name)) is not None]
    PAGE.write_text(build_report({run.model: run for run in runs}, cache, print), encoding="utf-8")
    complaints, wider = 0, 0
    for width in (390, 1280):
        with opened(PAGE, width) as (page, problems):
            wider = max(wider, overflow(page))
        complaints += len(problems)
    size = PAGE.stat().st_size
    figures = {"report_console_errors": complaints, "report_overflow_pixels": wider, "report_megabytes": size / 1e6}
    record("baselines", figures)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs/embeddings"))
