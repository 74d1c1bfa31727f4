"""The siamese baseline against a literal loop over candidates."""

from __future__ import annotations

import pytest
import torch

from tests.objectives.toy import batch, toy_encoder
from turnloom.errors import TurnloomError
from turnloom.objectives import Siamese


def test_value_and_gradient_are_those_of_the_loop() -> None:
    model = toy_encoder()
    loss = Siamese(model, hidden=5).double()
    columns = batch(6)
    words, present = columns[1]["input_ids"], columns[1]["attention_mask"].bool()
    texts = [words[row][present[row]].tolist() for row in range(6)]
    contexts, replies = (model(dict(column))["sentence_embedding"] for column in columns)
    terms = []
    for row in range(6):
        scores = {}
        for other in range(6):
            if other == row or texts[other] != texts[row]:
                one, two = contexts[row], replies[other]
                scores[other] = loss.matching(torch.cat([one, two, (one - two).abs(), one * two]))[0]
        terms.append(torch.stack(list(scores.values())).logsumexp(0) - scores[row])
    literal = torch.stack(terms).mean()
    ours = loss(batch(6))
    assert ours.item() == pytest.approx(literal.item(), abs=1e-10)
    found = [torch.autograd.grad(value, list(loss.parameters()), retain_graph=True) for value in (ours, literal)]
    assert all(torch.allclose(one, other, atol=1e-9) for one, other in zip(*found, strict=True))


def test_mistakes_are_said() -> None:
    with pytest.raises(TurnloomError, match="two columns"):
        Siamese(toy_encoder())(batch(4, columns=3))
