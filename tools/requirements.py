"""The requirements in pyproject.toml, parsed once for the tools that need them. Needs Python 3.11."""

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
        lowest: The oldest supported version.
        extra: The extra that needs it; empty for every install.
        wish: Its name, with those of its own extras that are needed.
    """

    name: str
    lowest: str
    extra: str
    wish: str = ""


def wanted(path: Path = PROJECT) -> Iterator[Wanted]:
    """Return every direct dependency, without Turnloom's own extras."""
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for extra, lines in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        for found in map(Requirement, lines):
            if found.name != project["name"]:
                lowest = next(part.version for part in found.specifier if part.operator == ">=")
                extras = f"[{','.join(sorted(found.extras))}]" if found.extras else ""
                yield Wanted(found.name, lowest, extra, found.name + extras)
