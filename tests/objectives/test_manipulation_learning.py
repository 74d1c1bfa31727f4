"""Each task can be learned from the order of turns, and from nothing else."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from tests.objectives.cross_encoders import SPECIAL, tiny_cross_encoder
from turnloom.objectives import UtteranceManipulation
from turnloom.objectives.manipulation import padded, scores_and_states
from turnloom.views.utterance_tasks import MarkedInput, Marker, Task, manipulate

STAGES, TOPICS = 8, 2
WORDS = [*[f"stage{n}" for n in range(STAGES)], *[f"topic{n}" for n in range(TOPICS)]]
Turn = list[int]


def talk(rng: random.Random, *, ordered: bool) -> list[Turn]:
    """A conversation goes through all stages of one topic; without order each turn is of any stage and topic."""
    topic = rng.randrange(TOPICS)
    said = [(stage, topic) if ordered else (rng.randrange(STAGES), rng.randrange(TOPICS)) for stage in range(STAGES)]
    return [[len(SPECIAL) + stage, len(SPECIAL) + STAGES + topic] for stage, topic in said]


def inputs(task: Task, marker: Marker, rng: random.Random, count: int, *, ordered: bool) -> list[MarkedInput]:
    found = []
    for _ in range(count):
        turns, other = talk(rng, ordered=ordered), talk(rng, ordered=ordered)
        while ordered and other[0][1] == turns[0][1]:
            other = talk(rng, ordered=True)
        asked = manipulate(task, turns, np.random.default_rng(rng.randrange(2**40)), foreign=rng.choice(other))
        assert asked is not None
        found.append(marker(asked))
    return found


def accuracy(loss: UtteranceManipulation, task: Task, given: list[MarkedInput]) -> float:
    """How often the mark with the highest output is the right one."""
    model: Any = loss.model
    features = padded(model.tokenizer, [(each.ids, each.segments) for each in given])
    with torch.no_grad():
        states = scores_and_states(model, features)[1]
        best = [int(loss.heads[task](row[each.marks]).argmax()) for row, each in zip(states, given, strict=True)]
    return float(np.mean([answer == each.label for answer, each in zip(best, given, strict=True)]))


def learned(folder: Path, *, ordered: bool, steps: int) -> dict[Task, float]:
    """The accuracy on new conversations after so many steps on all three tasks."""
    model = tiny_cross_encoder(folder, WORDS, width=64, heads=4, spread=0.05)
    loss = UtteranceManipulation(model, selection=0.0)
    marker, rng = Marker(model.tokenizer, 48), random.Random(1)
    optimizer = torch.optim.AdamW(loss.parameters(), lr=2e-3)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1, (step + 1) / 30) * (1 - step / steps)
        asked = [inputs(task, marker, rng, 32, ordered=ordered) for task in loss.tasks]
        value = torch.stack(list(loss([["stage0"], ["stage1"], ["stage2"], *asked]).values())).sum()
        optimizer.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    model.eval()
    return {task: accuracy(loss, task, inputs(task, marker, rng, 500, ordered=ordered)) for task in get_args(Task)}


@pytest.mark.nightly
def test_the_order_of_turns_teaches_each_task(tmp_path: Path) -> None:
    reached = learned(tmp_path, ordered=True, steps=300)
    assert min(reached["insertion"], reached["search"]) > 0.95, reached
    assert reached["deletion"] > 0.8, reached  # It takes longer; chance is 1/6.


@pytest.mark.nightly
def test_without_order_there_is_nothing_to_learn(tmp_path: Path) -> None:
    reached = learned(tmp_path, ordered=False, steps=200)
    chance = {"insertion": 1 / 5, "deletion": 1 / 6, "search": 1 / 4}
    for task, share in chance.items():
        # Five standard deviations of the mean of 500 answers at chance.
        assert abs(reached[task] - share) < 5 * (share * (1 - share) / 500) ** 0.5, reached
