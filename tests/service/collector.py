"""A collector of OpenTelemetry: it takes OTLP over HTTP on this machine, reads it, and keeps it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def values(attributes: Any) -> dict[str, Any]:
    """Attributes as a dictionary."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@dataclass
class Span:
    name: str
    trace: str
    id: str
    parent: str
    begun: int
    seconds: float
    attributes: dict[str, Any]
    resource: dict[str, Any]


@dataclass
class Collector:
    """What has arrived: spans, and the newest value of each metric and its attributes, by worker."""

    address: str = ""
    spans: list[Span] = field(default_factory=list)
    metrics: dict[tuple[str, str, str], float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take_spans(self, body: bytes) -> bytes:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            said = values(resource.resource.attributes)
            for one in (one for scope in resource.scope_spans for one in scope.spans):
                seconds = (one.end_time_unix_nano - one.start_time_unix_nano) / 1e9
                ids = (one.trace_id.hex(), one.span_id.hex(), one.parent_span_id.hex())
                begun = one.start_time_unix_nano
                self.spans.append(Span(one.name, *ids, begun, seconds, values(one.attributes), said))
        return bytes(ExportTraceServiceResponse().SerializeToString())

    def take_metrics(self, body: bytes) -> bytes:
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            worker = values(resource.resource.attributes)["service.instance.id"]
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                data = getattr(metric, metric.WhichOneof("data"))
                for point in data.data_points:
                    labels = str(sorted(values(point.attributes).items()))
                    value = point.count if hasattr(point, "count") else point.as_int or point.as_double
                    self.metrics[worker, metric.name, labels] = float(value)
        return bytes(ExportMetricsServiceResponse().SerializeToString())

    def total(self, name: str, *said: str) -> float:
        """The sum of a metric over all workers and attributes, or those in which words occur."""
        chosen = [key for key in self.metrics if key[1] == name and all(word in key[2] for word in said)]
        return sum(self.metrics[key] for key in chosen)


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a free port of this machine."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            take = {"/v1/traces": collector.take_spans, "/v1/metrics": collector.take_metrics}[self.path]
            with collector.lock:
                answer = take(body)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
