"""Matching-guided embedding against a literal loop over tokens, turns and candidates."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.objectives.toy import Features, column, toy_encoder
from turnloom.errors import TurnloomError
from turnloom.objectives import MatchingGuided

ROWS, TURNS = 7, 3
ROLES = torch.tensor([0, 1, 0, 1, 0, 0, 1])


def empty(rows: int, width: int = 4) -> Features:
    ids = torch.zeros(rows, width, dtype=torch.long)
    ids[:, 0], ids[:, 1] = 1, 2
    mask = torch.zeros_like(ids)
    mask[:, :2] = 1
    return {"input_ids": ids, "attention_mask": mask}


def columns() -> list[Features]:
    """Three turns and a reply; some turns are missing, and two replies are the same text."""
    found = [column(ROWS, seed) for seed in range(TURNS + 1)]
    gone = empty(ROWS, found[0]["input_ids"].shape[1])
    for name in ("input_ids", "attention_mask"):
        found[2][name][:3] = gone[name][:3]
        found[1][name][0] = gone[name][0]
        found[3][name][4] = found[3][name][0]
        found[0][name][5] = found[3][name][2]
    return found


def padded(features: Features, more: int) -> Features:
    return {name: torch.nn.functional.pad(value, (0, more)) for name, value in features.items()}


def token_states(model: Any, features: Features, row: int) -> list[Tensor]:
    """The states of one text's true tokens, the text encoded alone and without padding."""
    count = int(features["attention_mask"][row].sum())
    alone = {name: value[row : row + 1, :count].clone() for name, value in features.items()}
    return list(model(alone)["token_embeddings"][0])


def literal(loss: MatchingGuided, given: list[Features], roles: Tensor | None) -> Tensor:
    """Equations 3 to 8, one token, turn and candidate at a time."""
    model, width = loss.model, 8
    texts = [
        [tuple(part["input_ids"][row][part["attention_mask"][row].bool()].tolist()) for row in range(ROWS)]
        for part in given
    ]
    terms = []
    for row in range(ROWS):
        turns = [token_states(model, part, row) for part in given[:-1] if part["attention_mask"][row].sum() > 2]
        if not turns:
            continue
        scores = []
        for other in range(ROWS):
            same_text = texts[-1][other] == texts[-1][row]
            if other != row and (same_text or (roles is not None and roles[other] != roles[row])):
                continue
            reply = token_states(model, given[-1], other)
            refined = []
            for turn in turns:
                matched = []
                for token in turn:
                    seen = torch.zeros(width, dtype=torch.float64)
                    for piece in reply:
                        seen = seen + (token @ piece) / math.sqrt(width) * piece
                    matched.append(seen)
                refined.append(sum(matched) / len(matched))
            if loss.attention is None:
                aware = sum(refined) / len(refined)
            else:
                weights = torch.stack([loss.attention(one)[0] for one in refined]).softmax(0)
                aware = sum(weight * one for weight, one in zip(weights, refined, strict=True))
            free = sum(reply) / len(reply)
            scores.append(((free @ aware) / (free.norm() * aware.norm()) / loss.temperature, other == row))
        whole = torch.stack([score for score, _ in scores]).logsumexp(0)
        terms.append(whole - next(score for score, own in scores if own))
    return torch.stack(terms).mean()


def gradient(model: Any, loss: Tensor) -> Tensor:
    model.zero_grad()
    loss.backward()
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


@pytest.mark.parametrize("aggregation", ["mean", "attention"])
@pytest.mark.parametrize("roles", [None, ROLES])
def test_value_and_gradient_are_those_of_the_loop(aggregation: Any, roles: Tensor | None) -> None:
    model = toy_encoder()
    loss = MatchingGuided(model, aggregation=aggregation, temperature=0.1).double()
    ours, theirs = loss(columns(), roles), literal(loss, columns(), roles)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-10)
    assert torch.allclose(gradient(model, ours), gradient(model, theirs), atol=1e-9)


