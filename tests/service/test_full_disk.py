"""A disk without space: changes are refused, and everything that only reads goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.service.test_api import CHAT
from tests.service.toy import HeadedEncoder, served, settings, with_intents, with_replies
from turnloom.service.keys import Buckets

FILL = """
def fill(folder):
    import os
    with open(os.path.join(folder, "filler"), "ab", buffering=0) as file:
        for size in (65536, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:
                pass
"""
exec(FILL)
fill: Callable[[Path], None] = globals()["fill"]
COUNT = f"""
import sys
{FILL}
from turnloom.service.monitoring import Metrics

metrics = Metrics()
metrics.waiting_for_slots(1)
fill(sys.argv[1])
for route in range(16):
    for status in range(40):
        metrics.requests.labels(f"/v1/route/{{route}}", "POST", str(status), "").inc()
        metrics.seconds.labels(f"/v1/route/{{route}}", "").observe(0.1)
print(len(metrics.text()))
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "turnloom-test", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_writes_are_refused_and_reads_go_on(tmp_path: Path, disk: Path) -> None:
    encoder = HeadedEncoder()
    more = with_intents(tmp_path, encoder) | with_replies(tmp_path, encoder)
    limits = {"wait_seconds": 60}
    with served(settings(tmp_path, **more, state="disk", limits=limits), encoder) as client:
        example = {"examples": [{"message": "zeppelin please", "intent": "zeppelin"}]}
        assert client.post("/v1/intents/examples", json=example).status_code == 200
        fill(disk)
        again = {"examples": [{"message": "zeppelin " * 1_000, "intent": "zeppelin"}]}
        chats = {"conversations": [CHAT]}
        for path, body in (("/v1/intents/examples", again), ("/v1/replies/conversations", chats)):
            answer = client.post(path, json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (507, "not_saved"), path
            assert answer.json()["error"]["type"] == "storage_error"
        assert client.post("/admin/reload").status_code in (202, 507)
        for path, body in (
            ("/v1/intents", {"messages": ["balance please"]}),
            ("/v1/replies", {"context": ["what does the sofa cost"]}),
            ("/v1/embeddings", {"model": "toy", "input": "balance"}),
        ):
            assert client.post(path, json=body).status_code == 200, path
        examples = client.get("/v1/intents/examples", params={"intent": "zeppelin"}).json()["examples"]
        assert examples == [["zeppelin please"]]
        (disk / "filler").unlink()
        assert client.post("/v1/intents/examples", json=again).json() == {"examples": 10}
        assert client.post("/v1/replies/conversations", json=chats).status_code == 202
    with served(settings(tmp_path, **more, state="disk", limits=limits), encoder) as client:
        examples = client.get("/v1/intents/examples", params={"intent": "zeppelin"}).json()["examples"]
        assert len(examples) == 2


def test_counting_does_not_end_a_worker(disk: Path) -> None:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(disk)}
    command = [sys.executable, "-c", COUNT, str(disk)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2_000:])
    assert int(done.stdout) > 10_000


def test_a_worker_that_starts_on_a_full_disk_counts_for_itself(disk: Path) -> None:
    fill(disk)
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(disk)}
    command = [sys.executable, "-c", COUNT.replace("fill(sys.argv[1])", ""), str(disk)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2_000:])


def test_rates_are_kept_on_a_full_disk(disk: Path) -> None:
    buckets = Buckets(disk / "rates", [2, None])
    fill(disk)
    assert [buckets.take(0), buckets.take(0), buckets.take(1)] == [0, 0, 0]
    assert buckets.take(0) > 0
    buckets.close()
