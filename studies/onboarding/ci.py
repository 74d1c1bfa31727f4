"""How long continuous integration takes: `.ci/run` in a fresh clone of what is committed.

Usage: python -m studies.onboarding.ci
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from tools.code_blocks import ROOT

from studies.lib.figures import record


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # As folders of projects are: some tests act as a user who owns nothing.
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        begun = time.perf_counter()
        subprocess.run([clone / ".ci" / "run"], cwd=clone, check=True)
        record("onboarding", {"ci_minutes": (time.perf_counter() - begun) / 60})


if __name__ == "__main__":
    main()
