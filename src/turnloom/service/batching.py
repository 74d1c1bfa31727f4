"""Batch the texts of many requests into one model run: one fair queue and one thread per model.

A batch starts when enough tokens are queued or the oldest request has waited long enough. A request larger than a batch
is split, and other requests run in between: first those of keys that were given less. Cancelled requests are not
computed. How much may wait is the admission's to decide.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from turnloom.service.admission import current_work, yield_to_the_event_loop
from turnloom.service.config import Batching
from turnloom.service.fairness import FairQueue

Run = Callable[[str, list[Any]], Sequence[Any]]
"""Takes the name of a computation and its items, and returns one result per item."""

BACKGROUND = "(background)"
"""The key of the service's own work."""
BATCH_SECONDS, SMALLEST_BATCH = 0.1, 512
"""A batch holds no more tokens than are computed in this time, but at least so many: others wait until it is done."""

MOST_LONGER = 4
"""Texts of other keys share a batch if they are at most this many times as long as those it began with: short texts
would be padded to their length, and wait until they are computed."""


class BatchObserver(Protocol):
    """Records what a batcher does."""

    def batch(self, model: str, items: int, tokens: int, seconds: float) -> None:
        """A batch was computed."""
        ...

    def queued(self, model: str, tokens: int) -> None:
        """The number of tokens in the queue changed."""
        ...

    def dropped(self, model: str, reason: str) -> None:
        """A request left before it was computed ("cancelled")."""
        ...


@dataclass(eq=False)
class _Job:
    key: str
    work: str
    items: list[Any]
    sizes: list[int]
    arrived: float
    future: Future[list[Any]] = field(default_factory=Future)
    results: list[Any] = field(default_factory=list)
    taken: int = 0

    @property
    def left(self) -> int:
        return sum(self.sizes[self.taken :])


class Batcher:
    """The batching queue in front of a model.

    Args:
        name: The model's name, for metrics.
        run: Computes a batch; only called in the batcher's own thread.
        options: The batch size, and how long to wait.
        observer: Records batches and the queue.
    """

    def __init__(self, name: str, run: Run, options: Batching, observer: BatchObserver) -> None:
        self.name = name
        self._run, self._options, self._observer = run, options, observer
        self._jobs: FairQueue[_Job] = FairQueue()
        self._tokens = 0
        self._tokens_per_second = 0.0
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._loop, name=f"batcher-{name}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether its thread is running."""
        return self._thread.is_alive()

    def submit(self, work: str, items: Sequence[Any], sizes: Sequence[int]) -> Future[list[Any]]:
        """Queue items with their token counts; the future resolves to one result per item.

        Only items of the same computation share a batch. Cancel the future to remove the job from the queue; it is
        cancelled with the request that submits it.
        """
        request = current_work()
        job = _Job(request.key if request else BACKGROUND, work, list(items), list(sizes), time.monotonic())
        if not job.items:
            job.future.set_result([])
            return job.future
        with self._changed:
            if self._closed:
                raise RuntimeError("the batcher is closed")
            self._jobs.push(job.key, job)
            self._count(job.left)
            self._changed.notify()
        job.future.add_done_callback(lambda _: self._forget(job))
        if request is not None:
            request.own(job.future)
        return job.future

    def close(self) -> None:
        """Compute what is queued, and accept no more."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _count(self, tokens: int) -> None:
        self._tokens += tokens
        self._observer.queued(self.name, self._tokens)

    def _forget(self, job: _Job) -> None:
        """Remove a cancelled job from the queue."""
        if job.future.cancelled():
            self._drop(job)
            self._observer.dropped(self.name, "cancelled")

    def _drop(self, job: _Job) -> None:
        with self._changed:
            if self._jobs.remove(job.key, job):
                self._count(-job.left)

    def _loop(self) -> None:
        yield_to_the_event_loop()
        while True:
            with self._changed:
                while not self._jobs and not self._closed:
                    self._changed.wait()
                if not self._jobs:
                    return
                self._wait_for_company()
                batch = self._take()
            if batch:
                self._compute(batch)

    def _wait_for_company(self) -> None:
        """Wait until a batch is full or the oldest job has waited long enough."""
        while self._jobs and not self._closed and self._tokens < self._room():
            oldest = min(job.arrived for job in self._jobs)
            left = oldest + self._options.max_wait_ms / 1000 - time.monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def _room(self) -> int:
        """Return how many tokens the next batch may hold."""
        soon = int(BATCH_SECONDS * self._tokens_per_second) or self._options.max_batch_tokens
        return min(self._options.max_batch_tokens, max(SMALLEST_BATCH, soon))

    def _take(self) -> list[tuple[_Job, int, int]]:
        """Take as many items of the next job's computation as fit, splitting a job that does not fit."""
        room = self._room()
        batch: list[tuple[_Job, int, int]] = []
        split: list[_Job] = []
        longest = 0

        def joins(job: _Job) -> bool:
            if not batch:
                return True
            first = batch[0][0]
            return job.work == first.work and (job.key == first.key or job.sizes[job.taken] <= MOST_LONGER * longest)

        while room > 0 and (job := self._jobs.pop(joins)) is not None:
            start = stop = job.taken
            # The first item always fits, even if it is larger than a batch.
            while stop < len(job.items) and (job.sizes[stop] <= room or not (batch or stop > start)):
                room -= job.sizes[stop]
                stop += 1
            if stop > start:
                batch.append((job, start, stop))
                job.taken = stop
                taken = sum(job.sizes[start:stop])
                longest = max(longest, *job.sizes[start:stop])
                self._jobs.charge(job.key, taken)
                self._count(-taken)
            if stop < len(job.items):
                split.append(job)
        for job in split:  # The rest waits behind the others, which run in between.
            self._jobs.push(job.key, job)
        return batch

    def _compute(self, batch: list[tuple[_Job, int, int]]) -> None:
        items = [item for job, start, stop in batch for item in job.items[start:stop]]
        tokens = sum(sum(job.sizes[start:stop]) for job, start, stop in batch)
        began = time.monotonic()
        try:
            results = list(self._run(batch[0][0].work, items))
        except Exception as error:
            self._fail(batch, error)
            return
        seconds = time.monotonic() - began
        rate = tokens / max(seconds, 1e-6)
        self._tokens_per_second = rate if not self._tokens_per_second else 0.8 * self._tokens_per_second + 0.2 * rate
        self._observer.batch(self.name, len(items), tokens, seconds)
        rest = iter(results)
        for job, start, stop in batch:
            job.results += itertools.islice(rest, stop - start)
            if len(job.results) == len(job.items) and job.future.set_running_or_notify_cancel():
                job.future.set_result(job.results)

    def _fail(self, batch: list[tuple[_Job, int, int]], error: Exception) -> None:
        """Compute each request again alone, so that one request's text cannot fail another's."""
        if len(batch) > 1:
            for segment in batch:
                self._compute([segment])
            return
        job = batch[0][0]
        self._drop(job)
        if job.future.set_running_or_notify_cancel():
            job.future.set_exception(error)
