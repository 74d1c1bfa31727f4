"""How much memory a worker takes for itself, and what a snapshot takes on disk.

Memory is what a process would give back if it ended (USS): what it shares with others, such as libraries and the mapped
index, is counted for nobody. A worker is measured when it has answered every kind of request for a while.

Usage: python -m studies.service.memory EXPORTED_MODEL --work FOLDER [--requests 300]
"""

from __future__ import annotations

from pathlib import Path

import psutil

from studies.lib.figures import record
from studies.service.lab import TEXTS, arguments, client, prepare, save, service, workers
from turnloom.service.config_file import load_config
from turnloom.service.snapshots import take_snapshot

MIB = 2**20
COUNT = 2
"""Workers."""


def mib_of(process: psutil.Process) -> float:
    return float(process.memory_full_info().uss) / MIB


def folder_mib(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MIB


def use(address: str, requests: int) -> None:
    """Ask for everything, over connections that reach every worker."""
    for number in range(requests):
        text = TEXTS[number % len(TEXTS)]
        with client(address) as one:
            one.post("/v1/embeddings", json={"model": "model", "input": TEXTS[:32]}).raise_for_status()
            one.post("/v1/intents", json={"messages": [text]}).raise_for_status()
            one.post("/v1/replies", json={"context": ["hello", text], "k": 5}).raise_for_status()


def main() -> None:
    parser = arguments()
    parser.add_argument("--requests", type=int, default=300)
    given = parser.parse_args()
    prepare(given.work, given.model, None)
    with service(given.work, workers=COUNT) as (address, parent):
        use(address, given.requests)
        each = [mib_of(worker) for worker in workers(parent)]
        above = sum(mib_of(process) for process in (parent, *parent.children()))
        (config,) = sorted(given.work.glob(f"config-{address.rsplit(':', 1)[1]}.yaml"))
        copied = folder_mib(take_snapshot(load_config(config)))
    figures = {
        "worker_memory_mib": max(each),
        "supervisor_memory_mib": above,
        "snapshot_mib": copied,
        "snapshot_model_mib": folder_mib(given.model.resolve()),
    }
    if not given.dry:
        save("memory", {"workers": each, **figures})
        record("service", figures)
    print(figures)


if __name__ == "__main__":
    main()
