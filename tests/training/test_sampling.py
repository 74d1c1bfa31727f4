"""The order of examples and the pace of a run."""

from __future__ import annotations

import itertools
import time

import pytest
import torch

from turnloom.training.clock import Budget, rate_factor
from turnloom.training.data import BLOCK_BATCHES, BlockShuffle


def batches(rows: int, size: int, *, seed: int = 0, epoch: int = 0) -> list[list[int]]:
    sampler = BlockShuffle(range(rows), size, seed=seed)
    sampler.set_epoch(epoch)
    found = list(sampler)
    assert len(found) == len(sampler)
    return found


@pytest.mark.parametrize("rows", [10, 3 * BLOCK_BATCHES * 4 + 7, BLOCK_BATCHES * 4])
def test_an_epoch_has_every_row_once_but_for_a_rest(rows: int) -> None:
    found = list(itertools.chain(*batches(rows, 4)))
    assert len(found) == len(set(found)) == rows // 4 * 4
    assert set(found) <= set(range(rows))


def test_epochs_and_seeds_differ_and_repeat() -> None:
    assert batches(1_000, 4) == batches(1_000, 4)
    assert batches(1_000, 4) != batches(1_000, 4, epoch=1)
    assert batches(1_000, 4) != batches(1_000, 4, seed=1)
    first = batches(10_000, 4)[0]
    assert first != sorted(first)


def test_rates_follow_the_schedule() -> None:
    assert [rate_factor("constant", 0.2, part) for part in (0.1, 0.2, 1.0)] == pytest.approx([0.5, 1, 1])
    assert [rate_factor("linear", 0.5, part) for part in (0.25, 0.5, 0.75, 1.0)] == pytest.approx([0.5, 1, 0.5, 0])


def test_onecycle_is_pytorchs() -> None:
    steps = 200
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=1.0, total_steps=steps + 1, cycle_momentum=False)
    for step in range(steps):
        # PyTorch ends its first phase one step early: up to half a step's difference.
        assert rate_factor("onecycle", 0.0, step / steps) == pytest.approx(theirs.get_last_lr()[0], abs=0.02)
        optimiser.step()
        theirs.step()


def test_minutes_count_training_alone() -> None:
    budget = Budget(steps=10, minutes=1)
    budget.start_clock()
    time.sleep(0.05)
    budget.stop_clock()
    spent = budget.seconds
    time.sleep(0.05)
    assert budget.seconds == spent
    assert 0.05 <= spent < 0.1
    assert budget.progress(10_000) == pytest.approx(spent / 60)
