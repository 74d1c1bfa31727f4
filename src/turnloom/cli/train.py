"""`turnloom train` and `turnloom init-config`: train an encoder or a re-ranker on conversations."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnloom.cli.console import TABLES, VECTORS, console, say, share_progress
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.training import Recipe, TrainResult

FEW_STEPS = 50
"""Fewer teach next to nothing, whatever the recipe."""


def init_config(recipe: str = typer.Argument("dse", help="Which recipe; an unknown name lists them.")) -> None:
    """Get a commented recipe to change and train with.

    [bold]Example[/]

    turnloom init-config dse > my.yaml && turnloom train my.yaml runs/corpus --start my-model/ --out runs/model
    """
    from turnloom.training.recipe import recipe_text

    typer.echo(recipe_text(recipe), nl=False)


def _changes(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    wrong = next((path for path, equals, _ in pairs if not equals), None)
    if wrong is not None:
        raise TurnloomError(f"--set {wrong}: no value", "write it as --set stages.0.batch_size=256")
    return {path: value for path, _, value in pairs}


def _validation(choice: str | None, recipe: Recipe) -> Any:
    """Return the function that validates, on the benchmarks' validation splits or on a dialogue table, if any."""
    from turnloom.benchmarks.validation import benchmark_score, reply_score, rerank_score

    if choice in (None, "none"):
        return None
    if recipe.reranks:
        return rerank_score(recipe.model.context, None if choice == "benchmarks" else Path(str(choice)))
    return benchmark_score() if choice == "benchmarks" else reply_score(Path(str(choice)))


def train(
    recipe: str = typer.Argument(..., help="A recipe's name (dse-heads, turnloom, ...) or a YAML file."),
    tables: list[Path] = TABLES,
    out: Path = typer.Option(..., help="The new model's folder."),
    start: Path | None = typer.Option(None, help="The base model; by default the recipe's own."),
    adapt: bool = typer.Option(
        False, help="Fine-tune a trained model (turnloom-mini by default) on these conversations."
    ),
    minutes: float | None = typer.Option(
        None,
        min=0.01,
        help="How long the whole command may take, instead of the recipe's epochs: building views, training, "
        "validation, refitting heads and saving.",
    ),
    change: list[str] = typer.Option([], "--set", help="Override one setting: stages.0.batch_size=256."),
    validation: str | None = typer.Option(
        None, help="Where the best checkpoint is chosen: a dialogue table you set aside, or 'benchmarks'."
    ),
    vectors: Path | None = VECTORS,
    resume: bool = typer.Option(False, help="Continue an interrupted run."),
) -> None:
    """Get a model that knows your conversations, without labels: an encoder, or a re-ranker.

    Interrupted? Run the same command with --resume. Stored vectors are for recipes that refit heads and leave the
    encoder as it is.

    [bold]Examples[/]

    turnloom train wmdc-heads runs/corpus --start all-MiniLM-L6-v2/ --out runs/model --minutes 30

    turnloom train ums runs/corpus --start all-MiniLM-L6-v2/ --out runs/reranker --minutes 45

    turnloom train turnloom runs/corpus --adapt --out runs/ours --minutes 15

    turnloom train conversation runs/vectors --start my-model/ --out runs/model

    turnloom train rerank runs/vectors --start runs/model --out runs/reranked

    turnloom train my.yaml runs/corpus --out runs/model --set stages.0.encoder_rate=3e-5 --resume

    turnloom train turnloom runs/corpus --adapt --out runs/ours --vectors vectors/ --set stages.0.encoder_rate=0

    torchrun --nproc-per-node 8 --no-python turnloom train dse runs/corpus --start my-model/ --out runs/model
    """
    began = time.monotonic()  # Imports and reading before training count too.
    from turnloom.runtime.model_folder import find_model

    changes = _changes(change)
    if start is not None:
        changes["model.start"] = str(start)
    if "model.start" in changes:  # Fail before seconds of imports: a recipe imports its losses, which import torch.
        find_model(changes["model.start"])
    from turnloom.training import load_recipe, trained_on_vectors
    from turnloom.training import train as run

    if trained_on_vectors(recipe):
        options = {"minutes": minutes, "began": began, "resume": resume}
        _train_on_vectors(recipe, changes, tables, out, adapt=adapt, **options)
        return
    wanted = load_recipe(recipe, changes, adapt=adapt)
    with share_progress() as show:
        result = run(
            wanted,
            tables,
            out,
            minutes=minutes,
            began=began,
            resume=resume,
            validate=_validation(validation, wanted),
            vectors=vectors,
            on_progress=show,
        )
    _summary(result, "ums" if wanted.reranks else "quick")


def _train_on_vectors(
    recipe: str, changes: dict[str, str], vectors: list[Path], out: Path, *, adapt: bool, **options: Any
) -> None:
    from turnloom.training import (
        ConversationRecipe,
        RerankRecipe,
        load_recipe,
        train_conversation,
        train_rerank,
        trained_on_vectors,
    )

    with share_progress() as show:
        if trained_on_vectors(recipe) == "rerank":
            reranks = load_recipe(recipe, changes, adapt=adapt, schema=RerankRecipe)
            result = train_rerank(reranks, vectors, out, on_progress=show, **options)
        else:
            reads = load_recipe(recipe, changes, adapt=adapt, schema=ConversationRecipe)
            result = train_conversation(reads, vectors, out, on_progress=show, **options)
    rate = result.contexts / max(60 * result.minutes, 1e-6)
    console.print(f"{result.steps:,} steps, {result.contexts:,} contexts, {rate:,.0f} per second")
    say(f"The model: {result.folder}")
    say(f"Next: turnloom replies build TABLE --model {result.folder} --vectors {vectors[0]} --out FOLDER")


def _summary(result: TrainResult, suite: str) -> None:
    seen = f"{result.steps:,} steps, {result.pairs:,} pairs, {result.tokens:,} tokens"
    console.print(f"{seen} in {result.minutes:.1f} minutes of training")
    if result.steps < FEW_STEPS:
        console.print(
            f"So few steps teach a model little. Fix: take at least {FEW_STEPS}, by --minutes or the recipe's steps"
        )
    if result.curve:
        best = max(result.curve, key=lambda point: point["score"])
        console.print(
            f"Validation: {result.curve[0]['score']:.2f} at first, {best['score']:.2f} at step {best['step']}"
        )
    say(f"The model: {result.folder}")
    say(f"Next: turnloom evaluate {result.folder} --suite {suite}")
