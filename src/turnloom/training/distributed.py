"""Ray Train around the one train function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turnloom.errors import TurnloomError
from turnloom.training.folder import WORK
from turnloom.training.recipe import Recipe
from turnloom.training.run import train

__all__ = ["train_on_ray"]


def train_on_ray(
    recipe: Recipe,
    tables: list[Path],
    out: Path,
    *,
    workers: int,
    minutes: float | None = None,
    failures: int = 3,
) -> None:
    """Train on the workers of a Ray cluster; a lost worker costs the steps since the last checkpoint.

    The folder must be one that all nodes see. Ray restarts all workers when one is lost, and each then resumes from
    the newest whole checkpoint in it: Turnloom's own, since Ray's record may lag behind what is on disk.

    Args:
        recipe: What to do.
        tables: Folders of dialogue tables, seen by all nodes.
        out: The model's folder, seen by all nodes.
        workers: How many processes.
        minutes: As for `train`.
        failures: How many times workers may be lost.
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
