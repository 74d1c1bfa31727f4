"""Models that come as packages: installed once, then named instead of a folder."""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

__all__ = ["model_folder"]

GROUP = "turnwise.models"


def model_folder(source: str | Path) -> Path:
    """The folder of a model: the one that is named, or that of an installed package of this name.

    A package offers a model by an entry point of the group `turnwise.models` that names the module whose folder it is.

    Args:
        source: A folder, or such a name; a folder of that name comes first.
    """
    if not Path(source).exists():
        for point in entry_points(group=GROUP, name=str(source)):
            return Path(str(files(point.module)))
    return Path(source)
