"""Does uvicorn's own supervision of workers pass the tests that kill? Four questions to a tiny app, in about a minute.

Usage: python -m studies.service.supervision
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from studies.service.lab import free_port, save, wait_ready

APP = """
import os, pathlib

if pathlib.Path(__file__).with_name("broken").exists():
    raise SystemExit(3)

async def app(scope, receive, send):
    if scope["type"] != "http":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    body = str(os.getpid()).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})
"""
WORKERS = 2


def start(folder: Path, port: int) -> tuple[psutil.Process, list[psutil.Process]]:
    command = [sys.executable, "-m", "uvicorn", "--workers", str(WORKERS), "--port", str(port), "answer:app"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_ready(f"http://127.0.0.1:{port}", 120, "/")
    time.sleep(5)  # Until the other worker serves as well.
    parent = psutil.Process(process.pid)
    return parent, [child for child in parent.children() if "spawn_main" in " ".join(child.cmdline())]


def end(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()


def serves(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/", timeout=2).status_code == 200
    except httpx.TransportError:
        return False


def orphans(folder: Path) -> int:
    """How many workers live on after their parent was killed."""
    parent, workers = start(folder, free_port())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(10)
    time.sleep(5)
    alive = [worker for worker in workers if worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE]
    end(workers)
    return len(alive)


def serves_when_a_successor_cannot_start(folder: Path) -> bool:
    """One worker dies, its successor cannot start; does the other go on?"""
    port = free_port()
    parent, workers = start(folder, port)
    (folder / "broken").touch()
    os.kill(workers[0].pid, signal.SIGKILL)
    time.sleep(15)
    goes_on = serves(port)
    end([parent, *workers])
    (folder / "broken").unlink()
    return goes_on


def connections_by_worker(folder: Path) -> list[int]:
    """Of 32 connections opened at once, how many each worker got."""
    port = free_port()
    parent, workers = start(folder, port)
    clients = [httpx.Client() for _ in range(32)]
    answers = [client.get(f"http://127.0.0.1:{port}/").text for client in clients]
    for client in clients:
        client.close()
    end([parent, *workers])
    return sorted(answers.count(pid) for pid in set(answers))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "answer.py").write_text(APP)
        answers = {
            "orphans_after_kill_of_parent": orphans(folder),
            "serves_when_a_successor_cannot_start": serves_when_a_successor_cannot_start(folder),
            "connections_by_worker": connections_by_worker(folder),
        }
    print(json.dumps(answers, indent=2))
    save("uvicorn_supervision", answers)


if __name__ == "__main__":
    main()
