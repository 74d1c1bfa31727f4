"""What `pip install turnloom` costs, and what each extra adds.

Usage: python -m studies.onboarding.install

Seconds and megabytes of a new virtual environment, nothing taken from pip's cache; torch is its CPU build. Each extra
is installed into a copy of that environment. All of it, by name, is in results/install.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from studies.figures import record
from studies.onboarding.code_blocks import ROOT

RESULTS = Path(__file__).parent / "results" / "install.json"
TORCH = "torch==2.13.0"
"""Pinned: a plain range would pull gigabytes of CUDA libraries."""
EXTRAS = ("onnx", "replies", "serve", "plots", "privacy", "cluster", "bench")


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
        """Install the project, `extras` as in `[serve,plots]`; how many seconds that took."""
        begun = time.perf_counter()
        for what in (TORCH, f"{ROOT}{extras}"):
            subprocess.run([self.python, "-m", "pip", "install", "-q", "--no-cache-dir", what], check=True)
        return time.perf_counter() - begun

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
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    cost = found["turnloom"]
    record("onboarding", {"install_seconds": cost["seconds"], "install_megabytes": cost["megabytes"]})


if __name__ == "__main__":
    main()
