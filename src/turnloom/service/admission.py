"""One admission control for all routes: can a request be answered in time, and whose turn is it?

Decided on the event loop, before any thread and before the body is read: from the time that requests of each route took
lately follows how long a new one would wait. One that would wait too long is refused at once.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from math import ceil
from typing import Any, Protocol, TypeVar

from turnloom.service.config import Limits
from turnloom.service.errors import FullError, RefusedError
from turnloom.service.fairness import FairQueue

SLOTS, RESERVED = 24, 6
"""How many requests run at the same time, and how many of these one key leaves to other keys."""
THREADS = 8
"""How many of them compute outside the event loop. More would only compete with it for Python's lock."""
NICENESS = 5
"""How much less than the event loop a thread gets that computes, when both want the same core."""
FIRST_GUESS, LEARNING_RATE, LARGEST_STEP = 1e-5, 0.1, 4.0
"""The seconds that a byte costs before any request was measured, and the weight of each measurement. A measurement
counts at most as this many times what is known: the first requests of a process are much slower than all others."""
BYTES_OF_A_REQUEST = 512
"""A request costs about this many bytes more than its body."""
PATIENCE = 3.0
"""A request may wait this many times as long as it takes itself, so that a client may send several large ones."""
SLACK = 1.5
"""An admitted request waits until its prediction was this wrong. Predictions are right on the mean only, and where they
are close to the limit, half of the requests would be refused after all, when they have waited already."""
LONGEST_RETRY = 60
CLOSED_SECONDS = 1.0
"""After a route has said that it is full, all requests to it are refused on their headers for this long."""
Result = TypeVar("Result")


class OverloadedError(RefusedError):
    """A request would wait too long; there should be room after some seconds."""

    def __init__(self, seconds: float) -> None:
        self.retry_after = max(1, min(LONGEST_RETRY, ceil(seconds)))
        super().__init__(429, "overloaded", "Too much waits already; try again.", retry_after=self.retry_after)


class AdmissionObserver(Protocol):
    """Records what waits."""

    def waiting_for_slots(self, requests: int) -> None:
        """The number of waiting requests changed."""
        ...


class Work:
    """A request in progress: whose it is, what it should cost, and what to drop if nobody waits for it any more."""

    def __init__(self, admission: Admission, key: str, route: str, size: int, deadline: float) -> None:
        self.key, self.route, self.deadline = key, route, deadline
        self.turn: asyncio.Future[None] | None = None
        self.began: float | None = None
        self.tokens = self.checked_units = 0
        self.take_tokens: Callable[[float], float] = lambda _: 0.0  # Until the guard knows the key's quota
        self._admission = admission
        self.resize(size)
        self._users = 1
        self._abandoned = False
        self._jobs: list[Future[Any]] = []

    def resize(self, size: int) -> None:
        """Estimate the cost of this many bytes."""
        self.units = size + BYTES_OF_A_REQUEST
        self.seconds = self._admission.expected_seconds(self.route, self.units)

    def own(self, job: Future[Any]) -> None:
        """Cancel a job together with this request."""
        self._jobs.append(job)
        if self._abandoned:
            job.cancel()

    def abandon(self) -> None:
        """Cancel all jobs; what computes already is finished."""
        self._abandoned = True
        for job in list(self._jobs):
            job.cancel()

    async def run(self, call: Callable[..., Result], *arguments: Any) -> Result:
        """Run blocking work in a thread. The request's slot is free again when the thread is."""
        loop = asyncio.get_running_loop()
        self._users += 1
        future = self._admission.threads.submit(contextvars.copy_context().run, call, *arguments)
        future.add_done_callback(lambda _: _on_loop(loop, self.release))
        return await asyncio.wrap_future(future)

    def close_route(self, full: FullError) -> None:
        """Refuse what comes to this route by the same key, for a moment."""
        self._admission.close_route(self, full)

    def release(self) -> None:
        """End the use of the slot by the request, or by a thread of it."""
        self._users -= 1
        if not self._users:
            self._admission.leave(self)


_current: contextvars.ContextVar[Work | None] = contextvars.ContextVar("work", default=None)


def current_work() -> Work | None:
    """Return the request that this code runs for; None for work of the service's own."""
    return _current.get()


