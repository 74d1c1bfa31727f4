"""What goes wrong around a service: a full disk, a killed parent, a page that rebinds a name, a restart under load.

Needs root for the disk: it mounts a small file system for `state`.

Usage: python -m studies.service.faults EXPORTED_MODEL --work FOLDER [--only disk|parent|browser|restart ...]
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil

from studies.lib.figures import record
from studies.service.lab import Served, arguments, client, dialogues, prepare, save, service, workers

READS: list[tuple[str, str, Any]] = [
    ("POST", "/v1/embeddings", {"model": "model", "input": "where is my lamp"}),
    ("POST", "/v1/intents", {"messages": ["where is my lamp"]}),
    ("GET", "/v1/intents", None),
    ("POST", "/v1/replies", {"context": ["where is my lamp"]}),
    ("GET", "/v1/models", None),
    ("GET", "/info", None),
    ("GET", "/metrics", None),
    ("GET", "/health/ready", None),
]
READERS, DISK_SECONDS, ROUNDS = 4, 30.0, 5


@contextmanager
def small_disk(folder: Path, kind: str, megabytes: int = 64) -> Iterator[Path]:
    """A file system of its own: ext4 in a file, or tmpfs."""
    place, image = folder / f"disk-{kind}", folder / "disk.img"
    place.mkdir(exist_ok=True)
    if kind == "ext4":
        with image.open("wb") as file:
            file.truncate(megabytes * 2**20)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
        subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=True)
    else:
        options = f"size={megabytes}m"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "turnloom-study", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
        image.unlink(missing_ok=True)


def fill(folder: Path) -> None:
    with (folder / "filler").open("ab", buffering=0) as file:
        for size in (2**20, 2**12, 1):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass


class Traffic:
    """Readers and a writer, and what each of their requests got."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.stop = threading.Event()
        self.reads: Counter[str] = Counter()
        self.writes: Counter[str] = Counter()
        self.acknowledged: list[str] = []
        self._lock = threading.Lock()

    def read(self) -> None:
        with client(self.address) as asking:
            while not self.stop.is_set():
                for method, path, body in READS:
                    self._count(self.reads, asking, method, path, body)

    def write(self) -> None:
        number = 0
        with client(self.address) as asking:
            while not self.stop.is_set():
                number += 1
                text = f"disk example {number} " + "word " * 200
                body = {"examples": [{"message": text, "intent": "disk"}]}
                if self._count(self.writes, asking, "POST", "/v1/intents/examples", body) == 200:
                    self.acknowledged.append(text)
                chats = {"conversations": dialogues(4, 10 * number)}
                self._count(self.writes, asking, "POST", "/v1/replies/conversations", chats)
                time.sleep(0.05)

    def _count(self, counts: Counter[str], asking: httpx.Client, method: str, path: str, body: Any) -> int:
        try:
            status = asking.request(method, path, json=body).status_code
        except httpx.TransportError:
            status = 0
        with self._lock:
            counts[f"{path} {status}"] += 1
        return status


def failed(reads: Counter[str]) -> int:
    """Reads that got something else than an answer; 429 is one that a busy service gives."""
    return sum(count for name, count in reads.items() if name.rsplit(" ", 1)[1] not in ("200", "429"))


def full_disk(folder: Path, kind: str) -> dict[str, Any]:
    with small_disk(folder, kind) as disk:
        served = Served(folder, workers=2, state=str(disk / "state"))
        try:
            before = {worker.pid for worker in workers(served.parent)}
            traffic = Traffic(served.address)
            with ThreadPoolExecutor(READERS + 1) as pool:
                for _ in range(READERS):
                    pool.submit(traffic.read)
                pool.submit(traffic.write)
                time.sleep(3)
                fill(disk)
                time.sleep(DISK_SECONDS)
                during = dict(traffic.writes)
                (disk / "filler").unlink()
                time.sleep(3)
                traffic.stop.set()
            deaths = len(before - {worker.pid for worker in workers(served.parent)})
            with client(served.address) as asking:
                known = asking.get("/v1/intents/examples", params={"intent": "disk"}).json()["examples"]
            lost = set(traffic.acknowledged) - {turns[-1] for turns in known}
            extra = {turns[-1] for turns in known} - set(traffic.acknowledged)
            return {
                "reads": dict(traffic.reads),
                "writes_while_full": during,
                "writes": dict(traffic.writes),
                "reads_failed": failed(traffic.reads),
                "worker_deaths": deaths,
                "acknowledged": len(traffic.acknowledged),
                "acknowledged_lost": len(lost),
                "refused_but_there": len(extra),
            }
        finally:
            served.stop()


def parent_kills(folder: Path) -> dict[str, Any]:
    """Kill the parent under load; count the workers that live on, and see how long a restart takes."""
    served = Served(folder, workers=2)
    orphans, restarts = 0, []
    try:
        for _ in range(ROUNDS):
            known = workers(served.parent)
            traffic = Traffic(served.address)
            with ThreadPoolExecutor(READERS) as pool:
                for _ in range(READERS):
                    pool.submit(traffic.read)
                time.sleep(2)
                served.kill()
                traffic.stop.set()
                began = time.monotonic()
                served.start()  # At once, on the same port: fails if anything still listens there.
                restarts.append(time.monotonic() - began)
            orphans += sum(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in known)
    finally:
        served.stop()
    return {"orphans": orphans, "rounds": ROUNDS, "restart_seconds": restarts}


