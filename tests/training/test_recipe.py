"""Recipes: what comes with Turnloom is valid, what is changed is changed, what is wrong is named."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from turnloom.errors import TurnloomError
from turnloom.training import load_recipe, recipe_names, recipe_text, trained_on_vectors

TRAIN_ON_TEXTS = [name for name in recipe_names() if not trained_on_vectors(name)]


@pytest.mark.parametrize("name", TRAIN_ON_TEXTS)
def test_every_recipe_is_valid_and_explains_itself(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe_text(name).startswith("# ")
    assert recipe.model.start is None
    last = recipe.stages[-1].objective
    can_keep = getattr(last, "head", None) == "context-reply" or getattr(last, "template_layer", False)
    assert recipe.keep_heads == can_keep


@pytest.mark.parametrize("name", TRAIN_ON_TEXTS)
def test_a_recipe_can_be_pickled_and_hashed(name: str, recwarn: pytest.WarningsRecorder) -> None:
    from datasets.fingerprint import Hasher

    recipe = load_recipe(name)
    copy = pickle.loads(pickle.dumps(recipe))
    assert copy == recipe
    # Datasets warns at length about what it cannot hash, and caches nothing of it.
    assert Hasher.hash(recipe.stages[0].objective) == Hasher.hash(copy.stages[0].objective)
    assert not [warning for warning in recwarn if "ickl" in str(warning.message)]


def test_the_methods_of_the_papers_are_there() -> None:
    assert {"mlm", "dse", "dse-123-1", "dse-dropout", "wmdc", "simcse", "tod-bert"} <= set(recipe_names())


def test_places_can_be_changed() -> None:
    changes = {"stages.0.batch_size": "256", "stages.0.encoder_rate": "3e-5", "model.start": "some/folder"}
    recipe = load_recipe("dse", changes)
    assert recipe.stages[0].batch_size == 256
    assert recipe.stages[0].encoder_rate == pytest.approx(3e-5)
    assert recipe.model.start == "some/folder"
    assert load_recipe("dse").stages[0].batch_size == 128


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"stages.0.batch_size": "1"}, r"dse, stages\.0\.batch_size: Input should be greater"),
        ({"stages.0.bach_size": "64"}, r"dse, stages\.0\.bach_size: Extra inputs"),
        ({"stages.7.batch_size": "64"}, r"--set stages\.7\.batch_size: there is no such setting"),
        ({"name": "[1"}, r"--set name: '\[1' is not valid YAML"),
        ({"name.first": "x"}, r"--set name\.first: there is no such setting"),
        ({"stages.0.objective.kind": "magic"}, r"objective: Input tag 'magic'"),
    ],
)
def test_mistakes_name_the_place(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(TurnloomError, match=problem):
        load_recipe("dse", changes)


def test_unknown_recipes_and_files(tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="there is no recipe 'dze'"):
        load_recipe("dze")
    with pytest.raises(TurnloomError, match=r"my\.yaml is not a file"):
        load_recipe(str(tmp_path / "my.yaml"))
    (tmp_path / "my.yaml").write_text("stages: [")
    with pytest.raises(TurnloomError, match=r"my\.yaml is not valid YAML"):
        load_recipe(str(tmp_path / "my.yaml"))
    (tmp_path / "my.yaml").write_text(recipe_text("wmdc"))
    assert load_recipe(str(tmp_path / "my.yaml")) == load_recipe("wmdc")
