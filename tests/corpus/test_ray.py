"""The same plan on a local Ray cluster, on loopback, gives the same table."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.test_prepare import random_dialogue, save


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_ray_gives_the_same_content_hash(tmp_path: Path) -> None:
    rng = random.Random(7)
    rows = [random_dialogue(rng, f"d{n}") for n in range(300)]
    rows += [random_dialogue(random.Random(7), f"copy{n}") for n in range(3)]
    source = save(tmp_path / "in", rows)
    hashes = {}
    for runner in ("native", "ray"):
        out = tmp_path / runner
        command = [
            sys.executable,
            "-m",
            "turnloom.cli.main",
            "prepare",
            str(source),
            "--runner",
            runner,
            "--out",
            str(out),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        hashes[runner] = json.loads((out / "manifest.json").read_text())["content_hash"]
    assert hashes["ray"] == hashes["native"]
