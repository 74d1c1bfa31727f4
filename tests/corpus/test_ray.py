"""The same plan on a local Ray cluster, on loopback, gives the same table."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.test_prepare import benchmark, random_dialogue, save
from turnloom.corpus.schema import Dialogue, Turn

__all__ = ["benchmark"]


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("benchmark")
def test_ray_gives_the_same_content_hash(tmp_path: Path) -> None:
    rng = random.Random(7)
    rows = [random_dialogue(rng, f"d{n}") for n in range(300)]
    rows += [random_dialogue(random.Random(7), f"copy{n}") for n in range(3)]
    said = ["one is here", "how do I locate my card", "two is here", "three is here"]
    rows.append(Dialogue("held", "log", [Turn("a", "so"), *[Turn("b", text) for text in said], Turn("a", "fine")]))
    source = save(tmp_path / "in", rows)
    manifests = {}
    for runner in ("native", "ray"):
        out = tmp_path / runner
        command = [
            sys.executable,
            "-m",
            "turnloom.cli.main",
            "prepare",
            str(source),
            "--merge-speakers",
            "--hold-out",
            "banking77",
            "--runner",
            runner,
            "--out",
            str(out),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        manifests[runner] = json.loads((out / "manifest.json").read_text())
    assert manifests["ray"]["content_hash"] == manifests["native"]["content_hash"]
    assert manifests["ray"]["counts"]["contamination"] == manifests["native"]["counts"]["contamination"]
    assert manifests["native"]["counts"]["contamination"]["leaked_turns"] == 1
