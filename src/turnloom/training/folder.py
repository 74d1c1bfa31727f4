"""The model folder: a run claims it, and leaves an ordinary model with a card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

import turnloom
from turnloom.corpus.catalog import load_catalog
from turnloom.errors import TurnloomError
from turnloom.files import WholeFolder, refuse_other_files, write_whole
from turnloom.runtime.context_format import FILE, ContextFormat
from turnloom.runtime.model_folder import NOT_THE_MODEL, folder_fingerprint, model_folder
from turnloom.training.clock import CLOCK
from turnloom.training.recipe import Recipe, load_recipe
from turnloom.training.vector_recipe import VectorRecipe

WORK = "training"
"""The folder inside the model's folder for the recipe, the validation curve, and checkpoints during a run."""
RECIPE, INPUTS = "recipe.yaml", "inputs.json"
CONFIG = "config.json"
"""Every model's folder has this file, and can't be loaded without it."""
_POOLINGS = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
_OLDER_NAMES = {
    "cls": "cls_token",
    "mean": "mean_tokens",
    "max": "max_tokens",
    "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "weightedmean": "weightedmean_tokens",
    "lasttoken": "lasttoken",
}


def claim(recipe: Recipe | VectorRecipe, tables: Sequence[str], work: Path, *, resume: bool) -> None:
    """Record which run uses the folder, so that another run neither overwrites nor resumes it.

    `tables` are the content hashes of the training data.
    """
    settings = yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
    inputs = {
        "tables": sorted(tables),
        "base_model": folder_fingerprint(model_folder(str(recipe.model.start))),
    }
    if (work / RECIPE).exists():
        if not resume:
            raise TurnloomError(f"{work.parent} holds a run already", "go on with --resume, or choose another --out")
        if load_recipe(str(work / RECIPE), schema=type(recipe)) != recipe:
            raise TurnloomError(f"{work / RECIPE} is another recipe", "resume with the one the run began with")
        if (work / INPUTS).exists():
            before = json.loads((work / INPUTS).read_text(encoding="utf-8"))
            began, again = f"the run in {work.parent} began", "or start again with another --out"
            if before["tables"] != inputs["tables"]:
                raise TurnloomError(f"{began} with other tables", f"resume with those, {again}")
            if before["base_model"] != inputs["base_model"]:
                problem = f"{recipe.model.start} has changed since {began}"
                raise TurnloomError(problem, f"restore that base model, {again}")
    else:
        refuse_other_files(work.parent, "a model", beside=NOT_THE_MODEL)
    work.mkdir(parents=True, exist_ok=True)
    write_whole(work / INPUTS, json.dumps(inputs, indent=1) + "\n")
    write_whole(work / RECIPE, settings)


def release(work: Path) -> None:
    """Release the folder if there is no checkpoint yet: the command may have been wrong."""
    if not any(work.glob("stage-*/checkpoint-*")) and not any(work.glob("stage-*/finished*")):
        for name in (RECIPE, INPUTS, CLOCK):
            (work / name).unlink(missing_ok=True)


def _change_json(path: Path, more: dict[str, Any]) -> None:
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**found, **more}, indent=2) + "\n", encoding="utf-8")


def _add_older_keys(folder: Path, max_length: int) -> None:
    """Add the keys that servers expect from older folders: one per pooling, and the maximum length.

    text-embeddings-inference reads `pooling_mode_*` in `1_Pooling/config.json` and `max_seq_length` in
    `sentence_bert_config.json`; sentence-transformers 6.2 no longer writes either.
    """
    for path in folder.glob("*_Pooling/config.json"):
        config = json.loads(path.read_text(encoding="utf-8"))
        mode = config.get("pooling_mode")
        if isinstance(mode, str) and mode in _OLDER_NAMES:
            older = {f"pooling_mode_{name}": name == _OLDER_NAMES[mode] for name in _POOLINGS}
            _change_json(path, older)
    _change_json(folder / "sentence_bert_config.json", {"max_seq_length": max_length, "do_lower_case": False})


def save_model(
    model: Any, folder: Path, *, max_length: int, context: ContextFormat, card: str, older_keys: bool = True
) -> None:
    """Write a model's folder completely or not at all; an older model is replaced, other files stay."""
    # Don't lose the model over files that a user added during the run: `train` has checked the folder before.
    whole = WholeFolder(folder, CONFIG, "a model", keep_others=True)
    model.max_seq_length = max_length
    model.save_pretrained(str(whole.new), create_model_card=False)
    if older_keys:
        _add_older_keys(whole.new, max_length)
    (whole.new / FILE).write_text(context.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (whole.new / "README.md").write_text(card, encoding="utf-8")
    whole.commit()


def write_card(
    recipe: Recipe,
    *,
    name: str,
    base: str,
    rows: dict[str, int],
    seen: dict[str, float],
    curve: Sequence[dict[str, float]],
    citations: Sequence[str],
    context: ContextFormat,
) -> str:
    """Return a model card's text. An empty `base` means random weights; `seen` has steps, pairs, tokens and minutes."""
    front: dict[str, Any] = {
        "language": ["en"],
        "library_name": "sentence-transformers",
        "pipeline_tag": "text-ranking" if recipe.reranks else "sentence-similarity",
        "tags": list(dict.fromkeys(["sentence-transformers", "dialogue", "turnloom", recipe.name])),
        **({"base_model": base} if base else {}),
    }
    # The base model's path describes a user's machine, not the model.
    named = recipe.model_copy(update={"model": recipe.model.model_copy(update={"start": base or None})})
    text = resources.files("turnloom.training").joinpath("model_card.md").read_text(encoding="utf-8")
    card = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    return card.from_string(text).render(
        front=yaml.safe_dump(front, sort_keys=False),
        name=name,
        version=turnloom.__version__,
        recipe=recipe,
        base=base,
        context=context,
        seen=seen,
        rows=sorted(rows.items(), key=lambda item: -item[1]),
        catalog=load_catalog(),
        curve=curve,
        scores=[score for score in curve[-1] if score not in ("step", "minutes")] if curve else [],
        settings=yaml.safe_dump(named.model_dump(mode="json"), sort_keys=False),
        citations=[citation.strip() for citation in citations if citation.strip()],
    )
