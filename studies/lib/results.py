"""The raw results of a study, in one file: `results.json`, one line for each run, by its name.

Usage: python -m studies.lib.results STUDY RUN MODEL [OPTION...]

Runs `turnloom evaluate MODEL OPTION...` and keeps what it measures as a run of the study. Tasks whose result is there
are not run again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.lib.figures import STUDIES
from turnloom.benchmarks import RunResult

__all__ = ["Results"]

UNFINISHED = Path("runs/results")


@dataclass(frozen=True)
class Results:
    """The runs of a study: each has a name and one or more JSON documents.

    A training run has `training` (how it went), `results` (what `turnloom evaluate` wrote) and, when both are there,
    `done`.

    Attributes:
        study: The study's folder below `root`.
        root: Where the studies are.
    """

    study: str
    root: Path = STUDIES

    @property
    def path(self) -> Path:
        """The file."""
        return self.root / self.study / "results.json"

    def runs(self) -> dict[str, dict[str, Any]]:
        """The documents of every run."""
        found: dict[str, dict[str, Any]] = json.loads(self.path.read_text()) if self.path.exists() else {}
        return found

    def get(self, run: str, document: str) -> Any:
        """A document of a run; None if it is not there."""
        return self.runs().get(run, {}).get(document)

    def put(self, run: str, documents: Mapping[str, Any]) -> None:
        """Add documents to a run, or replace those of the same name."""
        runs = self.runs()
        runs[run] = {**runs.get(run, {}), **documents}
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(runs[name])}" for name in sorted(runs))
        self.path.write_text(f"{{\n{lines}\n}}\n")

    def is_done(self, run: str) -> bool:
        """Whether a run was trained and measured to the end."""
        return self.get(run, "done") is not None

    def curve(self, run: str) -> list[dict[str, float]]:
        """The validation scores of a training run, the last one last."""
        curve: list[dict[str, float]] = self.get(run, "training")["curve"]
        return curve

    def scores(self, run: str) -> RunResult | None:
        """What `turnloom evaluate` measured of a run, if it did."""
        found = self.get(run, "results")
        return None if found is None else RunResult.model_validate_json(json.dumps(found))

    @contextmanager
    def folder(self, run: str) -> Iterator[Path]:
        """A folder with the documents of a run as files; at the end its files are the run's documents.

        That is what `turnloom evaluate --out` reads and writes. If it is interrupted, the folder stays, and the next
        call continues with it.
        """
        folder = UNFINISHED / self.study / run
        folder.mkdir(parents=True, exist_ok=True)
        for name, document in self.runs().get(run, {}).items():
            path = folder / f"{name}.json"
            if not path.exists():
                path.write_text(json.dumps(document))
        yield folder
        self.put(run, {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))})
        shutil.rmtree(folder)

    def evaluate(self, run: str, model: str, *options: str) -> None:
        """Measure a model with `turnloom evaluate` as a run of the study."""
        with self.folder(run) as folder:
            subprocess.run(["turnloom", "evaluate", model, *options, "--out", str(folder)], check=True)


def main(study: str, run: str, model: str, *options: str) -> None:
    Results(study).evaluate(run, model, *options)


if __name__ == "__main__":
    main(*sys.argv[1:])
