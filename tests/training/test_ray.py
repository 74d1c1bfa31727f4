"""Ray Train around the same function: a worker is killed, and the run ends with the model of a run that was not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file

from turnloom.training import load_recipe, train

SETTINGS = {
    "stages.0.batch_size": "8",
    "stages.0.steps": "30",
    "stages.0.encoder_rate": "1e-3",
    "report_to": "none",
    "bf16": "false",
    "evaluate_every": "0",
    "save_every": "5",
}
SCRIPT = """
import json, os, signal, sys, threading, time
from pathlib import Path

import psutil
import ray

from turnloom.training import load_recipe
from turnloom.training.run import train_on_ray

table, start, out = map(Path, sys.argv[1:4])
ray.init(num_cpus=2, _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False)


def kill_one_worker():
    stage = out / "training" / "stage-0"
    while not list(stage.glob("checkpoint-*/complete")):
        time.sleep(0.02)
    workers = [p for p in psutil.Process().children(recursive=True) if "RayTrainWorker" in " ".join(p.cmdline())]
    workers += [p for p in psutil.process_iter() if "RayTrainWorker" in " ".join(p.cmdline() or [])]
    (out / "killed").write_text(str(workers[0].pid))
    os.kill(workers[0].pid, signal.SIGKILL)


threading.Thread(target=kill_one_worker, daemon=True).start()
settings = {**json.loads(sys.argv[4]), "model.start": str(start)}
train_on_ray(load_recipe("dse", settings), [table], out, workers=1)
"""


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_a_lost_worker_changes_nothing(table: Path, start: Path, tmp_path: Path) -> None:
    import json

    environment = {**os.environ, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "GLOO_SOCKET_IFNAME": "lo"}
    environment |= {
        "OMP_NUM_THREADS": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "300",
    }
    command = [sys.executable, "-c", SCRIPT, str(table), str(start), str(tmp_path / "ray"), json.dumps(SETTINGS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1_200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "ray" / "killed").exists()
    train(load_recipe("dse", {**SETTINGS, "model.start": str(start)}), [table], tmp_path / "alone")
    ours, theirs = (load_file(tmp_path / name / "model.safetensors") for name in ("alone", "ray"))
    apart = max(float((ours[key] - theirs[key]).abs().max()) for key in ours)
    assert apart < 1e-5
    summary = json.loads((tmp_path / "ray" / "training" / "result.json").read_text())
    assert summary["steps"] == 30
