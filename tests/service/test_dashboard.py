"""Grafana's dashboard asks for metrics and labels that a running service has, in valid PromQL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "turnloom.json"
ADDED_BY_PROMETHEUS = {"job"}
_SUFFIX = r"_(total|created|bucket|sum|count)$"
promql = pytest.importorskip("promql_parser")


def panels() -> list[dict[str, object]]:
    return list(json.loads(DASHBOARD.read_text())["panels"])


def queries() -> Iterator[str]:
    for panel in panels():
        yield from (target["expr"] for target in panel["targets"])  # type: ignore[attr-defined]


def exposed(client: TestClient) -> dict[str, set[str]]:
    """The labels of each series that Prometheus would store."""
    client.post("/v1/intents", json={"messages": ["card lost"]})
    client.post("/v1/intents", json={})
    client.app.state.metrics.dropped("toy", "cancelled")  # type: ignore[attr-defined]
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


def test_every_metric_and_label_exists(client: TestClient) -> None:
    labels = exposed(client)
    seen = set()
    for query in queries():
        names = set(re.findall(r"\bturnloom_\w+", query))
        assert names, query
        assert names <= set(labels), query
        matched = {name for group in re.findall(r"\{(.*?)\}", query) for name in re.findall(r"(\w+)\s*[=!]", group)}
        grouped = {name for group in re.findall(r"by \((.*?)\)", query) for name in re.split(r",\s*", group)}
        for name in names:
            assert (matched | grouped) - ADDED_BY_PROMETHEUS <= labels[name], query
        seen |= {re.sub(_SUFFIX, "", name) for name in names}
    families = {re.sub(_SUFFIX, "", name) for name in labels}
    assert seen == families, "every metric is shown"


def test_every_query_is_valid() -> None:
    for query in queries():
        promql.parse(query.replace("$__rate_interval", "5m").replace("$job", ".*").replace("$tenant", ".*"))
    with pytest.raises(ValueError, match="parenthesis"):
        promql.parse("sum(rate(")


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        at: dict[str, int] = panel["gridPos"]  # type: ignore[assignment]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in panels()}) == len(panels())
