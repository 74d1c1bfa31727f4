"""The losses of UMS: batches of like length against one input at a time, value and gradient."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.objectives.cross_encoders import tiny_cross_encoder
from tests.objectives.toy import gradient, relative_error
from turnloom.errors import TurnloomError
from turnloom.objectives import UtteranceManipulation, manipulation
from turnloom.views.utterance_tasks import Marker, Task, manipulate

WORDS = [f"w{n}" for n in range(30)]
CONTEXTS = ["w1 w2 [EOT] w3 [EOT]", "w4 [EOT] w5 w6 w7 [EOT]", "w8 [EOT]"]
REPLIES = ["w9 w10 [EOT]", "w11 [EOT]", "w12 w13 w14 w15 [EOT]"]
NEGATIVES = ["w16 [EOT]", "w17 w18 w19 [EOT]", "w2 [EOT]"]


@pytest.fixture
def model(tmp_path: Path) -> Any:
    return tiny_cross_encoder(tmp_path, WORDS).double()


def columns(model: Any, tasks: list[Task]) -> list[list[Any]]:
    """A batch in which one conversation is too short for search."""
    marker = Marker(model.tokenizer, 48)
    talks = [[[10 + n, 11 + n][: 1 + n % 2] for n in range(size)] for size in (7, 2, 4)]
    asked = [
        [
            manipulate(task, talk, np.random.default_rng([n, len(task)]), foreign=[35, 36])
            for n, talk in enumerate(talks)
        ]
        for task in tasks
    ]
    return [CONTEXTS, REPLIES, NEGATIVES, *[[given and marker(given) for given in column] for column in asked]]


def literal(loss: UtteranceManipulation, inputs: list[list[Any]]) -> Tensor:
    """One input at a time, without padding, and every logarithm written out."""
    model, tokenizer = loss.model, loss.model.tokenizer

    def run(ids: list[int], segments: list[int]) -> tuple[Tensor, Tensor]:
        found = model.model(
            input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([segments]), output_hidden_states=True
        )
        return found.logits[0, 0], found.hidden_states[-1][0]

    contexts, replies, negatives, *asked = inputs
    fits = []
    for context, reply, negative in zip(contexts, replies, negatives, strict=True):
        for text, truth in ((reply, True), (negative, False)):
            one = tokenizer(context, text)
            chance = torch.sigmoid(run(one["input_ids"], one["token_type_ids"])[0])
            fits.append(-torch.log(chance if truth else 1 - chance))
    whole = loss.selection * sum(fits) / len(fits)
    for task, column in zip(loss.tasks, asked, strict=True):
        terms = []
        for given in column:
            if given is None:
                continue
            states = run(given.ids, given.segments)[1]
            outputs = [loss.heads[task](states[place])[0] for place in given.marks]
            if loss.form == "softmax":
                terms.append(-torch.log(outputs[given.label].exp() / sum(each.exp() for each in outputs)))
                continue
            for number, output in enumerate(outputs):
                chance = torch.sigmoid(output)
                terms.append(-torch.log(chance if number == given.label else 1 - chance))
        share = sum(given is not None for given in column) / len(column)
        whole = whole + loss.weights[task] * share * sum(terms) / len(terms)
    return whole


@pytest.mark.parametrize("together", [2, 16])
@pytest.mark.parametrize("form", ["binary", "softmax"])
@pytest.mark.parametrize(
    "weights",
    [
        {},
        {"selection": 0.5, "insertion": 2.0, "search": 0.0},
        {"insertion": 0.0, "deletion": 0.0},
        {"insertion": 0.0, "deletion": 0.0, "search": 0.0},
    ],
)
def test_rows_of_like_length_are_the_literal_loop(
    model: Any, form: str, weights: dict[str, float], together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manipulation, "BY_LENGTH", together)
    torch.manual_seed(1)
    loss = UtteranceManipulation(model, form=form, **weights)  # type: ignore[arg-type]
    assert loss.tasks == [task for task in get_args(Task) if weights.get(task, 1.0)]
    inputs = columns(model, loss.tasks)
    found = loss(inputs)
    assert list(found) == ["selection", *loss.tasks]
    value = torch.stack(list(found.values())).sum()
    value.backward()  # type: ignore[no-untyped-call]
    mine = gradient(loss)
    loss.zero_grad()
    true = literal(loss, inputs)
    true.backward()  # type: ignore[no-untyped-call]
    assert value.item() == pytest.approx(true.item(), rel=1e-10)
    assert relative_error(mine, gradient(loss)) < 1e-9


def test_all_inputs_go_through_the_model_once_and_the_shortest_are_padded_least(model: Any) -> None:
    loss = UtteranceManipulation(model)
    shapes: list[tuple[int, ...]] = []
    model.model.base_model.register_forward_hook(lambda _, given, found: shapes.append(tuple(found[0].shape[:2])))
    batch = columns(model, loss.tasks)
    loss([column * 4 for column in batch])
    assert sum(rows for rows, _ in shapes) == 4 * (
        6 + sum(given is not None for column in batch[3:] for given in column)
    )
    assert [rows for rows, _ in shapes[:-1]] == [manipulation.BY_LENGTH] * (len(shapes) - 1)
    widths = [width for _, width in shapes]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]
    loss(batch)
    assert loss.tokens == sum(
        len(model.tokenizer(context, reply)["input_ids"])
        for context, reply in zip(CONTEXTS * 2, REPLIES + NEGATIVES, strict=True)
    ) + sum(len(given.ids) for column in columns(model, loss.tasks)[3:] for given in column if given)


@pytest.mark.parametrize("form", ["binary", "softmax"])
def test_a_batch_without_long_conversations_counts_for_nothing(model: Any, form: str) -> None:
    loss = UtteranceManipulation(model, form=form)  # type: ignore[arg-type]
    found = loss([CONTEXTS, REPLIES, NEGATIVES, *[[None] * 3] * 3])
    assert [found[task].item() for task in loss.tasks] == [0, 0, 0]
    torch.stack(list(found.values())).sum().backward()  # type: ignore[no-untyped-call]
    # Still part of the graph, for the sake of other processes.
    assert all(weight.grad is not None and not weight.grad.any() for weight in loss.heads.parameters())


def test_far_apart_scores_stay_finite(model: Any) -> None:
    loss = UtteranceManipulation(model.float(), form="softmax")
    with torch.no_grad():
        for head in loss.heads.values():
            nn.init.normal_(head.weight, std=500)  # type: ignore[arg-type]
    found = loss(columns(model, loss.tasks))
    assert all(torch.isfinite(value) for value in found.values())


def test_mistakes_are_said(model: Any) -> None:
    with pytest.raises(TurnloomError, match="got 3 columns"):
        UtteranceManipulation(model)([CONTEXTS, REPLIES, NEGATIVES])
    with pytest.raises(TurnloomError, match="form cannot be 'hinge'"):
        UtteranceManipulation(model, form="hinge")  # type: ignore[arg-type]
