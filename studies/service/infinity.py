"""infinity-emb beside our service: the same texts, requests and clients, in turns.

infinity-emb needs older packages than ours, so it lives in an environment of its own, and it cannot read heads: it
serves the start of our model, the same transformer. Both serve on all cores.

Usage: python -m studies.service.infinity EXPORTED_MODEL --work FOLDER --infinity PATH/infinity_emb --start START
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from studies.lib.figures import record
from studies.service.lab import free_port, prepare, save, service, wait_ready
from studies.service.load import generate

ROUNDS, SECONDS = 3, 8.0


@contextmanager
def infinity(executable: Path, start: Path) -> Iterator[str]:
    port = free_port()
    command = [str(executable), "v2", "--model-id", str(start), "--served-model-name", "model", "--engine", "torch"]
    command += ["--device", "cpu", "--host", "127.0.0.1", "--port", str(port), "--url-prefix", "/v1"]
    environment = {**os.environ, "DO_NOT_TRACK": "1", "INFINITY_ANONYMOUS_USAGE_STATS": "0", "PYTHONPATH": ""}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_ready(address, 120, "/health")
        yield address
    finally:
        process.terminate()
        process.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--infinity", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    given = parser.parse_args()
    prepare(given.work, given.model, None)
    cores = len(os.sched_getaffinity(0))
    found: dict[str, list[float]] = {"turnloom": [], "infinity_emb": []}
    with infinity(given.infinity, given.start) as theirs, service(given.work, workers=cores) as (ours, _):
        for address in (ours, theirs):
            generate(address, 8, 4)  # Warm.
        for _ in range(ROUNDS):
            for name, address in (("turnloom", ours), ("infinity_emb", theirs)):
                run = generate(address, 8, SECONDS)
                assert set(run["statuses"]) == {"200"}, run["statuses"]
                found[name].append(8 * run["requests_per_second"])
    medians = {name: float(np.median(rates)) for name, rates in found.items()}
    save("infinity", {"texts_per_second": found, "medians": medians})
    record("service", {f"texts_per_second.{name}": rate for name, rate in medians.items()})


if __name__ == "__main__":
    main()
