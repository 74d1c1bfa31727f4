"""The data engine starts as quickly as it can."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
from turnloom.corpus.engine import daft
daft().from_pydict({"a": [1]}).collect()
print("ray" in sys.modules)
"""


def test_ray_is_not_imported_to_ask_whether_it_runs() -> None:
    pytest.importorskip("ray")
    environment = {name: value for name, value in os.environ.items() if name != "DAFT_RUNNER"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
