"""How long `import turnloom` and `turnloom --help` take: the median of nine runs, interpreter start included for help.

Usage: python -m studies.corpus.startup
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from studies.lib.figures import record

RUNS = 9


def median_seconds(command: list[str]) -> float:
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    bare = median_seconds([sys.executable, "-c", "pass"])
    importing = median_seconds([sys.executable, "-c", "import turnloom"])
    record(
        "corpus", {"import_seconds": max(importing - bare, 0.0), "help_seconds": median_seconds(["turnloom", "--help"])}
    )


if __name__ == "__main__":
    main()
