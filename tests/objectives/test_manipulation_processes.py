"""The gradient of UMS is one, however a batch is spread over processes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from tests.objectives.processes import Errors, Truth, on_processes
from tests.objectives.toy import gradient, relative_error
from turnloom.objectives import manipulation
from turnloom.objectives.manipulation import UtteranceManipulation
from turnloom.views.utterance_tasks import MarkedInput

WIDTH, WORDS = 8, 30


class _Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layer = nn.Linear(WIDTH, WIDTH)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor]:
        words = self.words(ids) * mask[..., None]
        return (torch.tanh(self.layer(words + words.sum(1, keepdim=True))),)


class _Tokenizer:
    """Words are numbers."""

    pad_token_id = 0
    model_input_names = ("input_ids", "attention_mask")

    def __call__(self, first: list[str], second: list[str], **options: Any) -> dict[str, list[list[int]]]:
        ids = [[1, *map(int, one.split()), 2, *map(int, two.split())] for one, two in zip(first, second, strict=True)]
        return {"input_ids": ids, "token_type_ids": [[0] * len(row) for row in ids]}


class ToyCrossEncoder(nn.Module):
    """As much of a CrossEncoder as the loss needs, without importing one in every process."""

    num_labels, max_seq_length, tokenizer = 1, 32, _Tokenizer()

    def __init__(self) -> None:
        super().__init__()
        self.network, self.last = _Network(), nn.Linear(WIDTH, 1)

    @property
    def model(self) -> Any:
        return SimpleNamespace(base_model=self.network, config=SimpleNamespace(hidden_size=WIDTH))

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        states = self.network(features["input_ids"], features["attention_mask"].double())[0]
        return {"scores": self.last(states[:, 0])}


def _loss(form: str) -> UtteranceManipulation:
    torch.manual_seed(5)
    return UtteranceManipulation(ToyCrossEncoder().double(), form=form, insertion=0.5)  # type: ignore[arg-type]


def _columns() -> list[list[Any]]:
    """Seven rows with different numbers of marks; the first two have none for search."""
    texts = [[f"{3 + n} {4 + 2 * n}" for n in range(start, start + 7)] for start in (0, 1, 2)]

    def asked(row: int, task: int) -> MarkedInput | None:
        if task == 2 and row < 2:
            return None
        marks = list(range(1, 3 + (row + task) % 3))
        ids = [1, *[20 + (row * task + n) % 9 for n in range(len(marks) + 1)]]
        return MarkedInput(ids, [0] * len(ids), marks, (row + task) % len(marks))

    return [*texts, *[[asked(row, task) for row in range(7)] for task in range(3)]]


def _gradient(loss: Any, columns: list[list[Any]]) -> Tensor:
    torch.stack(list(loss(columns).values())).sum().backward()
    return gradient(loss)


def _spread(truth: Truth) -> Errors:
    """As a trainer does it: the model wrapped, the loss not, other heads in each process."""
    del truth
    found = {}
    for form in ("binary", "softmax"):
        true = _gradient(_loss(form), _columns())
        for name, edge, together in (("even", 4, 16), ("one without search", 2, 16), ("by length", 4, 3)):
            manipulation.BY_LENGTH = together
            loss = _loss(form)
            rows = slice(0, edge) if dist.get_rank() == 0 else slice(edge, 7)
            if dist.get_rank() > 0:
                for parameter in loss.heads.parameters():
                    nn.init.normal_(parameter)
            loss.model = DistributedDataParallel(loss.model)
            found[f"{form}/{name}"] = relative_error(_gradient(loss, [column[rows] for column in _columns()]), true)
    return found


@pytest.mark.slow
def test_processes_give_the_gradient_of_the_whole_batch() -> None:
    found = on_processes(_spread, worlds=(2,))
    assert len(found) == 12
    assert max(found.values()) < 1e-9, found
