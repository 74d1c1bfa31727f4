"""The Compose file: what it mounts is there, only this machine reaches it, and what it runs works together."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.compose import DEPLOY, Demo, read_services, try_demo


def volumes(service: dict[str, Any]) -> list[list[str]]:
    return [volume.split(":") for volume in service.get("volumes", ())]


def test_only_this_machine_reaches_it() -> None:
    ports = [port for service in read_services().values() for port in service.get("ports", ())]
    assert len(ports) == 4
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_what_it_mounts_is_there() -> None:
    for service in read_services().values():
        for source, *_ in volumes(service):
            assert "/" not in source or (DEPLOY / source).exists(), source


def test_the_dashboard_and_its_metrics_come_from_each_other() -> None:
    services = read_services()
    open_at = {f"{name}:{port.split(':')[2]}" for name, one in services.items() for port in one.get("ports", ())}
    prometheus = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    targets = {job["job_name"]: job["static_configs"][0]["targets"] for job in prometheus["scrape_configs"]}
    assert set(targets["turnloom"]) <= open_at
    mounted = {target for _, target, *_ in volumes(services["prometheus"])}
    assert set(prometheus["rule_files"]) <= mounted
    provisioning = DEPLOY / "grafana" / "provisioning"
    source = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())["datasources"][0]
    assert source["url"].removeprefix("http://") in open_at
    dashboards = yaml.safe_load((provisioning / "dashboards" / "turnloom.yaml").read_text())["providers"][0]
    mounted = {target for _, target, *_ in volumes(services["grafana"])}
    assert f"{dashboards['options']['path']}/turnloom.json" in mounted
    assert services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] in mounted


def test_setup_is_given_what_it_reads() -> None:
    script = (DEPLOY / "demo" / "setup.sh").read_text(encoding="utf-8")
    read = set(re.findall(r"\$\{?([A-Z]+)\b", script))
    assert read == set(read_services()["setup"]["environment"])


def test_paths_become_those_of_this_machine(tmp_path: Path) -> None:
    demo = Demo(tmp_path, ports={"8000": 1, "7860": 2, "9090": 3})
    assert demo.here("prometheus", "--config.file=/etc/prometheus/prometheus.yml") == (
        f"--config.file={DEPLOY / 'prometheus' / 'prometheus.yml'}"
    )
    assert demo.here("prometheus", "--storage.tsdb.path=/prometheus") == f"--storage.tsdb.path={tmp_path / 'metrics'}"
    assert demo.here("prometheus", "/serving/keys service:8000") == f"{tmp_path / 'demo'}/keys 127.0.0.1:1"
    assert demo.here("studio", "$$(cat x) --host 0.0.0.0 --port 7860") == "$(cat x) --host 127.0.0.1 --port 2"


@pytest.mark.nightly
def test_what_it_runs_works_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATS", "60")
    monkeypatch.setenv("MINUTES", "0.05")
    checked = try_demo(tmp_path)
    recipe = yaml.safe_load((tmp_path / "demo/quickstart/model/training/recipe.yaml").read_text(encoding="utf-8"))
    assert (recipe["name"], recipe["model"]["adapt"]) == ("conversation", True), "turnloom-mini reads conversations"
    assert len(checked) == (3 if shutil.which("prometheus") else 2), "CI has no Prometheus"
