"""How long groups take and how much memory, with vectors at hand.

Usage: ``python -m studies.discovery.scale VECTORS 100000 | 1000000``. VECTORS is what 'turnloom vectors' made. If it
holds too few texts, more are made of them by adding noise, so that each has neighbours at a cosine of about 0.9.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from studies.lib.figures import record
from turnloom.discovery import Messages, discover
from turnloom.runtime.protocols import unit_rows
from turnloom.vectors import VectorTable

NOISE = 0.45 / 384**0.5
WORDS = ("order", "card", "flight", "hotel", "refund", "account", "table", "ticket", "parcel", "bill")


def main(folder: str, count: int) -> None:
    """Group so many vectors and record seconds or memory."""
    table = VectorTable(folder)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(table))[:count])
    vectors = np.empty((count, table.manifest.width), np.float32)
    vectors[: len(rows)] = table.vectors[rows]
    for start in range(len(rows), count, len(rows)):
        more = vectors[: min(len(rows), count - start)]
        vectors[start : start + len(more)] = unit_rows(more + NOISE * rng.standard_normal(more.shape, np.float32))
    # The texts are not in a vector table; words stand for them, so that naming has its work.
    texts = [f"please change my {WORDS[row % 10]} {WORDS[row // 10 % 10]} {row}" for row in range(count)]
    messages = Messages(texts, [""] * count, np.ones(count, np.int64), count)
    del table
    began, cpu = time.monotonic(), time.process_time()
    found = discover(messages, vectors)
    seconds, used = time.monotonic() - began, time.process_time() - cpu
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{count:,} messages, groups {found.summary.levels}, {seconds:.1f} s ({used:.1f} s of CPU), {gib:.2f} GiB")
    if count == 100_000:
        record(
            "discovery",
            {"discover_seconds_per_100k": seconds, "discover_cpu_seconds_per_100k": used, "discover_100k_gib": gib},
        )
    elif count == 1_000_000:
        record("discovery", {"discover_million_gib": gib, "discover_million_seconds": seconds})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
