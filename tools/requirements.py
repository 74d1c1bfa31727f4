"""What pyproject.toml asks for: one place for the tools that need it. They need Python 3.11."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tomllib  # type: ignore[import-not-found,unused-ignore]  # Turnloom itself runs on 3.10, which has none.
from packaging.requirements import Requirement

__all__ = ["Wanted", "wanted"]

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


@dataclass(frozen=True)
class Wanted:
    """A direct dependency.

    Attributes:
        name: The distribution.
        lowest: The oldest version that is said to work.
        extra: The extra that asks for it; empty for what every install has.
    """

    name: str
    lowest: str
    extra: str


def wanted(path: Path = PROJECT) -> Iterator[Wanted]:
    """Every direct dependency, without Turnloom's own extras."""
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for extra, lines in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        for found in map(Requirement, lines):
            if found.name != project["name"]:
                lowest = next(part.version for part in found.specifier if part.operator == ">=")
                yield Wanted(found.name, lowest, extra)
