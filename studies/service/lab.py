"""A service to measure: its folder, its processes, and direct calls of what is behind it."""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import httpx
import psutil
import yaml

from studies.lib.results import Results
from turnloom.service.scopes import KeyScope

THINGS = ["lamp", "desk", "chair", "sofa", "shelf", "table", "rug", "mirror", "clock", "vase"]
ASKS = {
    "where is my order": ["where is my {}", "when does the {} arrive", "track my {} order", "my {} is late"],
    "price": ["what does the {} cost", "price of the {}", "how much is a {}", "is the {} expensive"],
    "return": ["i want to return the {}", "send the {} back", "refund for my {}", "the {} does not fit"],
}
ADMIN, OTHER = "tw-study", "tw-other"
"""Two keys with all scopes."""
TEXTS = [
    f"{opening} {thing} that I ordered {when} from your shop in {place} please"
    for opening in ("hello where is the", "could you tell me about the", "I would like to send back the")
    for thing in THINGS
    for when in ("last week", "on monday", "in march", "yesterday")
    for place in ("Berlin", "the city", "Lisbon")
]
"""Texts of about 16 tokens."""


def arguments(*, reranker: bool = False) -> argparse.ArgumentParser:
    """What every measurement is called with."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    if reranker:
        parser.add_argument("--reranker", type=Path)
    parser.add_argument("--dry", action="store_true", help="Record nothing.")
    return parser


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def dialogues(count: int, first: int = 0) -> list[dict[str, Any]]:
    """Conversations as the service takes them, each with a reply of its own."""
    return [
        {
            "id": f"study-{number}",
            "source": "study",
            "turns": [
                {"speaker": "customer", "text": f"where is my {THINGS[number % 10]} order {number}"},
                {"speaker": "agent", "text": f"Your {THINGS[number % 10]} number {number} is on its way"},
            ],
        }
        for number in range(first, first + count)
    ]


def link(folder: Path, name: str, target: Path) -> None:
    """Link to a model, unless the link is there."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / name).exists():
        (folder / name).symlink_to(target.resolve())


def prepare(folder: Path, model: Path, reranker: Path | None) -> None:
    """Links to the models, intents and a reply index that fit them."""
    from turnloom.corpus.engine import daft
    from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
    from turnloom.corpus.table import TableWriter
    from turnloom.intents import IntentClassifier
    from turnloom.replies import ReplyIndex
    from turnloom.runtime import load_encoder

    link(folder, "model", model)
    if reranker is not None:
        link(folder, "reranker", reranker)
    encoder = load_encoder(folder / "model")
    if not (folder / "intents").exists():
        texts = [(ask.format(thing), name) for name, asks in ASKS.items() for ask in asks for thing in THINGS[:3]]
        IntentClassifier(encoder).fit([text for text, _ in texts], [name for _, name in texts]).save(folder / "intents")
    if not (folder / "replies").exists():
        made = [
            Dialogue(one["id"], "log", [Turn(turn["speaker"], turn["text"]) for turn in one["turns"]])
            for one in dialogues(500, first=1_000_000)
        ]
        writer = TableWriter(folder / "table")
        writer.write(daft().from_arrow(dialogues_to_arrow(made)))
        writer.finish("study", {})
        ReplyIndex.build(folder / "table", folder / "replies", encoder)


def write_config(folder: Path, **changes: Any) -> tuple[Path, str]:
    """A configuration, and the address that it serves on."""
    from turnloom.service.keys import hashed

    port = free_port()
    scopes = sorted(get_args(KeyScope))
    found: dict[str, Any] = {
        "port": port,
        "state": f"state-{port}",
        "allowed_folders": [".", *sorted({str((folder / name).resolve().parent) for name in ("model", "reranker")})],
        "model": {"path": "model", "name": "model", "threads": 1},
        "intents": {"folder": "intents"},
        "replies": {"folder": "replies", "add_every_seconds": 2},
        "keys": [
            {"name": name, "hash": hashed(key), "scopes": scopes} for name, key in (("study", ADMIN), ("other", OTHER))
        ],
        "logs": {"level": "warning"},
    }
    if (folder / "reranker").exists():
        found["reranker"] = {"path": "reranker", "name": "reranker", "threads": 1}
    path = folder / f"config-{port}.yaml"
    path.write_text(yaml.safe_dump(found | changes), encoding="utf-8")
    return path, f"http://127.0.0.1:{port}"


def client(address: str, **options: Any) -> httpx.Client:
    return httpx.Client(base_url=address, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=30, **options)


def wait_ready(
    address: str,
    seconds: float = 3_600,
    path: str = "/health/ready",
    process: subprocess.Popen[bytes] | None = None,
) -> float:
    """Until it is ready, or its process has ended; how long that took."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if process is not None and process.poll() is not None:
            raise RuntimeError(f"{address} ended with code {process.returncode}; its log says why")
        try:
            if httpx.get(f"{address}{path}", timeout=2).status_code == 200:
                return time.monotonic() - began
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"{address} was not ready within {seconds} s")


class Served:
    """A service of its own processes, which can be killed and started again on the same port."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.folder = folder
        self.config, self.address = write_config(folder, **changes)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        command = [sys.executable, "-m", "turnloom.cli.main", "serve", str(self.config)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=log, stderr=log)
        self.parent = psutil.Process(self.process.pid)
        try:
            wait_ready(self.address, process=self.process)
        except BaseException:
            self.stop()
            raise

    def kill(self) -> None:
        """End its first process as a power failure would."""
        self.process.kill()
        self.process.wait(60)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(120)


@contextmanager
def service(folder: Path, **changes: Any) -> Iterator[tuple[str, psutil.Process]]:
    """A service, for as long as the block runs; its address and its first process."""
    served = Served(folder, **changes)
    try:
        yield served.address, served.parent
    finally:
        served.stop()


def workers(parent: psutil.Process) -> list[psutil.Process]:
    """The worker processes, forks of one that has only imported."""
    return [child for server in _children(parent) for child in _children(server)]


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children())
    except psutil.Error:  # It was killed a moment ago.
        return []


def ready_workers(folder: Path) -> set[int]:
    """The processes that have said in the log that they serve."""
    lines = (folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()
    return {json.loads(line)["pid"] for line in lines if '"event":"ready"' in line}


def cpu_seconds(processes: list[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(each.user + each.system for each in times))


def save(name: str, details: dict[str, Any]) -> None:
    """Everything that was measured, beside the figures."""
    Results("service").put(name, details)