def test_two_words_by_hand() -> None:
    """A reply of one token is seen as itself by any turn: its cosine is 1 or -1, whatever the turn says."""
    loss = MatchingGuided(toy_encoder(), temperature=1.0).double()
    turns = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]], dtype=torch.float64)
    tokens = torch.tensor([[[3.0, 4.0]], [[-1.0, 0.0]]], dtype=torch.float64)
    found = loss.similarities(turns, torch.ones(2, 1, dtype=torch.bool), tokens, tokens[:, 0])
    # (1, 0).(3, 4) = 3 and (0, 1).(3, 4) = 4 are positive, (1, 0).(-1, 0) = -1 is not, (0, 1).(-1, 0) = 0 sees nothing.
    assert found.flatten().tolist() == pytest.approx([1.0, -1.0, 1.0, 0.0])


@pytest.mark.parametrize("aggregation", ["mean", "attention"])
def test_a_row_without_turns_teaches_nothing(aggregation: Any) -> None:
    """It has no loss and no gradient; its reply still is a negative of the other rows."""
    given, gone = columns(), empty(ROWS, columns()[0]["input_ids"].shape[1])
    for part in given[:-1]:
        for name in ("input_ids", "attention_mask"):
            part[name][2] = gone[name][2]
    model = toy_encoder()
    loss = MatchingGuided(model, aggregation=aggregation).double()
    ours, theirs = loss(given, ROLES), literal(loss, given, ROLES)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-10)
    found = gradient(model, ours)
    assert found.isfinite().all()
    assert torch.allclose(found, gradient(model, theirs), atol=1e-9)


def test_a_batch_without_turns_has_no_loss_and_no_gradient() -> None:
    gone = empty(ROWS)
    model = toy_encoder()
    value = MatchingGuided(model).double()([gone, gone, column(ROWS, 1)])
    assert value.item() == 0
    assert not gradient(model, value).any()


def test_padding_and_the_order_of_turns_and_rows_change_nothing() -> None:
    loss = MatchingGuided(toy_encoder()).double()
    whole = loss(columns(), ROLES).item()
    assert loss([padded(part, 5) for part in columns()], ROLES).item() == pytest.approx(whole, abs=1e-12)
    one, two, three, reply = columns()
    assert loss([three, one, two, reply], ROLES).item() == pytest.approx(whole, abs=1e-12)
    order = torch.tensor([3, 1, 6, 0, 5, 2, 4])
    shuffled = [{name: value[order] for name, value in part.items()} for part in columns()]
    assert loss(shuffled, ROLES[order]).item() == pytest.approx(whole, abs=1e-12)


def test_each_distinct_text_is_encoded_once() -> None:
    model = toy_encoder()
    seen: list[int] = []
    inner = model.forward
    model.forward = lambda features: (seen.append(len(features["input_ids"])), inner(features))[1]
    MatchingGuided(model).double()(columns(), ROLES)
    texts = {
        tuple(part["input_ids"][row][part["attention_mask"][row].bool()].tolist())
        for part in columns()
        for row in range(ROWS)
    }
    assert seen == [len(texts)]
    assert len(texts) < 4 * ROWS


def test_so_many_negatives_of_the_same_role() -> None:
    loss = MatchingGuided(toy_encoder(), negatives=1).double()
    keys = torch.arange(ROWS)
    allowed = loss._allowed(keys, ROLES)
    assert allowed.sum(1).tolist() == [2] * ROWS
    assert allowed.diagonal().all()
    assert all(ROLES[row] == ROLES[other] for row, other in allowed.nonzero().tolist())
    many = MatchingGuided(toy_encoder(), negatives=50)._allowed(keys, ROLES)
    assert many.sum(1).tolist() == [4, 3, 4, 3, 4, 4, 3]


def test_mistakes_are_said() -> None:
    with pytest.raises(TurnloomError, match="turns and a reply"):
        MatchingGuided(toy_encoder())(columns()[:1])
    with pytest.raises(TurnloomError, match="negatives cannot be 0"):
        MatchingGuided(toy_encoder(), negatives=0)
