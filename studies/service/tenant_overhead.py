"""What tenants, the audit log and tracing (off) cost: throughput against the code before them, in turns in one run.

Both services run at the same time on the same model and configuration, and only one of them is asked at a time. A pair
of rounds gives a ratio; the median over all pairs is robust against other work on the machine.

Usage: python -m studies.service.tenant_overhead EXPORTED_MODEL --work FOLDER [--pairs 20] [--seconds 4]
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np

from studies.lib.figures import record
from studies.service.lab import ADMIN, OTHER, Served, arguments, link, save
from studies.service.load import generate
from turnloom.service.keys import hashed

BEFORE = "539cfe8"
"""The last commit without tenants."""
LIMITS = {"wait_seconds": 60, "request_seconds": 300}
"""Nothing is refused, however slow the machine is at the moment."""
KEYS = [
    {"name": name, "hash": hashed(key), "scopes": ["embeddings", "metrics"]}
    for name, key in (("study", ADMIN), ("other", OTHER))
]
"""Scopes that the earlier code knows, too. No intents and replies are served: newer code writes them otherwise."""
ROOT = Path(__file__).parents[2]


@contextmanager
def code_before(folder: Path) -> Iterator[Path]:
    """The code of the earlier commit."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run(
        [*git, "remove", "--force", str(folder)], check=False, capture_output=True
    )  # Of a run that was killed.
    subprocess.run([*git, "add", "--force", "--detach", str(folder), BEFORE], check=True, capture_output=True)
    try:
        yield folder / "src"
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


@contextmanager
def serving(work: Path, source: Path) -> Iterator[str]:
    """A service of some source code; its address."""
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{source}{os.pathsep}{before}"
    try:
        served = Served(work, page=False, limits=LIMITS, keys=KEYS, intents=None, replies=None)
    finally:
        os.environ["PYTHONPATH"] = before
    try:
        yield served.address
    finally:
        served.stop()


def has_tenants(address: str) -> bool:
    """Whether the service counts per tenant: does it run the code that it should?"""
    headers = {"Authorization": f"Bearer {ADMIN}"}
    httpx.get(f"{address}/info", headers=headers, timeout=30)
    return 'tenant="' in httpx.get(f"{address}/metrics", headers=headers, timeout=30).text


def rate(address: str, seconds: float) -> float:
    """Answered requests per second with one text each, which is where anything but the model shows most."""
    found = generate(address, 1, seconds)
    assert set(found["statuses"]) == {"200"}, found["statuses"]
    return float(found["statuses"]["200"] / found["seconds"])


def main() -> None:
    parser = arguments()
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=4.0)
    given = parser.parse_args()
    link(given.work, "model", given.model)
    with (
        code_before(given.work.resolve() / "before") as source,
        serving(given.work, source) as old,
        serving(given.work, ROOT / "src") as new,
    ):
        assert not has_tenants(old), "the first service should be the one without tenants"
        assert has_tenants(new)
        for address in (old, new):
            rate(address, given.seconds)  # Warms up: how long requests take is learned first.
        rounds = []
        for number in range(given.pairs):
            order = (old, new) if number % 2 == 0 else (new, old)
            rates = {address: rate(address, given.seconds) for address in order}
            rounds.append({"before": rates[old], "now": rates[new]})
            print(rounds[-1], flush=True)
    overheads = np.array([100 * (one["before"] / one["now"] - 1) for one in rounds])
    draws = np.random.default_rng(0).choice(overheads, (2_000, len(overheads)))
    low, high = np.percentile(np.median(draws, axis=1), [2.5, 97.5])
    median = float(np.median(overheads))
    print(f"overhead {median:.2f} % [{low:.2f}, {high:.2f}] over {given.pairs} pairs")
    if not given.dry:
        save("tenant_overhead", {"rounds": rounds, "interval": [float(low), float(high)]})
        record("service", {"tenant_overhead_percent": median})


if __name__ == "__main__":
    main()
