"""More than one process: torchrun and Ray Train around the one train function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from turnloom.errors import TurnloomError
from turnloom.training.recipe import Recipe

__all__ = ["first_process_first", "is_first_process", "train_on_ray"]


@contextmanager
def first_process_first() -> Iterator[None]:
    """The first process goes through the body before all others: it makes the files that they then find."""
    import torch
    from accelerate import PartialState

    # Joins the processes that torchrun or Ray has started, which the trainer would otherwise do later.
    state = PartialState(cpu=not torch.cuda.is_available())
    with state.main_process_first():
        yield


def is_first_process() -> bool:
    """Whether this process writes the files."""
    import torch.distributed as dist

    return not (dist.is_available() and dist.is_initialized()) or dist.get_rank() == 0


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

    The folder must be one that all nodes see. Ray starts all workers anew when one is lost, and each then resumes from
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
    from turnloom.training.run import WORK, train

    out = Path(settings["out"])
    train(
        Recipe.model_validate(settings["recipe"]),
        [Path(table) for table in settings["tables"]],
        out,
        minutes=settings["minutes"],
        resume=(out / WORK / "recipe.yaml").exists(),
    )
