"""Run what `deploy/compose.yaml` runs, without containers: the same commands, in folders instead of volumes.

Usage: python -m tools.compose FOLDER

Everything listens at 127.0.0.1, at free ports. Grafana is left out, and Prometheus too if it is not installed. Ends
after checking that the service answers, the studio opens with its key, and Prometheus reaches the service.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from studies.service.lab import free_port

DEPLOY = Path(__file__).parents[1] / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
SETTING = re.compile(r"\$\{(\w+):-(.*?)\}")
PATIENCE = 300.0


def read_services() -> dict[str, Any]:
    """Read the services of the Compose file, with settings from the environment."""
    text = SETTING.sub(lambda found: os.environ.get(found[1], found[2]), COMPOSE.read_text(encoding="utf-8"))
    services: dict[str, Any] = yaml.safe_load(text)["services"]
    return services


@dataclass
class Demo:
    """The processes of the Compose file, in a folder.

    Args:
        folder: Where volumes become folders, and logs go.
        services: The Compose file's services.
        ports: The port here for each port there.
    """

    folder: Path
    services: Mapping[str, Any] = field(default_factory=read_services)
    ports: dict[str, int] = field(default_factory=lambda: {port: free_port() for port in ("8000", "7860", "9090")})

    def here(self, name: str, text: str) -> str:
        """Return a service's text with paths, hosts and ports of this machine."""
        for volume in self.services[name].get("volumes", ()):
            source, target = volume.split(":")[:2]
            place = (DEPLOY / source).resolve() if "/" in source else self.folder / source
            text = re.sub(rf"(?<![\w.-]){target}(?![\w-])", str(place), text)
        text = re.sub(r"\b(service|prometheus|127\.0\.0\.1):(8000|9090)\b", r"127.0.0.1:\2", text)
        text = text.replace("0.0.0.0", "127.0.0.1").replace("$$", "$")
        for there, port in self.ports.items():
            text = re.sub(rf"(?<=[ :]){there}\b", str(port), text)
        return text

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Start a service's command in the folder of its volume; its output goes to NAME.log."""
        service = self.services[name]
        words = [*service.get("entrypoint", ["prometheus"]), *service["command"]]
        settings = {key: self.here(name, str(value)) for key, value in service.get("environment", {}).items()}
        place = self.folder / "demo"
        place.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [self.here(name, word) for word in words],
                cwd=place,
                env={**os.environ, **settings},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @contextmanager
    def running(self, name: str, is_up: Callable[[], bool]) -> Iterator[None]:
        """Start a service, wait until it is up, and end it afterwards."""
        process = self.start(name)
        try:
            end = time.monotonic() + PATIENCE
            while not is_up():
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"{name} does not come up:\n{self.log(name)}")
                time.sleep(0.3)
            yield
        finally:
            process.terminate()
            process.wait(60)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def set_up(self) -> None:
        """Make what is served, as the container `setup` does."""
        if self.start("setup").wait():
            raise SystemExit(f"setup failed:\n{self.log('setup')}")
        config = self.folder / "demo" / "quickstart" / "service.yaml"
        text = config.read_text(encoding="utf-8")
        config.write_text(re.sub(r"^port: \d+", f"port: {self.ports['8000']}", text, flags=re.M), encoding="utf-8")

    def key(self, name: str) -> str:
        return (self.folder / "demo" / "keys" / name).read_text(encoding="utf-8")

    def ask(self, port: str, path: str, body: Any = None, key: str = "") -> Any:
        """Ask a running process; None if it does not answer, or refuses."""
        address = f"http://127.0.0.1:{self.ports[port]}{path}"
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        request = urllib.request.Request(address, json.dumps(body).encode() if body else None, headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        try:
            with opener.open(request, timeout=5) as answer:
                text = answer.read().decode()
        except (urllib.error.URLError, OSError):
            return None
        return json.loads(text) if answer.headers.get_content_type() == "application/json" else text

    def targets(self) -> dict[str, str]:
        """Return the health of each of Prometheus' jobs."""
        answer = self.ask("9090", "/api/v1/targets")
        found = answer["data"]["activeTargets"] if answer else []
        return {target["labels"]["job"]: target["health"] for target in found}

    def configure_prometheus(self) -> None:
        """Give Prometheus its configuration with this machine's addresses, asking every second, and its port."""
        service = self.services["prometheus"]
        source = DEPLOY / "prometheus" / "prometheus.yml"
        config = self.folder / "prometheus.yml"
        text = self.here("prometheus", source.read_text(encoding="utf-8"))
        config.write_text(text.replace("scrape_interval: 15s", "scrape_interval: 1s"), encoding="utf-8")
        words = [self.here("prometheus", word).replace(str(source), str(config)) for word in service["command"]]
        service["command"] = [*words, f"--web.listen-address=127.0.0.1:{self.ports['9090']}"]


def try_demo(folder: Path) -> list[str]:
    """Set up, start everything, and check it; return what was checked."""
    demo, checked = Demo(folder.resolve()), []
    demo.set_up()
    with ExitStack() as running:
        running.enter_context(demo.running("service", lambda: demo.ask("8000", "/health/ready") is not None))
        question = {"messages": ["where is my parcel"], "context": ["where is my parcel"]}
        for path, asked in (("/v1/intents", "messages"), ("/v1/replies", "context")):
            body = {asked: question[asked]}
            assert demo.ask("8000", path, body) is None, f"{path} answers without a key"
            assert demo.ask("8000", path, body, demo.key("page")), f"{path} does not answer: {demo.log('service')}"
        checked.append("service: intents and replies, with the key only")
        opened = f"/?key={demo.key('studio')}"
        running.enter_context(demo.running("studio", lambda: "Turnloom Studio" in (demo.ask("7860", opened) or "")))
        assert demo.ask("7860", "/") is None, "the studio opens without its key"
        checked.append("studio: opens, with the key only")
        if shutil.which("prometheus"):
            demo.configure_prometheus()
            up = {"turnloom": "up", "prometheus": "up"}
            running.enter_context(demo.running("prometheus", lambda: demo.targets() == up))
            asked = "/api/v1/query?query=sum(turnloom_requests_total)"
            assert demo.ask("9090", asked)["data"]["result"], "Prometheus has no metrics of the service"
            checked.append("Prometheus: both targets are up, and it has the service's metrics")
    return checked


def main() -> None:
    print(*try_demo(Path(sys.argv[1])), sep="\n")


if __name__ == "__main__":
    main()
