"""Training teaches: replies that were never seen are found, unless the replies it learned from were shuffled."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.training.toy import conversations, write_start, write_table
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.suites import reply_tasks
from turnloom.runtime import load_encoder
from turnloom.training import load_recipe, train

SETTINGS = {
    "stages.0.batch_size": "64",
    "stages.0.steps": "120",
    "stages.0.encoder_rate": "3e-3",
    "stages.0.epochs": "20",
    "model.freeze_embeddings": "false",
    "report_to": "none",
    "bf16": "false",
    "evaluate_every": "0",
}


def held_out_top1(model: Path, table: Path) -> float:
    encoder = CachedEncoder(load_encoder(model))
    end = "-next-heads" if encoder.has_heads else "-next"
    (task,) = (task for task in reply_tasks(table) if task.info.name.endswith(end))
    return task.evaluate(encoder, 1, 0)[0].scores["top1"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dse", pytest.param("wmdc-heads", marks=pytest.mark.nightly)])
def test_held_out_replies_are_found_only_after_training_on_true_ones(name: str, tmp_path: Path) -> None:
    held = write_table(tmp_path / "held", conversations(300, seed=1))
    start = write_start(tmp_path / "start", layers=2, width=48)
    changes = {**SETTINGS, "model.start": str(start)}
    if name == "wmdc-heads":
        changes["stages.0.view.sizes"] = "[1]"
    reached = {}
    for kind in ("true", "shuffled"):
        dialogues = conversations(2_000, shuffled=kind == "shuffled")
        table = write_table(tmp_path / kind, dialogues)
        train(load_recipe(name, changes), [table], tmp_path / f"model-{kind}")
        reached[kind] = held_out_top1(tmp_path / f"model-{kind}", held)
    before = held_out_top1(start, held)
    assert reached["true"] > before + 30
    assert reached["shuffled"] < before + 10


def in_two_processes(*arguments: str, port: int, processes: int = 2) -> None:
    """Run `turnloom train` under torchrun, in two processes or more."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(processes)]
    place = ["--master-addr", "127.0.0.1", "--master-port", str(port)]
    command = [*launch, *place, "-m", "turnloom.cli.main", "train", *arguments]
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.nightly
@pytest.mark.slow
def test_two_processes_end_together_in_time(table: Path, start: Path, tmp_path: Path) -> None:
    """The first process's clock decides for both: else one would wait for the other's gradients, or its heads'."""
    changes = [
        f"model.start={start}",
        "report_to=none",
        "bf16=false",
        "stages.0.batch_size=8",
        "stages.0.view.sizes=[1]",
    ]
    changes += ["refit={pairs: 300, passes: 1000000, batch_size: 50}"]
    out, began = tmp_path / "model", time.monotonic()
    options = [f"--set={change}" for change in changes]
    in_two_processes("wmdc-heads", str(table), "--out", str(out), "--minutes", "0.2", *options, port=29642)
    # Twelve seconds, and starting on a busy machine; a process that waits for another does so until it is killed.
    assert time.monotonic() - began < 150
    assert (out / "model.safetensors").exists()


@pytest.mark.slow
def test_two_processes_train_as_one(table: Path, start: Path, tmp_path: Path) -> None:
    """Under torchrun each process has half the batch; the model is that of one process with the whole batch."""
    from safetensors.torch import load_file

    place = ["--set", f"model.start={start}", "--set", "report_to=none", "--set", "bf16=false"]
    more = [*place, "--set", "stages.0.steps=4", "--set", "stages.0.encoder_rate=1e-3", "--set", "evaluate_every=0"]
    out = str(tmp_path / "two")
    in_two_processes("dse", str(table), "--out", out, *more, "--set", "stages.0.batch_size=8", port=29641)
    changes = {"stages.0.steps": "4", "stages.0.encoder_rate": "1e-3", "evaluate_every": "0", "bf16": "false"}
    whole = load_recipe("dse", {**changes, "model.start": str(start), "report_to": "none", "stages.0.batch_size": "16"})
    train(whole, [table], tmp_path / "one")
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    first = load_file(start / "model.safetensors")
    moved = sum(float((one[key] - first[key]).square().sum()) for key in one) ** 0.5
    apart = sum(float((one[key] - two[key]).square().sum()) for key in one) ** 0.5
    assert moved > 0
    assert apart < 1e-3 * moved
