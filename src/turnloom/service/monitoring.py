"""Logs as JSON, one line per event and without user text, and metrics for Prometheus."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.registry import Collector
from starlette.datastructures import Headers

from turnloom.errors import TurnloomError
from turnloom.service.config import KeyEntry
from turnloom.service.metric_files import FOLDER, is_running, reserve

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
METHODS = ("GET", "POST", "DELETE", "OPTIONS")
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
REQUEST_ID: ContextVar[str] = ContextVar("request_id")
"""The request that this code runs for, in threads of the request too."""
_log = logging.getLogger("turnloom.service")
_USUAL = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime", "color_message"}


class JsonFormatter(logging.Formatter):
    """Formats a record and its `extra` as one JSON line; of an exception, its class and location, not its message."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        if request_id := REQUEST_ID.get(""):
            entry["request_id"] = request_id
        entry |= {name: value for name, value in record.__dict__.items() if name not in _USUAL and name[0] != "_"}
        if record.exc_info and record.exc_info[1] is not None:
            entry["trace"] = trace_of(record.exc_info[1])
        return orjson.dumps(entry, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def trace_of(error: BaseException) -> list[str]:
    """Return an exception's class and stack lines. Its message could contain user text."""
    lines, frame = [], error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        lines.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno} {code.co_name}")
        frame = frame.tb_next
    return [type(error).__name__, *lines[-12:]]


def cause_of(error: BaseException) -> dict[str, Any]:
    """Return what to log of an exception: of one that the operator can fix, what it says; of others, the stack."""
    if isinstance(error, TurnloomError):
        return {"problem": error.problem, "fix": error.fix}
    if isinstance(error, OSError) and error.strerror:
        return {"problem": error.strerror, "trace": trace_of(error)[:1]}
    return {"trace": trace_of(error)}


def _is_no_stack(record: logging.LogRecord) -> bool:
    """Keep back the stack that uvicorn prints when the app does not start; the app has logged why."""
    return not record.getMessage().startswith("Traceback")


def _json_handler() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    return handler


def log_all_as_json() -> None:
    """Also make JSON of what Python and libraries log, warn of or raise in threads; only for processes of our own.

    Workers call it when `supervisor.PRELOADED` has been imported, since transformers then has its own handler already.
    """
    handler = _json_handler()
    for name in ("", "transformers", "huggingface_hub"):
        logging.getLogger(name).handlers = [handler]
    for name in ("transformers", "huggingface_hub"):
        logging.getLogger(name).propagate = False
    logging.captureWarnings(capture=True)
    threading.excepthook = lambda failed: _log.error(
        "thread failed", extra={"of_thread": failed.thread and failed.thread.name, **_cause(failed.exc_value)}
    )


def _cause(error: BaseException | None) -> dict[str, Any]:
    return cause_of(error) if error is not None else {}


