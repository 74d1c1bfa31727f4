"""TaDSE's losses against a literal loop over candidates."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.objectives.toy import Features, batch, column, toy_encoder
from turnloom.errors import TurnloomError
from turnloom.objectives import TemplatePair

ROWS = 6


def columns() -> list[Features]:
    """Templates and utterances: rows 0 and 3 fill the same template, rows 1 and 4 are the same utterance too."""
    found = [column(ROWS, 1), column(ROWS, 2)]
    for name in ("input_ids", "attention_mask"):
        found[0][name][3] = found[0][name][0]
        found[0][name][4] = found[0][name][1]
        found[1][name][4] = found[1][name][1]
    return found


def texts(features: Features) -> list[list[int]]:
    return [features["input_ids"][row][features["attention_mask"][row].bool()].tolist() for row in range(ROWS)]


def literal(anchors: Tensor, others: Tensor, names: list[Any] | None, temperature: float) -> Tensor:
    terms = []
    for row in range(ROWS):
        scores = {
            other: torch.cosine_similarity(anchors[row], others[other], dim=0) / temperature
            for other in range(ROWS)
            if other == row or names is None or names[other] != names[row]
        }
        terms.append(torch.stack(list(scores.values())).logsumexp(0) - scores[row])
    return torch.stack(terms).mean()


@pytest.mark.parametrize("mask", ["text", "none"])
@pytest.mark.parametrize("weights", [(1.0, 1.0, 0.5), (0.0, 1.0, 0.0), (0.0, 0.0, 2.0), (1.0, 0.0, 0.0)])
def test_value_and_gradient_are_those_of_the_loop(mask: Any, weights: tuple[float, float, float]) -> None:
    model = toy_encoder()
    named = dict(zip(("template", "utterance", "pair"), weights, strict=True))
    torch.manual_seed(3)
    loss = TemplatePair(model, **named, temperatures=(0.1, 0.2, 0.3), mask=mask).double()
    filled, said = columns()
    utterances = model(dict(said))["sentence_embedding"]
    templates = loss.template_layer(model(dict(filled))["sentence_embedding"])
    same_said, same_filled = (texts(said), texts(filled)) if mask == "text" else (None, None)
    expected = (
        weights[0] * literal(templates, templates, same_filled, 0.1)
        + weights[1] * literal(utterances, utterances, same_said, 0.2)
        + weights[2] * literal(templates, utterances, same_filled, 0.3)
    )
    ours = loss(columns())
    assert ours.item() == pytest.approx(expected.item(), abs=1e-10)
    found = [
        torch.autograd.grad(value, list(loss.parameters()), retain_graph=True, allow_unused=True)
        for value in (ours, expected)
    ]
    for one, other in zip(*found, strict=True):
        zero = torch.zeros((), dtype=torch.float64)
        assert torch.allclose(zero if one is None else one, zero if other is None else other, atol=1e-9)


def test_dropout_makes_the_two_sides_differ() -> None:
    loss = TemplatePair(toy_encoder(dropout=0.3), template=0.0, pair=0.0).double().train()
    values = {round(loss(columns()).item(), 12) for _ in range(3)}
    assert len(values) == 3
    assert len({round(loss.eval()(columns()).item(), 12) for _ in range(3)}) == 1


def test_a_layer_for_templates_alone() -> None:
    model = toy_encoder()
    with_layer, without = TemplatePair(model).double(), TemplatePair(model, template_layer=False).double()
    more = sum(p.numel() for p in with_layer.parameters()) - sum(p.numel() for p in without.parameters())
    assert more == 8 * 8 + 8


def test_mistakes_are_said() -> None:
    with pytest.raises(TurnloomError, match="two columns"):
        TemplatePair(toy_encoder())(batch(4, columns=3))
    with pytest.raises(TurnloomError, match="all weights"):
        TemplatePair(toy_encoder(), template=0, utterance=0, pair=0)
