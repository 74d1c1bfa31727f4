"""Grafana's dashboard and the alerts ask for metrics and labels that a running service has, in valid PromQL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from turnloom.service import admission

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD, ALERTS = DEPLOY / "grafana" / "turnloom.json", DEPLOY / "prometheus" / "alerts.yaml"
ADDED_BY_PROMETHEUS = {"job", "instance"}
_SUFFIX = r"_(total|created|bucket|sum|count)$"
promql = pytest.importorskip("promql_parser")


def panels() -> list[dict[str, object]]:
    return list(json.loads(DASHBOARD.read_text())["panels"])


def queries() -> Iterator[str]:
    for panel in panels():
        yield from (target["expr"] for target in panel["targets"])  # type: ignore[attr-defined]


def alerts() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


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


def asked_for(query: str, labels: dict[str, set[str]]) -> set[str]:
    """The metrics of a query, all of which exist with its labels."""
    names = set(re.findall(r"\bturnloom_\w+", query))
    assert names <= set(labels), query
    grouped = {name for group in re.findall(r"by \((.*?)\)", query) for name in re.split(r",\s*", group)}
    for name, selector in re.findall(r"\b(turnloom_\w+)(?:\{(.*?)\})?", query):
        matched = set(re.findall(r"(\w+)\s*[=!]", selector))
        assert (matched | grouped) - ADDED_BY_PROMETHEUS <= labels[name], query
    return names


def test_every_metric_and_label_exists(client: TestClient) -> None:
    labels = exposed(client)
    seen = set()
    for query in queries():
        names = asked_for(query, labels)
        assert names, query
        seen |= {re.sub(_SUFFIX, "", name) for name in names}
    families = {re.sub(_SUFFIX, "", name) for name in labels}
    assert seen == families, "every metric is shown"


def test_every_query_is_valid() -> None:
    for query in queries():
        promql.parse(query.replace("$__rate_interval", "5m").replace("$job", ".*").replace("$tenant", ".*"))
    with pytest.raises(ValueError, match="parenthesis"):
        promql.parse("sum(rate(")


def test_alerts_name_metrics_labels_routes_and_codes_that_exist(client: TestClient) -> None:
    labels, paths = exposed(client), set(client.get("/openapi.json").json()["paths"])
    source = "".join(path.read_text() for path in Path(admission.__file__).parent.rglob("*.py"))
    for rule in alerts():
        query = rule["expr"]
        promql.parse(query)
        assert asked_for(query, labels) or query.startswith("up{"), query
        for route in re.findall(r'route[=!]~?"(.*?)"', query):
            assert any(re.fullmatch(route, path) for path in paths), route
        assert all(f'"{code}"' in source for code in re.findall(r'code="(.*?)"', query))
        assert {"summary", "action"} == set(rule["annotations"])
    assert len({rule["alert"] for rule in alerts()}) == len(alerts()) > 5
    with pytest.raises(AssertionError, match="no_such"):
        asked_for("turnloom_no_such > 0", labels)


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        at: dict[str, int] = panel["gridPos"]  # type: ignore[assignment]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in panels()}) == len(panels())
