"""The same plans on a local Ray cluster, on loopback, give the same table, view and vectors."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.corpus.test_prepare import benchmark, random_dialogue, save
from tests.training.toy import write_start
from tests.views.test_build import files_of
from turnloom.corpus.schema import Dialogue, Turn
from turnloom.runtime import load_encoder
from turnloom.runtime.protocols import Encoder
from turnloom.vectors import VectorOptions, VectorTable, build_vectors
from turnloom.views import Windows, build_view

__all__ = ["benchmark"]

CHILD = "import sys; from tests.corpus.test_ray import run_all; run_all(*sys.argv[1:])"


def run_all(runner: str, source: str, model: str, place: str) -> None:
    """Prepare a table by the command, make a view and vectors of it, and note the processes that loaded the model."""
    from turnloom.cli.main import app

    table, out = Path(place) / "table", Path(place)
    patterns = Path(place).parent / "patterns.yaml"
    options = ["--merge-speakers", "--hold-out", "banking77", "--runner", runner, "--out", str(table)]
    app(["prepare", source, *options, "--replace", str(patterns)], standalone_mode=False)
    build_view(table, out / "view", Windows(), source_weights={"log": 1.5})
    load = partial(load_noted, Path(model), out / "loads")
    build_vectors([table], out / "vectors", VectorOptions(load, on_ray=runner == "ray", turns_per_range=200))
    (out / "asked").write_text(str(os.getpid()))


def load_noted(model: Path, loads: Path) -> Encoder:
    """Load an encoder and note the process that did it."""
    with loads.open("a") as file:
        file.write(f"{os.getpid()}\n")
    return load_encoder(model)


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("benchmark")
def test_ray_gives_the_same_table_view_and_vectors(tmp_path: Path) -> None:
    rng = random.Random(7)
    rows = [random_dialogue(rng, f"d{n}") for n in range(300)]
    rows += [random_dialogue(random.Random(7), f"copy{n}") for n in range(3)]
    said = ["one is here", "how do I locate my card", "two is here", "three is here"]
    rows.append(Dialogue("held", "log", [Turn("a", "so"), *[Turn("b", text) for text in said], Turn("a", "fine")]))
    source, model = save(tmp_path / "in", rows), write_start(tmp_path / "model")
    native, ray = tmp_path / "native", tmp_path / "ray"
    (tmp_path / "patterns.yaml").write_text("- {name: NUMBER, pattern: '(?i)one|two|three'}\n")
    run_all("native", str(source), str(model), str(native))
    command = [sys.executable, "-c", CHILD, "ray", str(source), str(model), str(ray)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr

    manifests = [json.loads((out / "table" / "manifest.json").read_text()) for out in (native, ray)]
    assert manifests[0]["content_hash"] == manifests[1]["content_hash"]
    assert [manifest["counts"]["personal_data"]["NUMBER"] for manifest in manifests] == [3, 3]
    cut = [manifest["counts"]["contamination"] for manifest in manifests]
    assert cut[0] == cut[1]
    assert cut[0]["leaked_turns"] == 1
    assert files_of(native / "view") == files_of(ray / "view")
    hashes = [VectorTable(out / "vectors").manifest.content_hash for out in (native, ray)]
    assert hashes[0] == hashes[1]
    loads = (ray / "loads").read_text().split()
    assert len(loads) == len(set(loads))
    assert set(loads) > {(ray / "asked").read_text()}  # Workers encoded, not the process that asked them.
