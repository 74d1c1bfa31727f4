"""Pairs that are only probably alike: against a loop over pairs, value and gradient."""

from __future__ import annotations

from math import exp, log

import pytest
import torch
from torch.nn.functional import cosine_similarity

from tests.objectives.toy import Features, batch, gradient, relative_error, toy_encoder
from turnloom.errors import TurnloomError
from turnloom.objectives import NTXent, Paraphrases
from turnloom.objectives.columns import pairwise_pull


def moved(model: torch.nn.Module) -> None:
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, dtype=parameter.dtype, generator=noise))


def loop(sides: list[torch.Tensor], before: list[torch.Tensor], agreement: float, pull: float) -> torch.Tensor:
    """The formula, one pair after the other."""
    count, terms, weights = len(sides[0]), [], []
    for row in range(count):
        if cosine_similarity(before[0][row], before[1][row], dim=0) < agreement:
            continue
        for anchors, others in ((0, 1), (1, 0)):
            scores = [cosine_similarity(sides[anchors][row], other, dim=0) / 0.05 for other in sides[others]]
            terms.append(torch.logsumexp(torch.stack(scores), 0) - scores[row])
            weights.append(1.0)
    now, then = torch.cat(sides), torch.cat(before)
    far = [
        (cosine_similarity(now[i], now[j], dim=0) - cosine_similarity(then[i], then[j], dim=0)) ** 2
        for i in range(2 * count)
        for j in range(2 * count)
        if i != j
    ]
    return torch.stack(terms).sum() / sum(weights) + pull * torch.stack(far).mean()


def test_it_is_the_loop_over_believed_pairs() -> None:
    model, columns = toy_encoder(), batch(8, doubles=False)
    agreement = cosine_similarity(*(model(dict(column))["sentence_embedding"] for column in columns)).median().item()
    loss = Paraphrases(model, agreement=agreement + 1e-6, pull=2.0, mask="none")
    before = [loss._base.vectors(column) for column in columns]
    moved(model)
    sides = [model(dict(column))["sentence_embedding"] for column in columns]
    expected = loop(sides, before, agreement + 1e-6, 2.0)
    expected.backward()  # type: ignore[no-untyped-call]
    theirs = gradient(loss)
    model.zero_grad()
    ours = loss(columns)
    ours.backward()
    assert ours.item() == pytest.approx(expected.item(), abs=1e-12)
    assert relative_error(gradient(loss), theirs) < 1e-10


def test_believing_all_it_is_nt_xent() -> None:
    model, columns = toy_encoder(), batch(8)
    ours = Paraphrases(model, agreement=-1)(columns)
    assert ours.item() == pytest.approx(NTXent(model, form="symmetric")(columns).item(), abs=1e-12)


def test_a_batch_of_which_nothing_is_believed_teaches_nothing() -> None:
    loss = Paraphrases(toy_encoder(), agreement=1.0)
    value = loss(batch(8, doubles=False))
    value.backward()
    assert value.item() == 0
    assert torch.equal(gradient(loss), torch.zeros_like(gradient(loss)))


def test_a_batch_of_which_nothing_is_believed_is_only_pulled() -> None:
    columns, model = batch(8, doubles=False), toy_encoder()
    loss = Paraphrases(model, agreement=1.0, pull=2.0)
    before = [loss._base.vectors(column) for column in columns]
    moved(model)
    value = loss(columns)
    now = [model(dict(column))["sentence_embedding"] for column in columns]
    pulled = 2.0 * pairwise_pull(torch.cat(now), torch.cat(before))
    assert value.item() == pytest.approx(pulled.item(), abs=1e-12)


class Lookup(torch.nn.Module):
    """Each text is one token, and its vector a row of a table."""

    def __init__(self, *vectors: tuple[float, float]) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.tensor(vectors, dtype=torch.float64))

    def forward(self, features: Features) -> Features:
        return {"sentence_embedding": self.table[features["input_ids"][:, 0]]}


def test_a_mixed_batch_by_hand() -> None:
    """Contexts (1, 0) and (0, 1), replies (1, 0) and (-1, 0): the start believes the first pair, not the second."""
    model = Lookup((1, 0), (0, 1), (1, 0), (-1, 0))
    ids = torch.tensor([[[0], [1]], [[2], [3]]])
    columns = [{"input_ids": side, "attention_mask": torch.ones_like(side)} for side in ids]
    value = Paraphrases(model, agreement=0.4, temperature=1.0)(columns)
    value.backward()
    # The context's scores are 1 and -1, the reply's 1 and 0; those of the second pair do not count.
    assert value.item() == pytest.approx((log(1 + exp(-2)) + log(1 + exp(-1))) / 2, abs=1e-12)
    # Half of what a wrong text's softmax probability pushes it away from its anchor, as far as it can turn.
    missed = 1 / (1 + exp(1))
    assert model.table.grad is not None
    assert torch.allclose(model.table.grad, torch.tensor([[0.0, 0], [missed / 2, 0], [0, missed / 2], [0, 0]]).double())


def test_a_negative_pull_is_refused() -> None:
    with pytest.raises(TurnloomError, match="negative weight"):
        Paraphrases(toy_encoder(), pull=-1)