def rebinding(folder: Path) -> dict[str, Any]:
    """What a page of another name, and a page of another origin, may do with a service without keys."""
    succeeded, attempts = [], 0
    with service(folder, keys=[]) as (address, _):
        port = address.rsplit(":", 1)[1]
        names = [
            "rebound.example",
            f"rebound.example:{port}",
            f"127.0.0.1.rebound.example:{port}",
            "0.0.0.0",
            "[::2]",
            "",
        ]
        names += [f"localhost.rebound.example:{port}", "127.0.0.1@rebound.example", "rebound.example#127.0.0.1", "null"]
        origins = [
            "https://rebound.example",
            "null",
            "http://127.0.0.1:1",
            "http://localhost.rebound.example",
            "file://",
        ]
        with httpx.Client(base_url=address, timeout=30) as asking:
            schema = asking.get("/openapi.json").json()
            routes = [(method, path) for path, methods in schema["paths"].items() for method in methods]
            changing = [path for method, path in routes if method == "post"]
            tries: list[tuple[str, str, dict[str, str]]] = [
                (method, path, {"Host": name}) for method, path in [*routes, ("get", "/")] for name in names
            ]
            tries += [("post", path, {"Origin": origin}) for path in changing for origin in origins]
            tries += [
                ("post", path, {"Sec-Fetch-Site": site}) for path in changing for site in ("cross-site", "same-site")
            ]
            for method, path, headers in tries:
                attempts += 1
                body = {"intents": ["price"]} if path.endswith("/remove") else {}
                answer = asking.request(method, path, json=body if method == "post" else None, headers=headers)
                if answer.status_code != 403:
                    succeeded.append(f"{method} {path} {headers}: {answer.status_code}")
            redirects = [asking.get(f"{path}/").headers.get("location") for _, path in routes]
            intents = asking.get("/v1/intents").json()["intents"]
    succeeded += [f"redirect to {location}" for location in redirects if location]
    if "price" not in [each["intent"] for each in intents]:
        succeeded.append("an intent was deleted")
    return {"attempts": attempts, "succeeded": succeeded}


def rolling_restart(folder: Path) -> dict[str, Any]:
    """Replace all workers several times under load, over kept and new connections."""
    statuses: Counter[str] = Counter()
    stop = threading.Event()
    lock = threading.Lock()

    def ask(address: str, number: int) -> None:
        with client(address) as asking:
            while not stop.is_set():
                method, path, body = READS[number % 4]
                headers = {"Connection": "close"} if number % 2 else {}
                try:
                    status = str(asking.request(method, path, json=body, headers=headers).status_code)
                except httpx.TransportError as error:
                    status = type(error).__name__
                with lock:
                    statuses[status] += 1
                time.sleep(0.02 * (number % 3))

    with service(folder, workers=2) as (address, parent), ThreadPoolExecutor(8) as pool:
        for number in range(8):
            pool.submit(ask, address, number)
        time.sleep(2)
        replaced = 0
        for _ in range(ROUNDS):
            before = {worker.pid for worker in workers(parent)}
            parent.send_signal(signal.SIGHUP)
            deadline = time.monotonic() + 3_600
            while before & {worker.pid for worker in workers(parent)} and time.monotonic() < deadline:
                time.sleep(0.2)
            replaced += len(before - {worker.pid for worker in workers(parent)})
        stop.set()
    refused = sum(count for status, count in statuses.items() if status not in ("200", "429"))
    return {"statuses": dict(statuses), "failed": refused, "workers_replaced": replaced}


def figures_of(name: str, found: dict[str, Any]) -> dict[str, float]:
    if name == "disk":
        kinds = found.values()
        return {f"full_disk_{what}": sum(each[what] for each in kinds) for what in ("reads_failed", "worker_deaths")}
    if name == "parent":
        return {"parent_kill_orphans": found["orphans"]}
    if name == "browser":
        return {"rebinding_succeeded": len(found["succeeded"])}
    return {"rolling_restart_failed_requests": found["failed"]}


def main() -> None:
    parser = arguments()
    parser.add_argument("--only", action="append", choices=["disk", "parent", "browser", "restart"])
    given = parser.parse_args()
    prepare(given.work, given.model, None)

    def disk(folder: Path) -> dict[str, Any]:
        return {kind: full_disk(folder, kind) for kind in ("ext4", "tmpfs")}

    parts: dict[str, Callable[[Path], dict[str, Any]]] = {
        "disk": disk,
        "parent": parent_kills,
        "browser": rebinding,
        "restart": rolling_restart,
    }
    for name in given.only or parts:
        found = parts[name](given.work)
        print(name, json.dumps(found), flush=True)
        if given.dry:
            continue
        save(f"faults_{name}", found)
        record("service", figures_of(name, found))


if __name__ == "__main__":
    main()
