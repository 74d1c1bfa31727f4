"""The process that forks the workers is killed, and a worker is started before the system says that it has ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from multiprocessing import forkserver
from multiprocessing.connection import Connection

import psutil
import pytest

from turnloom.service import supervisor
from turnloom.service.supervisor import Supervisor


def say_hello(_listening: socket.socket, tell: Connection) -> None:
    """What the worker does."""
    tell.send("hello")


def test_a_worker_starts_although_a_killed_process_seems_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "PRELOADED", ())
    with socket.create_server(("127.0.0.1", 0)) as listening:
        watching = Supervisor(say_hello, listening.dup, 1)
        first = watching._start(listening)
        assert first.ready.recv() == "hello"
        forking = psutil.Process(forkserver._forkserver._forkserver_pid)
        forking.send_signal(signal.SIGKILL)
        while forking.status() != psutil.STATUS_ZOMBIE:
            pass
        asked: list[int] = []
        look = os.waitpid

        def seems_to_run(pid: int, options: int) -> tuple[int, int]:
            asked.append(pid)
            return (0, 0) if len(asked) == 1 else look(pid, options)

        monkeypatch.setattr(os, "waitpid", seems_to_run)
        second = watching._start(listening)
        assert second.ready.recv() == "hello"
        assert len(asked) >= 2
        for worker in (first, second):
            worker.process.join()
            worker.ready.close()


@pytest.mark.nightly
def test_what_is_preloaded_exists_and_starts_no_thread() -> None:
    code = (
        "import importlib, threading\n"
        "from turnloom.service.supervisor import PRELOADED\n"
        "for name in PRELOADED: importlib.import_module(name)\n"
        "print(threading.active_count())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout.strip(), done.returncode) == ("1", 0), done.stderr[-2000:]
