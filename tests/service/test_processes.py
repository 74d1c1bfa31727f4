"""Real processes: several workers, one killed, a SIGTERM, Ray Serve.

A start imports for seconds, so tests share a service of one worker and one of two: each leaves it serving or ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
import yaml

from tests.runtime.test_encoder import tiny_model
from turnloom.runtime.export import export_model

pytestmark = pytest.mark.slow
shared = pytest.mark.xdist_group("processes")  # Otherwise each process of pytest-xdist starts services of its own.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
# Ray kills a proxy that is not ready after five seconds, which a busy machine needs to start it.
ENVIRONMENT["RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S"] = "50"
RAY = """
import sys, time
import httpx, ray
from ray import serve
from turnloom.service.ray_serve import ray_application

ray.init(num_cpus=3, _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False)
serve.start(http_options={"host": "127.0.0.1", "port": int(sys.argv[2])})
serve.run(ray_application(sys.argv[1], replicas=2, cpus=0.5))
address = f"http://127.0.0.1:{sys.argv[2]}"
asked = {"model": "tiny", "input": ["hello there", "my card"]}
answers = [httpx.post(f"{address}/v1/embeddings", json=asked, timeout=60) for _ in range(20)]
assert {answer.status_code for answer in answers} == {200}, answers[0].text
assert len({answer.text for answer in answers}) == 1
assert httpx.get(f"{address}/health/ready", timeout=60).status_code == 200
running = serve.status().applications["default"].deployments["turnloom"].replica_states
assert running == {"RUNNING": 2}, running
serve.shutdown()
print("served by two replicas")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("processes")
    (found / "words").mkdir()
    tiny_model.folder = found / "words"  # type: ignore[attr-defined]
    tiny_model().save_pretrained(str(found / "torch"), create_model_card=False)
    export_model(found / "torch", found / "model", int8=True)
    return found


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def write_config(folder: Path, **changes: object) -> tuple[Path, str]:
    port = free_port()
    found = {
        "port": port,
        "model": {"path": "model", "name": "tiny", "threads": 1},
        "state": f"state-{port}",
        **changes,
    }
    path = folder / f"config-{port}.yaml"
    path.write_text(yaml.safe_dump(found), encoding="utf-8")
    return path, f"http://127.0.0.1:{port}"


def wait_ready(
    address: str, process: subprocess.Popen[bytes], seconds: float = 600, path: str = "/health/ready"
) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{address}{path}", timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("never ready")


def start(config: Path, address: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "turnloom.cli.main", "serve", str(config)]
    with config.with_suffix(".log").open("ab") as log:
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log)
    try:
        wait_ready(address, process)
    except BaseException:
        process.kill()
        raise
    return process


