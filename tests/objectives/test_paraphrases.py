"""Pairs that are only probably alike: against a loop over pairs, value and gradient."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cosine_similarity

from tests.objectives.toy import batch, gradient, relative_error, toy_encoder
from turnloom.errors import TurnloomError
from turnloom.objectives import NTXent, Paraphrases


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
    before = [loss._start.vectors(column) for column in columns]
    moved(model)
    sides = [model(dict(column))["sentence_embedding"] for column in columns]
    expected = loop(sides, before, agreement + 1e-6, 2.0)
    expected.backward()  # type: ignore[no-untyped-call]
    theirs = gradient(loss)
    model.zero_grad()
    ours = loss(columns)
    ours.backward()
    assert ours.item() == pytest.approx(expected.item(), abs=1e-4)  # Those not believed weigh a millionth.
    assert relative_error(gradient(loss), theirs) < 1e-4


def test_believing_all_it_is_nt_xent() -> None:
    model, columns = toy_encoder(), batch(8)
    ours = Paraphrases(model, agreement=-1)(columns)
    assert ours.item() == pytest.approx(NTXent(model, form="symmetric")(columns).item(), abs=1e-12)


def test_a_batch_of_which_nothing_is_believed_has_a_loss() -> None:
    assert Paraphrases(toy_encoder(), agreement=1.0)(batch(8, doubles=False)).isfinite()


def test_a_negative_pull_is_refused() -> None:
    with pytest.raises(TurnloomError, match="negative weight"):
        Paraphrases(toy_encoder(), pull=-1)
