"""How many of the lines the fast tests run: reads what pytest-cov wrote.

Usage: pytest --cov=turnloom --cov-report=json:coverage.json
       python -m studies.onboarding.coverage coverage.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from studies.lib.figures import record

WORST = 10


def main(path: str) -> None:
    report = json.loads(Path(path).read_text())
    percent = float(report["totals"]["percent_covered"])
    missing = {name: file["summary"]["missing_lines"] for name, file in report["files"].items()}
    worst = sorted(missing, key=lambda name: -missing[name])[:WORST]
    print(f"{percent:.1f} % of lines; most are missing in:")
    for name in worst:
        print(f"{missing[name]:4d} {name}")
    record("onboarding", {"coverage_percent": percent})


if __name__ == "__main__":
    main(*sys.argv[1:])
