"""Send traces and metrics by OpenTelemetry (OTLP over HTTP), if the configuration names where to.

A request's spans are made when it has been answered, from the times that the guard wrote down: nothing else in the
service knows of them, and without an endpoint nothing of OpenTelemetry is imported.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from turnloom import __version__
from turnloom.errors import TurnloomError
from turnloom.service.config import ServiceConfig, Telemetry
from turnloom.service.monitoring import METHODS, SECONDS, SIZES, AnsweredRequest, Metrics

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram, Meter

EXPORT_SECONDS = 5.0
"""What one attempt to send may take; the service never waits for it."""


def check_installed() -> None:
    """Check that the extra is installed, without importing it.

    Raises:
        TurnloomError: If it is not.
    """
    try:
        installed = find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        installed = False
    if not installed:
        raise TurnloomError("telemetry needs OpenTelemetry", "pip install 'turnloom[otel]'")


class Sender:
    """Sends spans and metrics from threads of its own. Without a listener they are dropped, and the log says so.

    Args:
        options: Where to. The standard variables `OTEL_*` set everything else.

    Raises:
        TurnloomError: If the extra is not installed.
    """

    def __init__(self, options: Telemetry) -> None:
        check_installed()
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        resource = _resource()
        base = options.endpoint.rstrip("/")
        spans = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=EXPORT_SECONDS)
        metrics = OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=EXPORT_SECONDS)
        # Not registered with `atexit`, which would wait for a listener that is gone: the app closes what it opened.
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracers.add_span_processor(BatchSpanProcessor(spans))
        reader = PeriodicExportingMetricReader(metrics)
        self._meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._tracer = self._tracers.get_tracer("turnloom", __version__)
        self.meter = self._meters.get_meter("turnloom", __version__)

    def trace(self, request: AnsweredRequest) -> str:
        """Make the spans of a request, in the client's trace if it has one; return the id of the trace."""
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        began = time.time_ns() - int(request.seconds * 1e9)

        def moment(seconds: float) -> int:
            return began + int(seconds * 1e9)

        above = TraceContextTextMapPropagator().extract(dict(request.headers))
        name = f"{request.attributes['http.request.method']} {request.route}"
        server = trace.SpanKind.SERVER
        span = self._tracer.start_span(name, above, server, request.attributes, start_time=began)
        if request.status >= 500:
            span.set_status(trace.StatusCode.ERROR)
        inside, before = trace.set_span_in_context(span, above), 0.0
        for step, end in request.steps:
            self._tracer.start_span(step, inside, start_time=moment(before)).end(moment(end))
            before = end
        span.end(moment(request.seconds))
        return trace.format_trace_id(span.get_span_context().trace_id)

    def close(self) -> None:
        """Send what is left, and end the threads."""
        self._tracers.shutdown()
        self._meters.shutdown(timeout_millis=EXPORT_SECONDS * 1000)


def _resource() -> Any:
    """Describe this worker; its counts are its own, and a backend adds up those of all workers."""
    from opentelemetry.sdk.resources import Resource

    said = {"service.instance.id": str(uuid.uuid4()), "service.version": __version__}
    if not os.environ.get("OTEL_SERVICE_NAME") and "service.name=" not in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    ):
        said["service.name"] = "turnloom"
    return Resource.create(said)


class ExportedMetrics(Metrics):
    """The metrics of `/metrics`, counted for OpenTelemetry, too, and traces."""

    traces = True

    def __init__(self, tenants: int, sender: Sender) -> None:
        super().__init__(tenants)
        self._sender, meter = sender, sender.meter
        self._durations = _histogram(meter, "http.server.request.duration", "s", "Time to answer.", SECONDS)
        self._refusals = meter.create_counter("turnloom.refused_requests", "{request}", "Refused requests.")
        self._computed = meter.create_counter("turnloom.tokens", "{token}", "Tokens computed.")
        self._sizes = _histogram(meter, "turnloom.batch.items", "{item}", "Items per batch.", SIZES)
        self._times = _histogram(meter, "turnloom.batch.duration", "s", "Time to compute a batch.", SECONDS)
        self._tokens_waiting = meter.create_gauge("turnloom.queue.tokens", "{token}", "Tokens that wait.")
        self._left = meter.create_counter("turnloom.dropped_jobs", "{job}", "Left before computed.")
        self._requests_waiting = meter.create_gauge("turnloom.waiting_requests", "{request}", "Wait for a slot.")
        self._failed_reloads = meter.create_gauge("turnloom.failed_reloads", "{worker}", "The last reload failed.")

    def trace(self, request: AnsweredRequest) -> str:
        """Make the spans of a request; return the id of its trace."""
        return self._sender.trace(request)

    def close(self) -> None:
        """Send what is left."""
        self._sender.close()

    def answered(self, route: str, method: str, status: int, seconds: float, tenant: str) -> None:
        """A request was answered."""
        super().answered(route, method, status, seconds, tenant)
        said: Mapping[str, str | int] = {
            "http.request.method": method if method in METHODS else "_OTHER",
            "http.route": route,
            "http.response.status_code": status,
            "turnloom.tenant": tenant,
        }
        self._durations.record(seconds, said)

    def refuse(self, code: str, tenant: str) -> None:
        """A request was refused."""
        super().refuse(code, tenant)
        self._refusals.add(1, {"error.type": code, "turnloom.tenant": tenant})

    def batch(self, model: str, items: int, tokens: int, seconds: float) -> None:
        """A batch was computed."""
        super().batch(model, items, tokens, seconds)
        said = {"turnloom.model": model}
        self._sizes.record(items, said)
        self._times.record(seconds, said)
        self._computed.add(tokens, said)

    def queued(self, model: str, tokens: int) -> None:
        """The number of queued tokens changed."""
        super().queued(model, tokens)
        self._tokens_waiting.set(tokens, {"turnloom.model": model})

    def dropped(self, model: str, reason: str) -> None:
        """A request left before it was computed."""
        super().dropped(model, reason)
        self._left.add(1, {"turnloom.model": model, "turnloom.reason": reason})

    def waiting_for_slots(self, requests: int) -> None:
        """The number of requests that wait for a slot changed."""
        super().waiting_for_slots(requests)
        self._requests_waiting.set(requests)

    def reloaded(self, *, failed: bool) -> None:
        """Resources were loaded again, or this worker was to be replaced."""
        super().reloaded(failed=failed)
        self._failed_reloads.set(int(failed))


def _histogram(meter: Meter, name: str, unit: str, description: str, bounds: Sequence[float]) -> Histogram:
    return meter.create_histogram(name, unit, description, explicit_bucket_boundaries_advisory=list(bounds))


def open_metrics(config: ServiceConfig) -> Metrics:
    """Return what counts requests, and traces them if the configuration says where to.

    Raises:
        TurnloomError: If the extra for that is not installed.
    """
    tenants = len(config.tenant_names)
    return ExportedMetrics(tenants, Sender(config.telemetry)) if config.telemetry else Metrics(tenants)
