"""The loss of the conversation encoder: against a loop, a hand-computed number, and over processes."""

from __future__ import annotations

import math
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from turnloom.objectives.next_reply import next_reply_loss

TEXTS = torch.tensor([1, 2, 3, 1, 4, 5, 6])
DIALOGUES = torch.tensor([0, 0, 1, 2, 2, 3, 4])


def pairs() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    return torch.randn(7, 4), torch.randn(7, 4), torch.rand(7) + 0.5


def naive(queries: Tensor, replies: Tensor, weights: Tensor) -> float:
    """One logarithm at a time."""
    whole = 0.0
    for i in range(len(queries)):
        others = [j for j in range(len(queries)) if j == i or (TEXTS[i] != TEXTS[j] and DIALOGUES[i] != DIALOGUES[j])]
        found = math.exp(float(queries[i] @ replies[i]))
        forth = sum(math.exp(float(queries[i] @ replies[j])) for j in others)
        back = sum(math.exp(float(queries[j] @ replies[i])) for j in others)
        whole -= float(weights[i]) * (math.log(found / forth) + math.log(found / back)) / 2
    return whole / float(weights.sum())


def test_it_is_the_loop() -> None:
    queries, replies, weights = pairs()
    loss = next_reply_loss(queries, replies, texts=TEXTS, dialogues=DIALOGUES, weights=weights)
    assert float(loss) == pytest.approx(naive(queries, replies, weights), rel=1e-5)
    even = next_reply_loss(queries, replies, texts=TEXTS, dialogues=DIALOGUES)
    assert float(even) == pytest.approx(naive(queries, replies, torch.ones(7)), rel=1e-5)


def test_by_hand() -> None:
    """Two pairs, logits 1 on the diagonal and 0 beside it: log(1 + 1/e) both ways."""
    one = torch.eye(2)
    loss = next_reply_loss(one, one, texts=torch.tensor([1, 2]), dialogues=torch.tensor([1, 2]))
    assert float(loss) == pytest.approx(math.log(1 + math.exp(-1)))


def test_the_same_dialogue_and_the_same_text_are_no_negatives() -> None:
    one = torch.eye(2)
    for texts, dialogues in (([1, 1], [1, 2]), ([1, 2], [1, 1])):
        loss = next_reply_loss(one, one, texts=torch.tensor(texts), dialogues=torch.tensor(dialogues))
        assert float(loss) == 0.0


def _gradients(rank: int, world: int, port: int, folder: str, edges: list[int]) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    queries, replies, weights = pairs()
    matrix = torch.eye(4).requires_grad_()
    own = slice(edges[rank], edges[rank + 1])
    kept: dict[str, Any] = {"texts": TEXTS[own], "dialogues": DIALOGUES[own], "weights": weights[own]}
    next_reply_loss(queries[own] @ matrix, replies[own] @ matrix.T, **kept).backward()
    assert matrix.grad is not None
    dist.all_reduce(matrix.grad)
    if rank == 0:
        torch.save(matrix.grad, Path(folder) / "gradient.pt")
    dist.destroy_process_group()


@pytest.mark.parametrize(("world", "edges"), [(2, [0, 3, 7]), (3, [0, 1, 5, 7])])
def test_processes_have_the_gradient_of_one(world: int, edges: list[int], tmp_path: Path) -> None:
    """Dialogues that two processes share are no negatives there either: they are told apart by number."""
    queries, replies, weights = pairs()
    matrix = torch.eye(4).requires_grad_()
    next_reply_loss(queries @ matrix, replies @ matrix.T, texts=TEXTS, dialogues=DIALOGUES, weights=weights).backward()
    context: Any = multiprocessing.get_context("spawn")
    arguments = (world, 29_700 + world, str(tmp_path), edges)
    processes = [context.Process(target=_gradients, args=(rank, *arguments)) for rank in range(world)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    found = torch.load(tmp_path / "gradient.pt", weights_only=True)
    assert matrix.grad is not None
    assert torch.allclose(found, matrix.grad, rtol=1e-5, atol=1e-7)
