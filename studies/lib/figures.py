"""The one way a study writes down a number: `figures.json`, flat name to number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

STUDIES = Path(__file__).parents[1]


def _rounded(value: float) -> float:
    """Six decimals, or three digits of what would be nothing otherwise."""
    return float(f"{value:.3g}") if 0 < abs(value) < 1e-4 else round(value, 6)


def record(study: str, figures: Mapping[str, float]) -> None:
    """Add figures to a study, or replace those of the same name."""
    path = STUDIES / study / "figures.json"
    known: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
    known.update({name: _rounded(value) for name, value in figures.items()})
    path.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n")
    for name, value in figures.items():
        print(f"{study}: {name} = {value}")
