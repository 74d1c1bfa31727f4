"""Run training, from a dialogue table and a recipe to a model folder, with any number of interruptions."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turnloom.corpus.table import read_manifest
from turnloom.errors import TurnloomError
from turnloom.files import write_whole
from turnloom.runtime.protocols import Progress
from turnloom.training.clock import RunClock
from turnloom.training.folder import WORK, claim, release, save_model, write_card
from turnloom.training.recipe import Recipe

Validate = Callable[[Any], dict[str, float]]


@dataclass
class TrainResult:
    """What a run did.

    Attributes:
        folder: The model's folder.
        steps: The number of training steps.
        pairs: The number of training pairs seen; repeated ones count again.
        tokens: The tokens of these pairs, without padding.
        minutes: Minutes of training, without evaluation and saving.
        rows: The number of training pairs by source.
        curve: Validation scores over the run.
        bf16: Whether training computed in bfloat16.
    """

    folder: Path
    steps: int = 0
    pairs: int = 0
    tokens: int = 0
    minutes: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    curve: list[dict[str, float]] = field(default_factory=list)
    bf16: bool = False

    def add(self, done: dict[str, Any]) -> None:
        """Add the counts of a stage."""
        self.steps += done["steps"]
        self.pairs += done["pairs"]
        self.tokens += done["tokens"]
        self.minutes += done["minutes"]
        self.curve += done["curve"]
        for source, count in done["rows"].items():
            self.rows[source] = self.rows.get(source, 0) + count


def train(
    recipe: Recipe,
    tables: Sequence[Path],
    out: Path,
    *,
    minutes: float | None = None,
    began: float | None = None,
    resume: bool = False,
    validate: Validate | None = None,
    vectors: Path | None = None,
    on_progress: Progress = lambda *_: None,
) -> TrainResult:
    """Train a model with a recipe.

    This function works in a single process, under `torchrun`, and in each worker of Ray Train.

    With `minutes`, the whole run ends in time and leaves a model: loading, views, training, validation, refitting heads
    and saving all count, and so does the time before an interruption. If the recipe refits heads, this gets a quarter;
    the stages share the rest equally. Tables that are too large to build views from in time are sampled. To compare
    methods by their training alone, set `minutes` in the recipe's stages instead.

    Args:
        recipe: The recipe.
        tables: The folders of dialogue tables.
        out: The new model's folder.
        minutes: How long the run may take, instead of the recipe's epochs or steps.
        began: When these minutes began, by `time.monotonic`; by default when the function is called.
        resume: Whether to continue an interrupted run in this folder.
        validate: Returns a model's validation scores; `score` decides which checkpoint to keep.
        vectors: A vector table of the base model to refit heads on, if the recipe leaves the encoder as it is.
        on_progress: Called with a step, the share of it that is done, and a note.

    Raises:
        TurnloomError: If the recipe does not fit the data or the model, or the folder contains another run.
    """
    from sentence_transformers import CrossEncoder

    from turnloom.objectives.gathering import first_process_first, is_first_process
    from turnloom.training.base_model import as_cross_encoder, context_formats, load_base_model
    from turnloom.training.data import tables_within
    from turnloom.training.refit import open_vectors
    from turnloom.training.stage import StageRun
    from turnloom.training.validation import Looks

    work = out / WORK
    clock = RunClock(minutes, time.monotonic() if began is None else began)
    hashes = [read_manifest(table).content_hash for table in tables]
    on_progress("loading the base model", 0.0, "")
    model, heads = load_base_model(recipe)
    stored = open_vectors(vectors, recipe) if vectors is not None else None
    with first_process_first():
        if is_first_process():
            claim(recipe, hashes, work, resume=resume)
    on_progress("loading the base model", 1.0, "")
    clock.resume(work)
    context, saved_context = context_formats(recipe, goes_on=heads is not None)
    reads = recipe.model.max_length if recipe.reranks else model.max_seq_length or 512
    result, losses = TrainResult(out, bf16=recipe.computes_in_bf16), {}
    looks = Looks(validate, on_progress) if validate is not None else None
    try:
        with first_process_first():
            used = tables if minutes is None else tables_within(tables, minutes, work, on_progress)
        for number, stage in enumerate(recipe.stages):
            window = clock.window(number, len(recipe.stages), refits=recipe.refit is not None)
            if stage.reranks and not isinstance(model, CrossEncoder):
                model = as_cross_encoder(model, recipe)
            folder = work / f"stage-{number}"
            run = StageRun(recipe, stage, model, heads, context, folder, clock, window, looks, on_progress)
            result.add(run.train(used, resume))
            losses = run.losses
        if recipe.refit is not None and (scores := run.refit(stored)):
            result.curve.append({"step": result.steps, "minutes": result.minutes, **scores})
    except TurnloomError:
        if is_first_process():
            release(work)
        raise
    on_progress("saving", 0.0, "")
    if is_first_process():
        _finish(recipe, model, losses, reads, saved_context, result)
    on_progress("saving", 1.0, "")
    return result


def _finish(recipe: Recipe, model: Any, losses: dict[str, Any], reads: int, context: Any, result: TrainResult) -> None:
    """Write the model, its card and the curve, and delete the checkpoints."""
    from turnloom.training.losses import keep_heads, trained_heads

    if recipe.keep_heads:
        model = keep_heads(model, trained_heads(losses))
    seen = {"steps": result.steps, "pairs": result.pairs, "tokens": result.tokens, "minutes": result.minutes}
    citations = list(dict.fromkeys(getattr(loss, "citation", "") for loss in losses.values()))
    card = write_card(
        recipe,
        name=result.folder.resolve().name,
        base="" if recipe.model.random else Path(str(recipe.model.start)).name,
        rows=result.rows,
        seen=seen,
        curve=result.curve,
        citations=citations,
        context=context,
    )
    save_model(model, result.folder, max_length=reads, context=context, card=card, older_keys=not recipe.reranks)
    summary = {**seen, "bf16": result.bf16, "rows": result.rows, "curve": result.curve}
    write_whole(result.folder / WORK / "result.json", json.dumps(summary, indent=1) + "\n")
    for number in range(len(recipe.stages)):
        for checkpoint in (result.folder / WORK / f"stage-{number}").glob("checkpoint-*"):
            shutil.rmtree(checkpoint)


def train_on_ray(
    recipe: Recipe,
    tables: list[Path],
    out: Path,
    *,
    workers: int,
    minutes: float | None = None,
    failures: int = 3,
) -> None:
    """Train on the workers of a Ray cluster. Losing a worker costs the steps since the last checkpoint.

    All nodes must have access to the tables and the model's folder. When a worker is lost, Ray restarts all of them, at
    most `failures` times. They resume from the newest complete checkpoint on disk, since Ray's record may lag behind.
    """
    try:
        from ray.train import FailureConfig, RunConfig, ScalingConfig
        from ray.train.torch import TorchTrainer
    except ImportError as error:
        raise TurnloomError("training on a cluster needs Ray", "pip install 'turnloom[cluster]'") from error
    settings: dict[str, Any] = {
        "recipe": recipe.model_dump(mode="json"),
        "tables": [str(table) for table in tables],
        "out": str(out),
        "minutes": minutes,
    }
    TorchTrainer(
        _ray_worker,
        train_loop_config=settings,
        scaling_config=ScalingConfig(num_workers=workers),
        run_config=RunConfig(
            name=out.name,
            storage_path=str((out / "ray").resolve()),
            failure_config=FailureConfig(max_failures=failures),
        ),
    ).fit()


def _ray_worker(settings: dict[str, Any]) -> None:
    out = Path(settings["out"])
    train(
        Recipe.model_validate(settings["recipe"]),
        [Path(table) for table in settings["tables"]],
        out,
        minutes=settings["minutes"],
        resume=(out / WORK / "recipe.yaml").exists(),
    )
