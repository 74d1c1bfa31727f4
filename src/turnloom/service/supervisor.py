"""Worker processes that share one port; a worker that dies is replaced at once.

uvicorn's own supervisor does not pass the tests that kill (`studies/service/supervision.py`): its workers live on when
it is killed, a successor that cannot start ends all others, and workers that accept from one socket share connections
unevenly. Here, workers are forks of a process that has imported everything and loaded nothing, each accepts from a
socket of its own, and the exit of any worker wakes the supervisor.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType

from turnloom.errors import TurnloomError

PRELOADED: tuple[str, ...] = (
    "turnloom.service.app",
    "sklearn.linear_model",
    "transformers.models.auto.tokenization_auto",
    "onnxruntime",
    "lance_namespace",  # Most of LanceDB's import time.
    "turnloom.corpus.privacy.patterns",  # Compiled for the first addition, they would keep it waiting for seconds.
)
"""Modules that are slow to import and start no threads, which would not survive a fork. Missing ones are skipped."""
FAILED_TO_START = 3
"""The exit code of a worker that cannot load its models; the same as uvicorn's."""
LEAST_LIFE, PAUSE = 5.0, 1.0
"""In seconds. A worker with a shorter life is replaced after a pause, or a fault would start processes endlessly."""
LOOK_FOR_PARENT = 0.5
REFUSED = "refused-renewal"
"""A file in the folder of the state; its time says when workers were last to be replaced, and kept instead."""
_log = logging.getLogger("turnloom.service")
Work = Callable[[socket.socket, Connection], None]
PAUSES = (0.05, 0.2, 1.0, 5.0, 5.0)
"""In seconds. What a killed process has open is closed before the system says that it has ended."""


def end_with_parent() -> None:
    """End this worker as soon as its supervisor is gone, however that ended: a restart finds the port free.

    What was acknowledged is on disk already.
    """
    supervisor, server = multiprocessing.parent_process(), os.getppid()
    if supervisor is None:
        return

    def watch() -> None:
        while supervisor.is_alive() and os.getppid() == server:  # The latter forks workers.
            supervisor.join(LOOK_FOR_PARENT)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    listening: socket.socket
    ready: Connection
    began: float = field(default_factory=time.monotonic)
    heard: bool = False
    serves: bool = False
    retired: bool = False

    def hear(self) -> None:
        """Wait until it serves or has exited."""
        try:
            self.ready.recv()
            self.serves = True
        except EOFError:
            pass
        self.heard = True


class Supervisor:
    """Keeps a number of workers running until it is asked to stop.

    Args:
        work: The body of a worker: a module-level function that sends a message once it serves.
        bind: Makes another socket on the port.
        count: How many workers should run.
        on_refusal: Called if workers are to be replaced and the first successor does not start.
    """

    def __init__(
        self, work: Work, bind: Callable[[], socket.socket], count: int, on_refusal: Callable[[], None] = lambda: None
    ) -> None:
        self._work, self._bind, self._count, self._on_refusal = work, bind, count, on_refusal
        # Otherwise each of dozens of threads keeps its own pool of freed memory (glibc), and bursts pile it up.
        os.environ.setdefault("MALLOC_ARENA_MAX", "2")
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(list(PRELOADED))
        self._workers: list[_Worker] = []
        self._wishes, self._wish = self._context.Pipe(duplex=False)
        self._served = self._stopping = False
        self._given_up = 0

    def run(self) -> int:
        """Run until all workers have exited; return the exit code."""
        handlers = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        handlers[signal.SIGHUP] = signal.signal(signal.SIGHUP, lambda *_: self._wish.send("renew"))
        try:
            self._fill_up()
            while self._workers:
                self._wait()
                self._fill_up()
            return 0 if self._served or self._stopping else FAILED_TO_START
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _fill_up(self) -> None:
        while not self._stopping and len(self._workers) < self._count - self._given_up:
            self._start(self._bind())

    def _start(self, listening: socket.socket) -> _Worker:
        ready, tell = self._context.Pipe(duplex=False)
        process = self._fork(listening, tell)
        tell.close()
        worker = _Worker(process, listening, ready)
        self._workers.append(worker)
        if self._stopping:  # The signal arrived during the start.
            process.terminate()
        return worker

    def _fork(self, listening: socket.socket, tell: Connection) -> BaseProcess:
        """Start a process; if the one that forks has just been killed, as soon as it is known to be gone."""
        for pause in PAUSES:
            process = self._context.Process(target=self._work, args=(listening, tell), name="turnloom-worker")
            try:
                process.start()
            except (EOFError, ConnectionError):
                time.sleep(pause)
            else:
                return process
        raise TurnloomError("worker processes cannot be started", "start the service again")

    def _wait(self) -> None:
        """Wait for the next event, and react."""
        exits = {worker.process.sentinel: worker for worker in self._workers}
        starts = {worker.ready: worker for worker in self._workers if not worker.heard}
        for woken in wait([*starts, *exits, self._wishes]):
            if woken is self._wishes:
                self._wishes.recv()
                self._renew()
            elif isinstance(woken, int):
                self._ended(exits[woken])
            elif (worker := starts[woken]) in self._workers:  # type: ignore[index]
                worker.hear()
                if worker.serves:  # What stopped the others may pass.
                    self._served, self._given_up = True, 0

    def _renew(self) -> None:
        """Replace workers one by one, each once its successor accepts from the same socket: no connection is lost."""
        for old in list(self._workers):
            successor = self._start(old.listening.dup())
            successor.hear()
            if self._stopping:
                return
            if not successor.serves:  # The old workers keep running.
                self._on_refusal()
                return
            old.retired = True
            old.process.terminate()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        """Forward the signal: each worker finishes what it has begun."""
        self._stopping = True
        for worker in list(self._workers):
            worker.process.terminate()

    def _ended(self, worker: _Worker) -> None:
        """Forget a worker that exited, and decide whether it will be replaced."""
        self._workers.remove(worker)
        process = worker.process
        process.join()
        worker.ready.close()
        worker.listening.close()  # Connections that wait are refused, and come again to the other workers.
        if worker.retired or self._stopping or len(self._workers) >= self._count:
            return
        if process.exitcode == FAILED_TO_START and not self._served:
            # At the first start, the fault is most likely the same for all, and has been reported. Later it may pass,
            # as when a model is being replaced.
            self._given_up += 1
            return
        _log.error("worker ended", extra={"pid": process.pid, "code": process.exitcode})
        time.sleep(PAUSE if time.monotonic() - worker.began < LEAST_LIFE else 0)