class Admission:
    """Admits requests to a number of slots.

    Args:
        limits: How long a request may wait.
        fair: Whether there are several keys, so that each leaves slots to the others.
        observer: Records what waits.
    """

    def __init__(self, limits: Limits, observer: AdmissionObserver, *, fair: bool) -> None:
        self.threads = ThreadPoolExecutor(THREADS, "request", initializer=yield_to_the_event_loop)
        self._limits, self._observer = limits, observer
        self._most = SLOTS - RESERVED if fair else SLOTS
        self._seconds_per_unit: dict[str, float] = {}
        self._queue: FairQueue[Work] = FairQueue()
        self._expected: defaultdict[str, float] = defaultdict(float)  # Seconds of work by key, waiting and running
        self._running: Counter[str] = Counter()
        self._share = 0.0  # Seconds that each running request has had, if all get the same share
        self._since = time.monotonic()
        self._closed: dict[tuple[str, str], tuple[float, FullError]] = {}

    def expected_seconds(self, route: str, units: int) -> float:
        """Estimate how long a request keeps the service busy."""
        return self._seconds_per_unit.get(route, FIRST_GUESS) * units

    def check(self, work: Work) -> None:
        """Refuse a request that would wait too long, or to a route that is full.

        Raises:
            OverloadedError: If it would wait too long.
            FullError: If the route is full.
        """
        until, full = self._closed.get((work.key, work.route), (0.0, None))
        if full is not None and time.monotonic() < until:
            raise full
        patience = self._patience(work)
        wait = self._expected_wait(work.key)
        if wait > patience:
            raise OverloadedError(wait - patience)
        work.checked_units = work.units

    def _patience(self, work: Work, slack: float = 1.0) -> float:
        """Return the seconds that a request may wait: if its deadline is near, until it can just be done by then."""
        latest = work.deadline - time.monotonic() - work.seconds
        return max(0.0, min(slack * max(self._limits.wait_seconds, PATIENCE * work.seconds), latest))

    def _expected_wait(self, key: str) -> float:
        """Estimate when a new request's turn comes: after all others, or after its key's own in each round of turns."""
        own = self._expected.get(key, 0.0)
        others = len(self._expected) - (key in self._expected)
        return min(sum(self._expected.values()), (1 + others) * own)

    async def enter(self, work: Work) -> None:
        """Wait for a slot, and make this the current work.

        What was checked by its headers is not refused by its body: of many requests that arrive together most would be
        read for nothing.

        Raises:
            OverloadedError: If it would wait too long, or has.
        """
        if work.units > work.checked_units:
            self.check(work)
        self._expected[work.key] += work.seconds
        loop = asyncio.get_running_loop()
        work.turn = loop.create_future()
        self._queue.push(work.key, work)
        self._fill_slots()
        give_up = loop.call_later(self._patience(work, SLACK), self._give_up, work)
        try:
            await work.turn
        except BaseException:
            if work.began is not None:  # Its turn came at the moment when its client left.
                work.release()
            elif self._queue.remove(work.key, work):
                self._forget(work)
                self._observer.waiting_for_slots(len(self._queue))
            raise
        finally:
            give_up.cancel()
        _current.set(work)

    def _give_up(self, work: Work) -> None:
        if work.turn is not None and not work.turn.done():
            self._queue.remove(work.key, work)
            self._forget(work)
            self._observer.waiting_for_slots(len(self._queue))
            work.turn.set_exception(OverloadedError(self._expected_wait(work.key)))

    def _forget(self, work: Work) -> None:
        self._expected[work.key] -= work.seconds
        if self._expected[work.key] < 1e-9:
            del self._expected[work.key]

    def _fill_slots(self) -> None:
        while self._running.total() < SLOTS:
            work = self._queue.pop(lambda work: self._running[work.key] < self._most)
            if work is None:
                break
            self._update_share()
            self._queue.charge(work.key, work.seconds)
            self._running[work.key] += 1
            work.began = self._share
            if work.turn is not None and not work.turn.done():
                work.turn.set_result(None)
        self._observer.waiting_for_slots(len(self._queue))

    def _update_share(self) -> None:
        now, running = time.monotonic(), self._running.total()
        self._share += (now - self._since) / running if running else 0.0
        self._since = now

    def leave(self, work: Work) -> None:
        """Free a slot, and learn from how long the request took."""
        self._update_share()
        known = self._seconds_per_unit.get(work.route, FIRST_GUESS)
        spent = min((self._share - (work.began or 0.0)) / work.units, LARGEST_STEP * known)
        self._seconds_per_unit[work.route] = known + LEARNING_RATE * (spent - known)
        self._running[work.key] -= 1
        self._forget(work)
        self._fill_slots()

    def close_route(self, work: Work, full: FullError) -> None:
        """Refuse what comes to a request's route by the same key, for a moment: reading costs as much as adding."""
        self._closed[work.key, work.route] = (time.monotonic() + CLOSED_SECONDS, full)

    def shut_down(self) -> None:
        """End the threads once their work is done."""
        self.threads.shutdown(wait=False, cancel_futures=True)


def yield_to_the_event_loop() -> None:
    """Lower the priority of this thread, which computes: the event loop must read and refuse whatever is computed."""
    if sys.platform == "linux":  # Elsewhere all threads of a process share one priority.
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)


def _on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:  # The service has stopped meanwhile.
        return
