"""What `pip install .` costs in a clone, and what each extra adds.

Usage: python -m studies.onboarding.install

Also runs the install lines of the README and the tutorial, and counts them.
Seconds and megabytes of a new virtual environment, nothing taken from pip's cache; torch is its CPU build. Each extra
is installed into a copy of that environment. All of it, by name, is in results.json.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tools.code_blocks import ROOT
from tools.first_install import install_lines

from studies.lib.figures import record
from studies.lib.results import Results

TORCH = "torch==2.13.0"
"""Pinned: a plain range would pull gigabytes of CUDA libraries."""
EXTRAS = ("onnx", "replies", "serve", "privacy", "cluster", "bench")


@dataclass(frozen=True)
class Environment:
    """A virtual environment of its own, made when first needed."""

    place: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        if not self.place.exists():
            subprocess.run([sys.executable, "-m", "venv", self.place], check=True)
        return self.place / "bin" / "python"

    def install(self, extras: str = "") -> float:
        """Install the project, `extras` as in `[serve,privacy]`; how many seconds that took."""
        begun = time.perf_counter()
        for what in (TORCH, f"{ROOT}{extras}"):
            subprocess.run([self.python, "-m", "pip", "install", "-q", "--no-cache-dir", what], check=True)
        return time.perf_counter() - begun

    def run(self, line: str) -> None:
        """Run a line in the clone with this environment's Python first; only torch is held to its CPU build."""
        path = f"{self.python.parent}:{os.environ['PATH']}"
        pinned = self.place / "torch.txt"
        pinned.write_text(f"{TORCH}\n", encoding="utf-8")
        settings = {**os.environ, "PATH": path, "PIP_CONSTRAINT": str(pinned), "PIP_NO_COMPILE": "1"}
        subprocess.run(["bash", "-c", line], cwd=ROOT, env=settings, check=True)

    def megabytes(self) -> float:
        """What its files take, counted in blocks of the disk."""
        said = subprocess.run(["du", "-sm", self.place], check=True, capture_output=True, text=True).stdout
        return float(said.split()[0])

    def copy(self, place: Path) -> Environment:
        """Another one with the same packages, by hard links."""
        subprocess.run(["cp", "-al", self.place, place], check=True)
        return Environment(place)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain = Environment(Path(folder) / "plain")
        _ = plain.python
        empty = plain.megabytes()
        seconds = plain.install()
        base = plain.megabytes()
        found = {"turnloom": {"seconds": round(seconds, 1), "megabytes": base - empty}}
        for extra in EXTRAS:
            more = plain.copy(Path(folder) / extra)
            seconds = more.install(f"[{extra}]")
            found[extra] = {"seconds": round(seconds, 1), "megabytes": more.megabytes() - base}
            print(extra, found[extra], flush=True)
        Environment(Path(folder) / "as-written").run("python -m tools.first_install")
    Results("onboarding").put("install", found)
    cost = found["turnloom"]
    record("onboarding", {"install_seconds": cost["seconds"], "install_megabytes": cost["megabytes"]})
    record("onboarding", {"install_lines_run": len(install_lines())})


if __name__ == "__main__":
    main()
