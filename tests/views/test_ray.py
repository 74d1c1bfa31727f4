"""The same plan on a local Ray cluster, on loopback, gives the same files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.views.test_build import corpus, files_of, write_table

SCRIPT = """
import sys
from pathlib import Path
from turnloom.corpus.engine import use_runner
from turnloom.views import Windows, build_view

use_runner(sys.argv[1])
build_view(Path(sys.argv[2]), Path(sys.argv[3]), Windows(), source_weights={"inn": 1.5})
"""


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_ray_gives_the_same_files(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table", corpus(200), files=3)
    for runner in ("native", "ray"):
        command = [sys.executable, "-c", SCRIPT, runner, str(table), str(tmp_path / runner)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
    assert files_of(tmp_path / "ray") == files_of(tmp_path / "native")
