"""A new loss in the tree is one file with its class, and one recipe that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnloom import objectives
from turnloom.errors import TurnloomError
from turnloom.training import load_recipe, train
from turnloom.training.folder import WORK

PLACES = {
    "src/turnloom/objectives/far_apart.py": '''
from typing import Annotated, Any, Literal

from pydantic import Field
from torch import nn


class FarApart(nn.Module):
    """A reply is nearer to its context than the next reply, by a margin."""

    kind = "far_apart"
    wants_frequencies = True

    def __init__(
        self, model: Any, *, margin: Annotated[float, Field(gt=0)] = 0.2, side: Literal["reply", "both"] = "reply"
    ) -> None:
        super().__init__()
        self.model, self.margin, self.side = model, margin, side

    def forward(self, sentence_features: Any, labels: Any = None) -> Any:
        assert (labels >= 1).all()
        contexts, replies = (self.model(dict(column))["sentence_embedding"] for column in sentence_features)
        right, wrong = (nn.functional.cosine_similarity(contexts, side) for side in (replies, replies.roll(1, 0)))
        return (self.margin - right + wrong).clamp(min=0).mean()
''',
    "src/turnloom/recipes/far-apart.yaml": """
name: far-apart
stages:
- view: {kind: consecutive, min_words: 0}
  objective: {kind: far_apart, margin: 0.3}
  batch_size: 16
  steps: 2
bf16: false
report_to: none
""",
}
"""All files that a new loss needs, and what they hold."""


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for place, text in PLACES.items():
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    code, recipe = PLACES
    monkeypatch.setattr(objectives, "__path__", [*objectives.__path__, str((tmp_path / code).parent)])
    return tmp_path / recipe


def test_two_files_are_enough_to_train(recipe: Path, table: Path, start: Path, tmp_path: Path) -> None:
    result = train(load_recipe(str(recipe), {"model.start": str(start)}), [table], tmp_path / "model")
    assert (result.steps, result.pairs) == (2, 32)
    assert "margin: 0.3" in (tmp_path / "model" / WORK / "recipe.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("margin", "0", "Input should be greater than 0"),
        ("margni", "1", r"there is no such option; did you mean margin\?"),
        ("side", "left", "Input should be 'reply' or 'both'"),
    ],
)
def test_its_options_are_those_of_its_class(recipe: Path, option: str, value: str, problem: str) -> None:
    with pytest.raises(TurnloomError, match=rf"stages\.0\.objective\.{option}: {problem}"):
        load_recipe(str(recipe), {f"stages.0.objective.{option}": value})


@pytest.mark.usefixtures("recipe")
def test_an_unknown_kind_names_all_that_there_are() -> None:
    with pytest.raises(TurnloomError, match=r"expected tags: 'hard_negative', .*'template_pair', 'far_apart'"):
        load_recipe("dse", {"stages.0.objective.kind": "magic"})


def test_a_loss_whose_import_fails_is_not_an_unknown_kind(recipe: Path) -> None:
    code = Path(objectives.__path__[-1]) / "far_away.py"
    code.write_text("import no_such_module\n", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        load_recipe(str(recipe), {"stages.0.objective": "{kind: far_away}"})
