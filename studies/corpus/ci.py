"""How long CI takes from nothing, in a fresh clone of what is committed.

Usage: TURNLOOM_DATA=... python -m studies.corpus.ci
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from studies.lib.figures import record

ROOT = Path(__file__).parents[2]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        start = time.perf_counter()
        subprocess.run(["bash", ".ci/run"], cwd=clone, check=True)
        record("corpus", {"ci_minutes": (time.perf_counter() - start) / 60})


if __name__ == "__main__":
    main()
