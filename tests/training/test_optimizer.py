"""Muon takes the matrices of layers, AdamW the rest."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from turnloom.errors import TurnloomError
from turnloom.training.optimizer import MuonAndAdamW, layer_matrices


class Small(nn.Module):
    """Words, a layer and a bias."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.words, self.layer = nn.Embedding(7, 6), nn.Linear(6, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layer(self.words(tokens)).square().sum()
        return found


def stepped(network: Small, *, muon: bool, steps: int = 1) -> Small:
    adamw = torch.optim.AdamW(network.parameters(), lr=0.01, weight_decay=0.1)
    optimizer = MuonAndAdamW(adamw, layer_matrices(network)) if muon else adamw
    for _ in range(steps):
        optimizer.zero_grad()
        network(torch.tensor([1, 2, 2, 5])).backward()
        optimizer.step()
    return network


def test_a_step_of_muon_goes_equally_far_in_all_directions() -> None:
    before, after = Small(), stepped(Small(), muon=True)
    step = (1 - 0.01 * 0.1) * before.layer.weight - after.layer.weight
    # The size of AdamW's steps: a root mean square of 0.2 of the rate. Newton's method stops early.
    sizes = torch.linalg.svdvals(step.detach()) / (0.01 * 0.2 * 6**0.5)
    gradient = stepped(Small(), muon=False).layer.weight.grad
    assert gradient is not None
    reached = torch.linalg.svdvals(gradient) > 1e-4
    assert sizes[reached].tolist() == pytest.approx([1.0] * int(reached.sum()), abs=0.35)
    left, _, right = torch.linalg.svd(gradient, full_matrices=False)
    part = (left.T @ step.detach() @ right.T).diagonal()[reached]
    assert (part > 0).all()


def test_words_and_biases_are_updated_by_adamw() -> None:
    with_both, with_adamw = stepped(Small(), muon=True), stepped(Small(), muon=False)
    assert torch.equal(with_both.words.weight, with_adamw.words.weight)
    assert torch.equal(with_both.layer.bias, with_adamw.layer.bias)
    assert not torch.equal(with_both.layer.weight, with_adamw.layer.weight)


def test_a_schedule_sets_the_rates_of_both_and_a_restored_state_goes_on_alike() -> None:
    network = stepped(Small(), muon=True)
    optimizer = MuonAndAdamW(torch.optim.AdamW(network.parameters(), lr=0.01), layer_matrices(network))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))

    def go_on(network: Small, optimizer: MuonAndAdamW) -> list[torch.Tensor]:
        optimizer.zero_grad()
        network(torch.tensor([0, 4])).backward()
        optimizer.step()
        return [weight.detach() for weight in network.parameters()]

    go_on(network, optimizer)
    schedule.step()
    assert [group["lr"] for part in optimizer._parts for group in part.param_groups] == [0.005] * 2
    twin = copy.deepcopy(network)
    restored = MuonAndAdamW(torch.optim.AdamW(twin.parameters(), lr=0.01), layer_matrices(twin))
    restored.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert [group["lr"] for group in restored.param_groups] == [0.005] * 2
    assert all(map(torch.equal, go_on(network, optimizer), go_on(twin, restored)))


def test_an_older_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.optim, "Muon")
    with pytest.raises(TurnloomError, match="no Muon"):
        stepped(Small(), muon=True)
