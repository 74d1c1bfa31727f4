"""How many of the lines the fast tests run: reads what pytest-cov wrote.

Usage: pytest --cov=turnwise --cov-report=json:coverage.json
       python -m studies.onboarding.coverage coverage.json [--least 90 | --record]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from studies.figures import record

WORST = 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("report", type=Path)
    parser.add_argument("--least", type=float, help="Fail below so many percent.")
    parser.add_argument("--record", action="store_true", help="Write the figure.")
    given = parser.parse_args()
    report = json.loads(given.report.read_text())
    percent = float(report["totals"]["percent_covered"])
    missing = {name: file["summary"]["missing_lines"] for name, file in report["files"].items()}
    worst = sorted(missing, key=lambda name: -missing[name])[:WORST]
    print(f"{percent:.1f} % of lines; most are missing in:")
    for name in worst:
        print(f"{missing[name]:4d} {name}")
    if given.record:
        record("onboarding", {"coverage_percent": percent})
    if given.least is not None and percent < given.least:
        raise SystemExit(f"less than {given.least:g} %")


if __name__ == "__main__":
    main()
