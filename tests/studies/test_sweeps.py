"""The questions of the sweeps ask what the papers' tables contain."""

from __future__ import annotations

import re

from studies.sweeps.points import POINTS
from studies.sweeps.questions import QUESTIONS

from turnloom.training import load_recipe

TABLE_3 = {0.05, 0.1, 0.2, 0.5}
"""The temperatures of DialogueCSE's Table 3."""


def temperature(point: str) -> float:
    """With which a point was trained."""
    recipe, changes = POINTS[point]
    objective = load_recipe(recipe, dict(change.split("=", 1) for change in changes)).stages[0].objective
    return float(objective.temperature)  # type: ignore[union-attr]


def test_temperatures_are_those_of_the_table() -> None:
    asked = [question for question in QUESTIONS if question.paper == "DialogueCSE, Table 3"]
    assert asked
    for question in asked:
        said = [float(number) for number in re.findall(r"\d\.\d+", question.says)]
        assert said == [temperature(question.better), temperature(question.worse)]
        assert TABLE_3.issuperset(said)
