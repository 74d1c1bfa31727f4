"""How long groups take and how much memory, with vectors at hand.

Usage: ``python -m studies.discovery.scale 100000 | 1000000``. The vectors are those of the labelled sets, and
more made of them by adding noise, so that each has neighbours at a cosine of about 0.9.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from studies.discovery.sets import VALIDATION, read_grouped
from studies.lib.figures import record
from turnloom.discovery import Messages, discover
from turnloom.runtime.protocols import unit_rows

NOISE = 0.45 / 384**0.5
WORDS = ("order", "card", "flight", "hotel", "refund", "account", "table", "ticket", "parcel", "bill")


def main(count: int) -> None:
    """Group so many vectors and record seconds or memory."""
    known = np.unique(np.concatenate([read_grouped(*file).vectors for file in VALIDATION]), axis=0)
    rng = np.random.default_rng(0)
    vectors = np.empty((count, known.shape[1]), np.float32)
    for start in range(0, count, len(known)):
        more = known[rng.permutation(len(known))[: count - start]]
        noise = NOISE * rng.standard_normal(more.shape, np.float32) if start else 0
        vectors[start : start + len(more)] = unit_rows(more + noise)
    del known, more, noise
    # Words stand for the texts, so that naming has its work.
    texts = [f"please change my {WORDS[row % 10]} {WORDS[row // 10 % 10]} {row}" for row in range(count)]
    messages = Messages(texts, [""] * count, np.ones(count, np.int64), count)
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
    main(int(sys.argv[1]))
