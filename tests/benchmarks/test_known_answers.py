"""An oracle scores 100, a constant encoder scores chance, torn-apart data scores chance: for every task."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.known_answers import Constant, Oracle, chance, known_tasks, score, write_sets
from turnloom.benchmarks import Task
from turnloom.benchmarks.tasks.out_of_scope import OutOfScope

TASKS = known_tasks()
NAMES = [task.info.name for task in TASKS]


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sets")
    write_sets(root / "whole")
    write_sets(root / "shuffled", shuffled=True)
    return root


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_an_oracle_scores_100(task: Task, sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLOOM_DATA", str(sets / "whole"))
    assert score(task, Oracle()) == pytest.approx(100)


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_a_constant_encoder_scores_chance(task: Task, sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLOOM_DATA", str(sets / "whole"))
    assert score(task, Constant()) == pytest.approx(chance(task))


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_torn_apart_data_scores_chance(task: Task, sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(task, OutOfScope):
        pytest.skip("what is out of scope does not depend on labels")
    monkeypatch.setenv("TURNLOOM_DATA", str(sets / "shuffled"))
    # A stranger's nearest is one of 60 other strangers or of the 8 intents, whatever their number of examples.
    level = chance(task) if task.info.name != "knn-clinc150" else 100 * (240 / 8 + 60 * 60 / 68) / 300
    margin = {"similarity": 20.0, "semantic retrieval": 12.0}.get(task.info.family, 8.0)
    assert score(task, Oracle()) == pytest.approx(level, abs=margin)
