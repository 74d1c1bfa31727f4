"""A student that learns from the vectors of another model, as the command line trains it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.training.toy import conversations, write_start, write_table
from turnloom.errors import TurnloomError
from turnloom.objectives.taught import Teachers
from turnloom.runtime import load_encoder
from turnloom.training import Recipe, load_recipe, train
from turnloom.vectors import VectorOptions, build_vectors


def recipe(start: Path, teacher: Path, steps: int = 40) -> Recipe:
    changes = {
        "model.start": str(start),
        "stages.0.objective.teachers": f"[{teacher}]",
        "stages.0.batch_size": "32",
        "stages.0.steps": str(steps),
        "stages.0.encoder_rate": "2e-3",
        "report_to": "none",
        "bf16": "false",
        "evaluate_every": "0",
    }
    return load_recipe("taught", changes)


@pytest.fixture(scope="module")
def teacher(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors of a model with other random weights and another width."""
    folder = tmp_path_factory.mktemp("teacher")
    model = write_start(folder / "model", width=48)
    build_vectors([table], folder / "vectors", VectorOptions(lambda: load_encoder(model)))
    return folder / "vectors"


def test_the_student_comes_closer_to_its_teacher(table: Path, start: Path, teacher: Path, tmp_path: Path) -> None:
    train(recipe(start, teacher), [table], tmp_path / "student")
    texts = [turn["text"] for one in conversations(300)[:40] for turn in one["turns"]]  # type: ignore[attr-defined]
    texts = list(dict.fromkeys(texts))
    known = Teachers([teacher])
    wanted = known.vectors(np.array(known.rows(texts)))

    def distance(model: Path) -> float:
        vectors = np.asarray(load_encoder(model).encode(texts))
        return float(np.abs(vectors @ vectors.T - wanted @ wanted.T).mean())

    assert distance(tmp_path / "student") < 0.7 * distance(start)


def test_turns_that_the_teacher_never_saw_are_named(start: Path, teacher: Path, tmp_path: Path) -> None:
    other = write_table(tmp_path / "other", conversations(60, seed=5))
    with pytest.raises(TurnloomError, match="the teachers have no vector of"):
        train(recipe(start, teacher), [other], tmp_path / "student")
