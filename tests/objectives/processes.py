"""Gradients on several processes and in mini-batches, beside those of one process with the whole batch.

The tests and a study read the same comparisons.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from tests.objectives.toy import COLUMNS, OBJECTIVES, Features, batch, frequencies, gradient, make, relative_error, take
from tests.objectives.toy import toy_encoder as encoder

ROWS = 14
CHUNKS = (1, 7, 32)
Errors = dict[str, float]
Truth = dict[str, Tensor]


def chunks(name: str, size: int) -> dict[str, int]:
    """The options for mini-batches of a size; rows of similarities are chunked along where there are any."""
    return (
        {"mini_batch_size": size}
        if name in ("masked-language", "taught", "templates")
        else {"mini_batch_size": size, "row_chunk": size}
    )


def whole_gradient(name: str, **options: Any) -> Tensor:
    """The gradient of the whole batch in one process."""
    loss = make(name, encoder(), **options)
    loss(batch(ROWS, COLUMNS.get(name, 2)), frequencies(ROWS)).backward()
    return gradient(loss)


def cached_errors() -> Errors:
    """How far mini-batches and row chunks are from the whole batch, in one process."""
    truth = {name: whole_gradient(name) for name in OBJECTIVES}
    return {
        f"{name}/{size}": relative_error(whole_gradient(name, **chunks(name, size)), truth[name])
        for name in OBJECTIVES
        for size in CHUNKS
    }


def own_rows(even: bool) -> slice:
    """This process's part of the batch: about the same number of rows each, or one each and the rest for the last."""
    world, rank = dist.get_world_size(), dist.get_rank()
    edges = [ROWS * place // world for place in range(world + 1)] if even else [*range(world), ROWS]
    return slice(edges[rank], edges[rank + 1])


def parallel_gradient(name: str, even: bool = True, **options: Any) -> Tensor:
    """One step as a trainer does it: the encoder wrapped, the loss not, other heads in each process."""
    columns, labels = take(batch(ROWS, COLUMNS.get(name, 2)), frequencies(ROWS), own_rows(even))
    loss: Any = make(name, encoder(), **options)
    encoders = {id(parameter) for parameter in loss.model.parameters()}
    for parameter in loss.parameters():
        if dist.get_rank() > 0 and id(parameter) not in encoders:
            torch.nn.init.normal_(parameter)
    wrapped = DistributedDataParallel(loss.model)
    for part in loss.modules():
        if hasattr(part, "model"):
            part.model = wrapped
    loss(columns, labels).backward()
    return gradient(loss)


def drift(loss: nn.Module, head: nn.Module, columns: list[Features]) -> float:
    """How far a step takes a head of this process from that of the first; each process has drawn its own."""
    if dist.get_rank() > 0:
        for parameter in head.parameters():
            torch.nn.init.normal_(parameter)
    loss(take(columns, frequencies(ROWS), own_rows(even=True))[0]).backward()
    own = torch.cat([torch.cat([one.data.flatten(), one.grad.flatten()]) for one in head.parameters()])  # type: ignore[union-attr]
    first = own.clone()
    dist.broadcast(first, 0)
    return relative_error(own, first)


def parallel_errors(truth: Truth) -> Errors:
    """How far processes are from the whole batch: for even and uneven parts, and in mini-batches of each size."""
    found = {}
    for name, true in truth.items():
        found[f"{name}/even"] = relative_error(parallel_gradient(name), true)
        found[f"{name}/uneven"] = relative_error(parallel_gradient(name, even=False), true)
        for size in CHUNKS if dist.get_world_size() == 2 else ():
            cached = parallel_gradient(name, even=False, **chunks(name, size))
            found[f"{name}/cached/{size}"] = relative_error(cached, true)
    return found


def _work(rank: int, worlds: tuple[int, ...], folder: str, task: Callable[[Truth], Errors]) -> None:
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    truth = {name: whole_gradient(name) for name in OBJECTIVES}
    for world in worlds:
        if rank < world:
            meeting = f"file://{folder}/meeting-{world}"
            dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world)
            found = task(truth)
            (Path(folder) / f"{world}-{rank}.json").write_text(json.dumps(found))
            dist.destroy_process_group()


def on_processes(task: Callable[[Truth], Errors], worlds: tuple[int, ...] = (2, 3)) -> Errors:
    """What a task finds on each number of processes, as "processes/rank/name"; they are started once."""
    with tempfile.TemporaryDirectory() as folder:
        # Importing takes longer than all comparisons: one server imports, the processes come out of it.
        multiprocessing.set_forkserver_preload([__name__, "torch._dynamo"])
        torch.multiprocessing.start_processes(  # type: ignore[no-untyped-call, attr-defined]
            _work, (worlds, folder, task), nprocs=max(worlds), start_method="forkserver"
        )
        return {
            f"{path.stem.replace('-', '/')}/{name}": error
            for path in sorted(Path(folder).glob("*.json"))
            for name, error in json.loads(path.read_text()).items()
        }