class Service:
    """A service that is started when a test needs it and it has ended."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.count = workers
        self.config, self.address = write_config(folder, workers=workers, limits={"drain_seconds": 1})
        self.log = self.config.with_suffix(".log")
        self.process: subprocess.Popen[bytes] | None = None

    def running(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            self.process = start(self.config, self.address)
        return self.process

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)

    def workers(self) -> list[int]:
        """Its workers, when all serve: one answers before the other has read its configuration."""
        parent = self.running().pid
        wait_until(lambda: len(found := worker_processes(parent)) == self.count and all(map(listens, found)))
        return worker_processes(parent)

    def embed(self) -> httpx.Response:
        body = {"model": "tiny", "input": "hello there"}
        return httpx.post(f"{self.address}/v1/embeddings", json=body, timeout=30)

    def failed_reloads(self) -> float:
        """How many workers say that the last reload or SIGHUP failed."""
        lines = httpx.get(f"{self.address}/metrics", timeout=30).text.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("turnloom_failed_reloads "))

    def embedded(self) -> float:
        """How many requests all workers together have counted."""
        answered = 'turnloom_requests_total{method="POST",route="/v1/embeddings",status="200",tenant=""} '
        lines = httpx.get(f"{self.address}/metrics", timeout=30).text.splitlines()
        return sum(float(line.removeprefix(answered)) for line in lines if line.startswith(answered))


@pytest.fixture(scope="module")
def services(folder: Path) -> Iterator[dict[int, Service]]:
    found = {count: Service(folder, count) for count in (1, 2)}
    try:
        yield found
    finally:
        for each in found.values():
            each.stop()


@pytest.fixture
def two(services: dict[int, Service]) -> Service:
    return services[2]


@pytest.fixture(params=[1, 2])
def service(services: dict[int, Service], request: pytest.FixtureRequest) -> Service:
    return services[request.param]


def worker_processes(parent: int) -> list[int]:
    """Forks of a process that has imported everything."""
    found = []
    for child in psutil.Process(parent).children():
        with suppress(psutil.Error):  # One that was killed a moment ago.
            found += [worker.pid for worker in child.children()]
    return found


def listens(worker: int) -> bool:
    try:
        return any(found.status == "LISTEN" for found in psutil.Process(worker).net_connections())
    except psutil.Error:
        return False


def wait_until(comes_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600  # However busy the machine is
    while not comes_true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@shared
def test_workers_survive_a_kill_and_their_metrics_are_added_up(two: Service) -> None:
    process, workers = two.running(), two.workers()  # Each listens for itself: neither takes most connections.
    expected, counted = two.embed().text, two.embedded()
    os.kill(workers[0], signal.SIGKILL)
    wait_ready(two.address, process)
    assert two.embed().text == expected
    wait_until(lambda: len(now := worker_processes(process.pid)) == 2 and workers[0] not in now)
    assert two.embedded() == counted + 1


def test_workers_that_cannot_start_end_the_service(folder: Path) -> None:
    config, _ = write_config(folder, workers=2, model={"path": ".", "name": "tiny"})
    command = [sys.executable, "-m", "turnloom.cli.main", "serve", str(config)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 3
    assert '"event":"not started"' in done.stdout + done.stderr


@pytest.mark.nightly
@shared
def test_sighup_replaces_workers_one_after_another_and_no_request_fails(service: Service) -> None:
    process, before = service.running(), set(service.workers())
    stop = threading.Event()

    def ask(*, keep: bool) -> int:
        asked = 0
        with httpx.Client(timeout=60) as client:
            while not stop.is_set():
                body = {"model": "tiny", "input": "hello there"}
                headers = {} if keep else {"Connection": "close"}
                answer = client.post(f"{service.address}/v1/embeddings", json=body, headers=headers)
                assert answer.status_code == 200
                asked += 1
        return asked

    with ThreadPoolExecutor(6) as pool:
        asking = [pool.submit(ask, keep=number % 2 == 0) for number in range(6)]
        try:
            process.send_signal(signal.SIGHUP)
            wait_until(lambda: not before & set(worker_processes(process.pid)) or any(map(Future.done, asking)))
            time.sleep(0.5)
        finally:
            stop.set()
        assert all(each.result() > 0 for each in asking)
    after = set(worker_processes(process.pid))
    assert len(after) == service.count
    assert not before & after


def ended(processes: list[int]) -> bool:
    return not any(psutil.pid_exists(each) and psutil.Process(each).status() != "zombie" for each in processes)


@shared
def test_workers_end_with_their_parent_and_a_restart_works_at_once(service: Service) -> None:
    process, workers = service.running(), service.workers()
    assert not ended(workers)
    process.kill()
    process.wait(60)
    service.running()
    assert ended(workers)
    assert service.embed().status_code == 200
    assert not set(service.workers()) & set(workers)


@pytest.mark.nightly
@shared
def test_workers_end_with_the_process_that_forked_them(two: Service) -> None:
    process, workers = two.running(), two.workers()
    os.kill(psutil.Process(workers[0]).ppid(), signal.SIGKILL)
    wait_until(lambda: ended(workers))
    wait_ready(two.address, process)
    assert len(two.workers()) == 2


def test_a_worker_that_cannot_start_does_not_end_one_that_serves(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.service.supervised", str(tmp_path)]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[2], env=ENVIRONMENT)

    def count(state: str) -> int:
        return len(list(tmp_path.glob(f"{state}-*")))

    try:
        wait_until(lambda: count("served") == 1 and count("failed") >= 3)
        assert process.poll() is None
        (tmp_path / "repaired").touch()
        wait_until(lambda: count("served") == 2)
    finally:
        process.terminate()
    assert process.wait(60) == 0


@shared
def test_a_successor_that_cannot_start_leaves_the_old_workers(two: Service) -> None:
    process, before = two.running(), set(two.workers())
    right = two.config.read_text()
    try:
        two.config.write_text(right.replace("path: model", "path: ."))
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: '"event":"not started"' in two.log.read_text())
        wait_until(lambda: len(worker_processes(process.pid)) == 2)
    finally:
        two.config.write_text(right)
    wait_until(lambda: two.failed_reloads() == 2)
    assert set(worker_processes(process.pid)) == before
    assert two.embed().status_code == 200
    process.send_signal(signal.SIGHUP)
    wait_until(lambda: not before & set(worker_processes(process.pid)) and two.failed_reloads() == 0)


@shared
def test_every_line_of_the_log_is_json(two: Service) -> None:
    process = two.running()
    right = two.config.read_text()
    try:
        for wrong in ("port: [\n", right.replace("path: model", "path: .")):
            two.workers()
            refused = two.log.read_text().count('"problem":')
            two.config.write_text(wrong)
            process.send_signal(signal.SIGHUP)
            wait_until(lambda refused=refused: two.log.read_text().count('"problem":') > refused)  # type: ignore[misc]
    finally:
        two.config.write_text(right)
    os.kill(two.workers()[0], signal.SIGKILL)
    two.workers()
    two.stop()
    events = [json.loads(line)["event"] for line in two.log.read_text().splitlines()]
    assert {"ready", "worker failed", "not started", "worker ended"} <= set(events)


@shared
def test_sigterm_ends_all_workers(two: Service) -> None:
    process, workers = two.running(), two.workers()
    process.terminate()
    assert process.wait(60) == 0
    assert len(workers) == 2
    assert not any(psutil.pid_exists(worker) for worker in workers)


@shared
def test_sigterm_answers_what_has_begun(services: dict[int, Service]) -> None:
    process = services[1].running()
    with httpx.Client(base_url=services[1].address) as client:
        assert client.get("/health/ready").status_code == 200
        process.terminate()
        deadline = time.monotonic() + 10
        while client.get("/health/ready").status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert client.get("/health/ready").status_code == 503
        asked = client.post("/v1/embeddings", json={"model": "tiny", "input": "hello there"})
        assert asked.status_code == 200
        client.close()
        assert process.wait(60) in (0, -signal.SIGTERM)


def test_a_wrong_configuration_is_one_line(folder: Path) -> None:
    config, _ = write_config(folder, model={"path": "nowhere"})
    command = [sys.executable, "-m", "turnloom.cli.main", "serve", str(config)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2
    assert "there is no folder" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_port_in_use_is_one_line(folder: Path, workers: int) -> None:
    with socket.socket() as taken:
        # As the workers of another service have it.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        config, _ = write_config(folder, workers=workers, port=taken.getsockname()[1])
        command = [sys.executable, "-m", "turnloom.cli.main", "serve", str(config)]
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2
    assert "cannot listen on 127.0.0.1:" in done.stderr
    assert "(Address already in use)" in done.stderr


@pytest.mark.nightly
@pytest.mark.xdist_group("ray")
def test_two_replicas_under_ray_serve(folder: Path) -> None:
    config, address = write_config(folder)
    command = [sys.executable, "-c", RAY, str(config), address.rsplit(":", 1)[1]]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "served by two replicas" in done.stdout
