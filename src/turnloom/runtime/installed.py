"""Models that come as packages: installed once, then named instead of a folder."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from turnloom.errors import TurnloomError
from turnloom.plugins import find_plugin

__all__ = ["find_model", "model_folder", "no_model"]

GROUP = "turnloom.models"


def model_folder(source: str | Path) -> Path:
    """The folder of a model: the one that is named, or that of an installed package of this name.

    A package offers a model by an entry point of the group `turnloom.models` that names the module whose folder it is.

    Args:
        source: A folder, or such a name; a folder of that name comes first.

    Raises:
        TurnloomError: If two packages have a model of that name, or the package cannot be imported.
    """
    plugin = None if Path(source).exists() else find_plugin(GROUP, str(source), ())
    return Path(source) if plugin is None else Path(str(files(plugin.load())))


def no_model(folder: Path) -> TurnloomError:
    """The error for a folder without a model."""
    return TurnloomError(
        f"{folder} holds no model", "give the folder of a SentenceTransformer, or install the package of that name"
    )


def find_model(source: str | Path) -> Path:
    """The folder of a model, as `model_folder` finds it, if there is one.

    Commands call this before they import what loads models, which takes seconds.

    Raises:
        TurnloomError: If there is no such folder.
    """
    folder = model_folder(source)
    if not folder.is_dir():
        raise no_model(folder)
    return folder
