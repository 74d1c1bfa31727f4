"""State shared by several training processes: vectors, counts, and head parameters.

Gathering vectors is easy to get wrong without noticing: the loss is right and the gradient is not. Here the
gradient of a gathered row goes back to the process that made it, summed over all processes that used it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.func import functional_call


def world_size() -> int:
    """The number of training processes; 1 without `torch.distributed`."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def process_number() -> int:
    """This training process's number, from 0."""
    return dist.get_rank() if world_size() > 1 else 0


def share_of(rows: int, process: int, processes: int) -> slice:
    """Return which of some rows one of several processes has.

    Example:
        >>> [share_of(5, process, 2) for process in (0, 1)]
        [slice(0, 2, None), slice(2, 5, None)]
    """
    return slice(rows * process // processes, rows * (process + 1) // processes)


@contextmanager
def first_process_first() -> Iterator[None]:
    """Let the first process run the body before all others, so that they find the files it creates."""
    from accelerate import PartialState

    # Join the processes started by torchrun or Ray, which the trainer would otherwise do later.
    state = PartialState(cpu=not torch.cuda.is_available())
    with state.main_process_first():
        yield


def is_first_process() -> bool:
    """Whether this process writes files."""
    return not (dist.is_available() and dist.is_initialized()) or dist.get_rank() == 0


def total(value: Tensor) -> Tensor:
    """Sum a value over all processes, without gradient."""
    value = value.detach().clone()
    if world_size() > 1:
        dist.all_reduce(value)
    return value


def from_first_process(value: float, device: torch.device) -> float:
    """Return the first process's value, so that all make the same decision."""
    if world_size() == 1:
        return value
    shared = torch.tensor(value, dtype=torch.float64, device=device)
    dist.broadcast(shared, 0)
    return float(shared)


def _row_counts(rows: int, device: torch.device) -> list[int]:
    own = torch.tensor([rows], device=device)
    counts = [torch.empty_like(own) for _ in range(world_size())]
    dist.all_gather(counts, own)
    return [int(count) for count in counts]


def _collect(tensor: Tensor, counts: list[int]) -> Tensor:
    """Collect the rows of all processes. Collectives need equal shapes, so shorter ones are padded and cut again."""
    filled = tensor.new_zeros((max(counts), *tensor.shape[1:]))
    filled[: tensor.shape[0]] = tensor
    parts = [torch.empty_like(filled) for _ in counts]
    dist.all_gather(parts, filled)
    return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Tensor, counts: list[int]) -> Tensor:
        before = sum(counts[: dist.get_rank()])
        ctx.own = slice(before, before + tensor.shape[0])
        return _collect(tensor, counts)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        # Every process used these rows, so each holds a share of their gradient.
        gradient = gradient.contiguous().clone()
        dist.all_reduce(gradient)
        return gradient[ctx.own], None


def gather_rows(tensor: Tensor) -> Tensor:
    """Gather the rows of all processes in rank order, differentiably; row counts may differ."""
    if world_size() == 1:
        return tensor
    counts = _row_counts(tensor.shape[0], tensor.device)
    if not tensor.is_floating_point():
        return _collect(tensor, counts)
    gathered: Tensor = _Gather.apply(tensor, counts)  # type: ignore[no-untyped-call, unused-ignore]
    return gathered


def own_offset(rows: int, device: torch.device) -> int:
    """Return where this process's rows start among those of all processes."""
    return sum(_row_counts(rows, device)[: dist.get_rank()]) if world_size() > 1 else 0


class _Shared(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *parameters: Tensor) -> tuple[Tensor, ...]:  # noqa: ARG004
        return tuple(parameter.view_as(parameter) for parameter in parameters)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:  # noqa: ARG004
        averaged = [gradient.contiguous().clone() for gradient in gradients]
        for gradient in averaged:
            dist.all_reduce(gradient)
            gradient.div_(world_size())
        return tuple(averaged)


class SharedHead:
    """A head inside a loss, kept identical in all processes.

    A trainer wraps the encoder for data-parallel training, but not the loss; without this class, heads inside a loss
    would drift apart. It is not a module itself, so that the loss registers the head only once.
    """

    def __init__(self, head: nn.Module) -> None:
        self._head = head
        self._agreed = False

    def parameters(self) -> dict[str, Tensor]:
        """Return parameters by name for `torch.func.functional_call`; their gradient is the mean over all processes."""
        if world_size() > 1 and not self._agreed:
            for parameter in self._head.parameters():  # Each process has initialised its own at random.
                dist.broadcast(parameter.data, 0)
        self._agreed = True
        named = dict(self._head.named_parameters())
        trained = [name for name, parameter in named.items() if parameter.requires_grad]
        if world_size() == 1 or not trained:
            return dict(named)
        shared = _Shared.apply(*(named[name] for name in trained))  # type: ignore[no-untyped-call, unused-ignore]
        return {**named, **dict(zip(trained, shared, strict=True))}

    def __call__(self, vectors: Tensor) -> Tensor:
        """Apply the head. Each call exchanges gradients; to apply it several times per step, take `parameters` once."""
        found: Tensor = functional_call(self._head, self.parameters(), (vectors,))
        return found