def set_up_logs(level: str) -> None:
    """Send the logs of the service and of uvicorn to standard error as JSON."""
    handler = _json_handler()
    for name in ("turnloom.service", "turnloom.journal", "opentelemetry", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.setLevel(level.upper())
        logger.propagate = name == "uvicorn.error"
    logging.getLogger("opentelemetry").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").filters = [_is_no_stack]
    # The service itself logs each request once, with its id.
    logging.getLogger("uvicorn.access").handlers = []
    logging.getLogger("uvicorn.access").propagate = False


@dataclass(frozen=True)
class AnsweredRequest:
    """A request that has been answered.

    Attributes:
        headers: Its headers, with a `traceparent` if the client traces, too.
        request_id: Its id in logs.
        route: The path of its route; "none" for others.
        method: The HTTP method.
        status: The status of the answer.
        key: The key that it came with.
        seconds: From its headers to the end of the answer.
        steps: What was done in this time: a name, and the seconds since its headers at the end of the step.
    """

    headers: Headers
    request_id: str
    route: str
    method: str
    status: int
    key: KeyEntry | None
    seconds: float
    steps: Sequence[tuple[str, float]] = ()

    @property
    def attributes(self) -> dict[str, str | int]:
        """What a span says of it, by OpenTelemetry's names where it has some."""
        said: dict[str, str | int] = {
            "http.request.method": self.method if self.method in METHODS else "_OTHER",
            "http.route": self.route,
            "http.response.status_code": self.status,
            "turnloom.request_id": self.request_id,
        }
        if self.key is not None:
            said["turnloom.key"] = self.key.name
            said |= {"turnloom.tenant": self.key.tenant} if self.key.tenant else {}
        return said


class Metrics:
    """The metrics of one service, summed over all worker processes.

    What requests did is counted per tenant. Models are shared, so what they do is not.

    Args:
        tenants: The number of tenants.
    """

    traces = False
    """Whether requests are to be traced."""

    def __init__(self, tenants: int = 0) -> None:
        self._together = reserve(tenants)
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "turnloom_requests", "Answered requests.", ["route", "method", "status", "tenant"], registry=registry
        )
        self.seconds = Histogram(
            "turnloom_request_seconds", "Time to answer.", ["route", "tenant"], buckets=SECONDS, registry=registry
        )
        self.tokens = Counter("turnloom_tokens", "Tokens computed.", ["model"], registry=registry)
        self.batches = Histogram("turnloom_batch_items", "Items a batch.", ["model"], buckets=SIZES, registry=registry)
        self.batch_seconds = Histogram(
            "turnloom_batch_seconds", "Time to compute a batch.", ["model"], buckets=SECONDS, registry=registry
        )
        self.waiting = Gauge(
            "turnloom_queue_tokens", "Tokens that wait.", ["model"], registry=registry, multiprocess_mode="livesum"
        )
        self.drops = Counter("turnloom_dropped_jobs", "Left before computed.", ["model", "reason"], registry=registry)
        self.waiting_requests = Gauge(
            "turnloom_waiting_requests",
            "Requests that wait for a slot.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.stale = Gauge(
            "turnloom_failed_reloads",
            "Workers that keep what was loaded before, because the last reload or SIGHUP failed.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.refused = Counter("turnloom_refused_requests", "Refused requests.", ["code", "tenant"], registry=registry)
        self._of = lru_cache(maxsize=1024)(self._metrics_of)

    def _metrics_of(self, route: str, method: str, status: str, tenant: str) -> tuple[Counter, Histogram]:
        """Return the metrics of an answer; to find them takes longer than to count."""
        return self.requests.labels(route, method, status, tenant), self.seconds.labels(route, tenant)

    def trace(self, request: AnsweredRequest) -> str:
        """Trace a request that was answered; return the id of its trace."""
        raise NotImplementedError

    def close(self) -> None:
        """Finish what sends traces or metrics elsewhere, if anything does."""

    def answered(self, route: str, method: str, status: int, seconds: float, tenant: str) -> None:
        """A request was answered."""
        known = method if method in METHODS else "other"
        requests, times = self._of(route, known, str(status), tenant)
        requests.inc()
        times.observe(seconds)

    def batch(self, model: str, items: int, tokens: int, seconds: float) -> None:
        """A batch was computed."""
        self.batches.labels(model).observe(items)
        self.batch_seconds.labels(model).observe(seconds)
        self.tokens.labels(model).inc(tokens)

    def queued(self, model: str, tokens: int) -> None:
        """The number of queued tokens changed."""
        self.waiting.labels(model).set(tokens)

    def refuse(self, code: str, tenant: str) -> None:
        """A request was refused."""
        self.refused.labels(code, tenant).inc()

    def dropped(self, model: str, reason: str) -> None:
        """A request left before it was computed."""
        self.drops.labels(model, reason).inc()

    def waiting_for_slots(self, requests: int) -> None:
        """The number of requests that wait for a slot changed."""
        self.waiting_requests.set(requests)

    def reloaded(self, *, failed: bool) -> None:
        """Resources were loaded again, or this worker was to be replaced."""
        self.stale.set(int(failed))

    def text(self, tenant: str = "") -> bytes:
        """Return the metrics of a tenant in Prometheus' format; without one, all metrics."""
        counted = self._registry
        if self._together:
            from prometheus_client.multiprocess import MultiProcessCollector

            _forget_the_dead(Path(os.environ[FOLDER]))
            counted = CollectorRegistry()
            MultiProcessCollector(counted)
        if tenant:
            everything, counted = counted, CollectorRegistry()
            counted.register(_OfTenant(everything, tenant))
        return generate_latest(counted)


@dataclass(frozen=True)
class _OfTenant(Collector):
    """Those metrics that count one tenant's requests."""

    everything: CollectorRegistry
    tenant: str

    def collect(self) -> Iterator[Metric]:
        for metric in self.everything.collect():
            metric.samples = [sample for sample in metric.samples if sample.labels.get("tenant") == self.tenant]
            if metric.samples:
                yield metric


def _forget_the_dead(folder: Path) -> None:
    """Remove the gauges of killed workers, whose queues are gone."""
    for path in folder.glob("gauge_live*.db"):
        if not is_running(int(path.stem.rsplit("_", 1)[1])):
            path.unlink(missing_ok=True)
