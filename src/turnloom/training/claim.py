"""Whose run a folder holds: it goes on with the same recipe, tables and base model, or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from turnloom.corpus.table import read_manifest
from turnloom.errors import TurnloomError
from turnloom.files import refuse_other_files, write_whole
from turnloom.runtime.fingerprint import NOT_THE_MODEL, folder_fingerprint
from turnloom.runtime.installed import model_folder
from turnloom.training.clock import CLOCK
from turnloom.training.recipe import Recipe, load_recipe

__all__ = ["claim", "release"]

RECIPE, INPUTS = "recipe.yaml", "inputs.json"


def claim(recipe: Recipe, tables: Sequence[Path], work: Path, *, resume: bool) -> None:
    """Note what runs here, so that another run neither overwrites it nor goes on from it.

    Args:
        recipe: What to do.
        tables: Folders of dialogue tables.
        work: The folder of the run.
        resume: Whether to go on with the run that is there.

    Raises:
        TurnloomError: If the folder holds a run that is not to be resumed, or one with another recipe, other tables or
            another base model.
    """
    settings = yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
    inputs = {
        "tables": sorted(read_manifest(table).content_hash for table in tables),
        "base_model": folder_fingerprint(model_folder(str(recipe.model.start))),
    }
    if (work / RECIPE).exists():
        if not resume:
            raise TurnloomError(f"{work.parent} holds a run already", "go on with --resume, or choose another --out")
        if load_recipe(str(work / RECIPE)) != recipe:
            raise TurnloomError(f"{work / RECIPE} is another recipe", "resume with the one the run began with")
        if (work / INPUTS).exists():
            _compare(recipe, json.loads((work / INPUTS).read_text(encoding="utf-8")), inputs, work.parent)
    refuse_other_files(work.parent, "a model", beside=NOT_THE_MODEL)
    work.mkdir(parents=True, exist_ok=True)
    write_whole(work / INPUTS, json.dumps(inputs, indent=1) + "\n")
    write_whole(work / RECIPE, settings)


def _compare(recipe: Recipe, before: Mapping[str, object], inputs: Mapping[str, object], out: Path) -> None:
    another = "or start again with another --out"
    if before["tables"] != inputs["tables"]:
        raise TurnloomError(f"the run in {out} began with other tables", f"resume with those, {another}")
    if before["base_model"] != inputs["base_model"]:
        problem = f"{recipe.model.start} has changed since the run in {out} began"
        raise TurnloomError(problem, f"restore that base model, {another}")


def release(work: Path) -> None:
    """Let another run have the folder if nothing was learned in it yet: the command may have been wrong."""
    if not any(work.glob("stage-*/checkpoint-*")) and not any(work.glob("stage-*/finished*")):
        for name in (RECIPE, INPUTS, CLOCK):
            (work / name).unlink(missing_ok=True)
