"""Are the tests of the two files that all numbers rest on any good? Each small change of these files must fail one.

Usage: python -m studies.onboarding.mutants [FILE...]

Runs mutmut (pip install mutmut) on a copy of the project. Mutants that survive are listed in results.json.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tools.code_blocks import ROOT

from studies.lib.figures import record
from studies.lib.results import Results

RESULTS = Results("onboarding")
FILES = {
    "src/turnloom/objectives/contrast.py": ["tests/objectives/test_values.py", "tests/objectives/test_properties.py"],
    "src/turnloom/benchmarks/metrics.py": ["tests/benchmarks/test_metrics.py"],
}
SETTINGS = """
[tool.pytest.ini_options]
markers = ["slow", "cluster"]
addopts = "-m 'not slow' -p no:cacheprovider -x"

[tool.mutmut]
source_paths = ["src"]
only_mutate = [{file!r}]
pytest_add_cli_args_test_selection = {tests}
process_isolation = "forkserver"
use_git_change_detection = false
also_copy = ["conftest.py", "studies", "examples", "tools"]
"""
# mutmut 3.8 asks pytest 9 for a name that it no longer has.
FIX = "import pytest\n\npytest.Item._nodeid = property(lambda item: item.nodeid)\n"
KILLED = ("killed", "timeout")
_RESULT = re.compile(r"^\s*(\S+__mutmut_\d+): (.+)$")


def verdicts(file: str, tests: list[str]) -> dict[str, str]:
    """What became of each mutant of a file: killed, survived, timeout, ..."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for part in ("src", "tests", "studies", "examples", "tools"):
            shutil.copytree(ROOT / part, work / part, ignore=shutil.ignore_patterns("__pycache__", "results"))
        (work / "pyproject.toml").write_text(SETTINGS.format(file=file, tests=json.dumps(tests)))
        (work / "conftest.py").write_text(FIX)
        # One thread: forks of a process whose threads compute hang.
        run = {"cwd": work, "env": {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}}
        command = [sys.executable, "-m", "mutmut"]
        subprocess.run([*command, "run"], check=True, **run)  # type: ignore[call-overload]
        said = subprocess.run(  # type: ignore[call-overload]
            [*command, "results", "--all", "true"], check=True, capture_output=True, text=True, **run
        ).stdout
    return {found[1]: found[2] for line in said.splitlines() if (found := _RESULT.match(line))}


def main(*wanted: str) -> None:
    known: dict[str, dict[str, Any]] = RESULTS.runs().get("mutants", {})
    for file in wanted or FILES:
        found = verdicts(file, FILES[file])
        survived = sorted(name for name, what in found.items() if what not in KILLED)
        known[file] = {"counts": dict(Counter(found.values())), "survived": survived}
        RESULTS.put("mutants", known)
    counts = sum((Counter(one["counts"]) for one in known.values()), Counter[str]())
    killed = 100 * sum(counts[what] for what in KILLED) / counts.total()
    record("onboarding", {"mutants": counts.total(), "mutants_killed_percent": killed})


if __name__ == "__main__":
    main(*sys.argv[1:])
