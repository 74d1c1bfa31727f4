"""The process that forks the workers is killed, and a worker is started before the system says that it has ended."""

from __future__ import annotations

import os
import signal
import socket
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
