"""A traced run: every request, also one that is refused before anything is made for it, arrives at a collector.

Usage: python -m studies.service.traced MODEL --work FOLDER [--requests 2000]
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
from tests.service.collector import collecting

from studies.lib.figures import record
from studies.service.lab import ADMIN, TEXTS, arguments, prepare, save, service

AT_ONCE = 48


def ask(client: httpx.Client, number: int) -> int:
    """One of several kinds of requests, known by its number."""
    key = ADMIN if number % 10 else "wrong"
    headers = {"X-Request-Id": f"traced-{number}", "Authorization": f"Bearer {key}"}
    text = TEXTS[number % len(TEXTS)]
    kinds = (
        ("POST", "/v1/embeddings", {"model": "model", "input": text}),
        ("POST", "/v1/intents", {"messages": [text]}),
        ("POST", "/v1/replies", {"context": [text]}),
        ("POST", "/v1/intents", {"wrong": text}),
        ("GET", "/health/live", None),
        ("GET", "/not/there", None),
    )
    method, path, body = kinds[number % len(kinds)]
    return client.request(method, path, json=body, headers=headers).status_code


def main() -> None:
    parser = arguments()
    parser.add_argument("--requests", type=int, default=2_000)
    given = parser.parse_args()
    prepare(given.work, given.model, None)
    with collecting() as collector:
        # So little patience that some are refused by their headers alone.
        options = {"telemetry": {"endpoint": collector.address}, "limits": {"wait_seconds": 0.02}}
        pool = httpx.Limits(max_connections=AT_ONCE)
        with (
            service(given.work, **options) as (address, _),
            httpx.Client(base_url=address, timeout=120, limits=pool) as client,
            ThreadPoolExecutor(AT_ONCE) as threads,
        ):
            statuses = Counter(threads.map(lambda number: ask(client, number), range(given.requests)))
        # The service has stopped, and has sent what was left.
    traces = {
        span.attributes["turnloom.request_id"]: span.trace
        for span in collector.spans
        if "http.route" in span.attributes
    }
    spans = Counter(span.trace for span in collector.spans)
    each = [spans[traces.get(f"traced-{number}", "")] for number in range(given.requests)]
    print(dict(statuses), "spans per request:", dict(Counter(each)))
    assert {200, 401, 404, 422, 429} <= set(statuses), "every kind of request is tried"
    if not given.dry:
        save(
            "traced", {"statuses": statuses, "spans_per_request": {str(count): n for count, n in Counter(each).items()}}
        )
        figures = {"otel_requests": len(each), "otel_spans_received": sum(each)}
        record("service", figures | {"otel_requests_without_span": each.count(0)})


if __name__ == "__main__":
    main()
