"""What must not matter does not: padding, the order of the batch, texts that occur twice."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.objectives.toy import COLUMNS, OBJECTIVES, Features, batch, frequencies, make, toy_encoder
from turnloom.objectives import ContextReplyHeads, HardNegativeContrast, NTXent
from turnloom.objectives.columns import text_keys
from turnloom.objectives.loss import linear_head, mlp_head

ROWS = 8


def padded(features: Features, left: int, right: int) -> Features:
    return {name: torch.nn.functional.pad(value, (left, right)) for name, value in features.items()}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_padding_changes_nothing(name: str) -> None:
    loss = make(name, toy_encoder())
    columns, labels = batch(ROWS, COLUMNS.get(name, 2)), frequencies(ROWS)
    before = loss(columns, labels).item()
    assert loss([padded(column, 0, 5) for column in columns], labels).item() == pytest.approx(before, abs=1e-12)
    if "masked-language" not in name and "tod" not in name:  # their fixed masks go by place
        assert loss([padded(column, 3, 2) for column in columns], labels).item() == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_order_of_the_batch_changes_nothing(name: str) -> None:
    loss = make(name, toy_encoder())
    columns, labels = batch(ROWS, COLUMNS.get(name, 2)), frequencies(ROWS)
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(3))
    assert order.tolist() != sorted(order.tolist())
    mixed = [{part: value[order] for part, value in column.items()} for column in columns]
    assert loss(mixed, labels[order]).item() == pytest.approx(loss(columns, labels).item(), abs=1e-12)


@pytest.mark.parametrize("weighting", ["outside", "inside", "none"])
def test_a_second_copy_is_no_negative(weighting: Any) -> None:
    """Pair 4 repeats pair 0's reply: pair 0's terms are those of the batch without pair 4, but for its context."""
    loss = HardNegativeContrast(toy_encoder(), weighting=weighting, temperature=0.3)
    contexts, replies = batch(5, doubles=False)
    for name in replies:
        replies[name][4] = replies[name][0]
        contexts[name][4] = contexts[name][0]
    only_first = torch.tensor([1.0, 0, 0, 0, 0], dtype=torch.float64)
    keys = [text_keys(contexts), text_keys(replies)]
    vectors = loss.embed([contexts, replies])
    with_copy = loss.contrast(vectors, keys, only_first) * 5
    without = loss.contrast([column[:4] for column in vectors], [key[:4] for key in keys], only_first[:4]) * 4
    unmasked = loss.contrast(vectors, None, only_first) * 5
    assert with_copy.item() == pytest.approx(without.item(), abs=1e-12)
    assert unmasked.item() > without.item() + 1e-3


def test_keys_are_of_the_callers_choice() -> None:
    """Texts of one template are no negatives of each other, if that is what the keys say."""
    loss = NTXent(toy_encoder())
    vectors = loss.embed(batch(4, doubles=False))
    same = torch.tensor([5, 5, 6, 7])
    other = torch.tensor([8, 9, 10, 11])
    first = torch.tensor([1.0, 0, 0, 0], dtype=torch.float64)
    kept = [0, 2, 3]
    # Pair 1's context has pair 0's key; its reply stays a negative, as a third column shows.
    found = loss.contrast(vectors, [same, other], first) * 8
    contexts, replies = vectors
    scores = [
        torch.nn.functional.cosine_similarity(contexts[0], row, dim=0) / 0.05 for row in [*contexts[2:], *replies]
    ]
    forward = torch.stack(scores).logsumexp(0) - scores[2]
    back = [
        torch.nn.functional.cosine_similarity(replies[0], row, dim=0) / 0.05 for row in [*contexts[kept], *replies[1:]]
    ]
    assert found.item() == pytest.approx((forward + torch.stack(back).logsumexp(0) - back[0]).item(), abs=1e-9)


def test_text_keys() -> None:
    ids = torch.tensor([[1, 7, 8, 2, 0], [1, 8, 7, 2, 0], [1, 7, 8, 2, 9], [1, 7, 8, 2, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1], [1, 1, 1, 1, 0]])
    keys = text_keys({"input_ids": ids, "attention_mask": mask})
    assert keys.dtype == torch.int64
    assert keys[0] == keys[3]
    assert len(set(keys.tolist())) == 3
    many = torch.cartesian_prod(*[torch.arange(40)] * 3)
    found = text_keys({"input_ids": many, "attention_mask": torch.ones_like(many)})
    assert len(set(found.tolist())) == 40**3


def test_heads() -> None:
    vectors = torch.randn(3, 8)
    heads = ContextReplyHeads(8)
    assert torch.equal(heads(vectors, 0), vectors)
    assert torch.equal(heads(vectors, 1), vectors)
    with torch.no_grad():
        for parameter in heads.reply.parameters():
            parameter += 1
    assert torch.equal(heads(vectors, 0), vectors)
    assert not torch.allclose(heads(vectors, 1), vectors)
    assert torch.equal(heads(vectors, 2), heads(vectors, 1))
    assert [tuple(parameter.shape) for parameter in mlp_head(8).parameters()] == [(8, 8), (128, 8)]
    assert tuple(linear_head(8)(vectors).shape) == (3, 8)
    own = torch.nn.Linear(8, 3).double()
    assert NTXent(toy_encoder(), head=own).head is own
