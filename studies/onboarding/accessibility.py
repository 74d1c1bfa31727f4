"""The pages that Turnloom makes, and its documentation: axe-core in a real browser, at desk and phone width.

Usage: python -m studies.onboarding.accessibility

Runs the tests that visit them: the service's page before and after it answers, the pages of `report` and `inspect`,
and home, tutorial, results and intents of the documentation.
They fail at any serious or critical finding; only if none does, the figure is recorded.
"""

from __future__ import annotations

import subprocess
import sys

from tools.code_blocks import ROOT

from studies.lib.figures import record

TESTS = [
    "tests/service/test_page.py",
    "tests/cli/test_report_page.py",
    "tests/cli/test_inspect_page.py",
    "tests/docs/test_site.py",
]


def main() -> None:
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "slow", *TESTS], cwd=ROOT, check=True)
    record("onboarding", {"axe_serious_violations": 0})


if __name__ == "__main__":
    main()
