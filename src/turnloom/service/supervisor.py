"""Worker processes that share one port; a worker that dies is replaced at once.

uvicorn's own supervisor starts each worker as a new interpreter, which imports everything again (seconds on a busy
machine), and pings its workers in turn: one that dies before it answers holds up all others until the time-out. Here,
workers are forks of a process that has imported everything and loaded nothing, and the exit of any worker wakes the
supervisor.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType

PRELOADED = (
    "turnloom.service.app",
    "sklearn.linear_model",
    "transformers.models.auto.tokenization_auto",
    "onnxruntime",
    "lance_namespace",  # Most of LanceDB's import time.
)
"""Modules that are slow to import and start no threads, which would not survive a fork. Missing ones are skipped."""
FAILED_TO_START = 3
"""The exit code of a worker that cannot load its models; the same as uvicorn's."""
LEAST_LIFE, PAUSE = 5.0, 1.0
"""In seconds. A worker with a shorter life is replaced after a pause, or a fault would start processes endlessly."""
_log = logging.getLogger("turnloom.service")
Work = Callable[[socket.socket, Connection], None]


@dataclass
class _Worker:
    process: BaseProcess
    ready: Connection
    first: bool
    began: float = field(default_factory=time.monotonic)
    retired: bool = False

    def serves(self) -> bool:
        """Wait until it serves or has exited."""
        try:
            self.ready.recv()
        except EOFError:
            return False
        return True


class Supervisor:
    """Keeps a number of workers running until it is asked to stop.

    `work` is the body of a worker: a module-level function that sends a message once it serves. `held` is the socket
    that holds the port.
    """

    def __init__(self, work: Work, held: socket.socket, count: int) -> None:
        self._work, self._held, self._count = work, held, count
        # Otherwise each of dozens of threads keeps its own pool of freed memory (glibc), and bursts pile it up.
        os.environ.setdefault("MALLOC_ARENA_MAX", "2")
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(list(PRELOADED))
        self._workers: dict[int, _Worker] = {}
        self._wishes, self._wish = self._context.Pipe(duplex=False)
        self._stopping = False

    def run(self) -> int:
        """Run until all workers have exited; return the exit code."""
        handlers = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        handlers[signal.SIGHUP] = signal.signal(signal.SIGHUP, lambda *_: self._wish.send("renew"))
        try:
            for _ in range(self._count):
                self._start(first=True)
            code = 0
            while self._workers:
                for woken in wait([*self._workers, self._wishes]):
                    if isinstance(woken, int):
                        code = max(code, self._ended(woken))
                    else:
                        self._wishes.recv()
                        self._renew()
            return code
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _start(self, *, first: bool = False) -> _Worker:
        ready, tell = self._context.Pipe(duplex=False)
        process = self._context.Process(target=self._work, args=(self._held, tell), name="turnloom-worker")
        process.start()
        tell.close()
        worker = self._workers[process.sentinel] = _Worker(process, ready, first)
        if self._stopping:  # The signal arrived during the start.
            process.terminate()
        return worker

    def _renew(self) -> None:
        """Replace workers one by one, each once its successor serves."""
        for old in list(self._workers.values()):
            if not self._start().serves() or self._stopping:  # The old workers keep running.
                return
            old.retired = True
            old.process.terminate()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        """Forward the signal: each worker finishes what it has begun."""
        self._stopping = True
        for worker in list(self._workers.values()):
            worker.process.terminate()

    def _ended(self, sentinel: int) -> int:
        """Replace a worker that exited, unless all should stop; return the exit code in that case."""
        worker = self._workers.pop(sentinel)
        process = worker.process
        process.join()
        worker.ready.close()
        if worker.retired or len(self._workers) >= self._count:
            return 0
        if process.exitcode == FAILED_TO_START and worker.first:
            # At the first start, the fault is the same for all and has been reported. Later it may pass, as when a
            # model is being replaced.
            self._stop(signal.SIGTERM, None)
            return FAILED_TO_START
        if not self._stopping:
            _log.error("worker ended", extra={"pid": process.pid, "code": process.exitcode})
            time.sleep(PAUSE if time.monotonic() - worker.began < LEAST_LIFE else 0)
        if not self._stopping:
            self._start()
        return 0
