"""Real processes: several workers, one killed, a SIGTERM, Ray Serve."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest
import yaml

from tests.runtime.test_encoder import tiny_model
from turnloom.runtime.export import export_model

pytestmark = pytest.mark.slow
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
assert httpx.get(f"{address}/health/ready").status_code == 200
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


def wait_ready(address: str, process: subprocess.Popen[bytes], seconds: float = 600) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{address}/health/ready", timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("never ready")


@contextmanager
def running(config: Path, address: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "turnloom.cli.main", "serve", str(config)]
    with (config.parent / "log").open("wb") as log:
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log)
    try:
        wait_ready(address, process)
        yield process
    finally:
        process.terminate()
        process.wait(60)


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
        time.sleep(0.2)


def serving_workers(parent: int, count: int = 2) -> list[int]:
    """The workers, when all serve: one answers before the other has read its configuration."""
    wait_until(lambda: len(found := worker_processes(parent)) == count and all(map(listens, found)))
    return worker_processes(parent)


def embed(address: str) -> httpx.Response:
    return httpx.post(f"{address}/v1/embeddings", json={"model": "tiny", "input": "hello there"}, timeout=30)


def test_workers_survive_a_kill_and_their_metrics_are_added_up(folder: Path) -> None:
    config, address = write_config(folder, workers=2)
    with running(config, address) as process:
        expected = embed(address).text
        workers = serving_workers(process.pid)  # Each listens for itself, so that neither takes most connections.
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        wait_ready(address, process)
        assert embed(address).text == expected
        wait_until(lambda: len(now := worker_processes(process.pid)) == 2 and workers[0] not in now)
        metrics = httpx.get(f"{address}/metrics").text
        assert 'turnloom_requests_total{method="POST",route="/v1/embeddings",status="200"} 2.0' in metrics


def test_workers_that_cannot_start_end_the_service(folder: Path) -> None:
    config, _ = write_config(folder, workers=2, model={"path": ".", "name": "tiny"})
    command = [sys.executable, "-m", "turnloom.cli.main", "serve", str(config)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 3
    assert '"event":"not started"' in done.stdout + done.stderr


@pytest.mark.parametrize("count", [1, 2])
def test_sighup_replaces_workers_one_after_another_and_no_request_fails(folder: Path, count: int) -> None:
    config, address = write_config(folder, workers=count, limits={"drain_seconds": 1})
    with running(config, address) as process:
        before = set(serving_workers(process.pid, count))
        stop = threading.Event()

        def ask(*, keep: bool) -> int:
            asked = 0
            with httpx.Client(timeout=60) as client:
                while not stop.is_set():
                    body = {"model": "tiny", "input": "hello there"}
                    headers = {} if keep else {"Connection": "close"}
                    assert client.post(f"{address}/v1/embeddings", json=body, headers=headers).status_code == 200
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
        assert len(after) == count
        assert not before & after


def ended(processes: list[int]) -> bool:
    return not any(psutil.pid_exists(each) and psutil.Process(each).status() != "zombie" for each in processes)


@pytest.mark.parametrize("count", [1, 2])
def test_workers_end_with_their_parent_and_a_restart_works_at_once(folder: Path, count: int) -> None:
    config, address = write_config(folder, workers=count)
    with running(config, address) as process:
        workers = serving_workers(process.pid, count)
        assert not ended(workers)
        process.kill()
        process.wait(60)
        with running(config, address) as again:
            assert ended(workers)
            assert embed(address).status_code == 200
            assert not set(serving_workers(again.pid, count)) & set(workers)


def test_workers_end_with_the_process_that_forked_them(folder: Path) -> None:
    config, address = write_config(folder, workers=2)
    with running(config, address) as process:
        workers = serving_workers(process.pid)
        os.kill(psutil.Process(workers[0]).ppid(), signal.SIGKILL)
        wait_until(lambda: ended(workers))
        wait_ready(address, process)
        assert len(serving_workers(process.pid)) == 2


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


def test_a_successor_that_cannot_start_leaves_the_old_workers(folder: Path) -> None:
    config, address = write_config(folder, workers=2, limits={"drain_seconds": 0})
    with running(config, address) as process:
        before = set(serving_workers(process.pid))
        config.write_text(config.read_text().replace("path: model", "path: ."))
        process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 120
        while '"event":"not started"' not in (folder / "log").read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)
        assert set(worker_processes(process.pid)) == before
        assert embed(address).status_code == 200


def test_sigterm_ends_all_workers(folder: Path) -> None:
    config, address = write_config(folder, workers=2, limits={"drain_seconds": 0})
    with running(config, address) as process:
        workers = serving_workers(process.pid)
        process.terminate()
        assert process.wait(60) == 0
        assert len(workers) == 2
        assert not any(psutil.pid_exists(worker) for worker in workers)


def test_sigterm_answers_what_has_begun(folder: Path) -> None:
    config, address = write_config(folder, limits={"drain_seconds": 1})
    with running(config, address) as process, httpx.Client(base_url=address) as client:
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


@pytest.mark.parametrize("workers", [1, 2])
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


@pytest.mark.xdist_group("ray")
def test_two_replicas_under_ray_serve(folder: Path) -> None:
    config, address = write_config(folder)
    command = [sys.executable, "-c", RAY, str(config), address.rsplit(":", 1)[1]]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "served by two replicas" in done.stdout
