"""What Prometheus is told; with several worker processes, the sum of all."""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ["Metrics"]

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """The measurements of one service."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "turnloom_requests", "Answered requests.", ["route", "method", "status"], registry=registry
        )
        self.seconds = Histogram(
            "turnloom_request_seconds", "Time to answer.", ["route"], buckets=SECONDS, registry=registry
        )
        self.tokens = Counter("turnloom_tokens", "Tokens computed.", ["model"], registry=registry)
        self.batches = Histogram("turnloom_batch_items", "Items a batch.", ["model"], buckets=SIZES, registry=registry)
        self.batch_seconds = Histogram(
            "turnloom_batch_seconds", "Time to compute a batch.", ["model"], buckets=SECONDS, registry=registry
        )
        self.waiting = Gauge(
            "turnloom_queue_tokens", "Tokens that wait.", ["model"], registry=registry, multiprocess_mode="livesum"
        )
        self.drops = Counter(
            "turnloom_dropped_jobs", "Refused or left before computed.", ["model", "reason"], registry=registry
        )
        self.refused = Counter("turnloom_refused_requests", "Refused requests.", ["code"], registry=registry)

    def batch(self, model: str, items: int, tokens: int, seconds: float) -> None:
        """A batch was computed."""
        self.batches.labels(model).observe(items)
        self.batch_seconds.labels(model).observe(seconds)
        self.tokens.labels(model).inc(tokens)

    def queued(self, model: str, tokens: int) -> None:
        """So many tokens wait."""
        self.waiting.labels(model).set(tokens)

    def dropped(self, model: str, reason: str) -> None:
        """A request was refused, or left before it was computed."""
        self.drops.labels(model, reason).inc()

    def text(self) -> bytes:
        """All of it in Prometheus' format."""
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            from prometheus_client.multiprocess import MultiProcessCollector

            _forget_the_dead(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]))
            shared = CollectorRegistry()
            MultiProcessCollector(shared)
            return generate_latest(shared)
        return generate_latest(self._registry)


def _forget_the_dead(folder: Path) -> None:
    """What a killed worker had in its queue is in no queue any more."""
    for path in folder.glob("gauge_live*.db"):
        if _is_gone(int(path.stem.rsplit("_", 1)[1])):
            path.unlink(missing_ok=True)


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)  # Asks only.
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False
