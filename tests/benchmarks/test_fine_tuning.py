"""Fine-tuned tasks against known answers, the loop's promises, and what encoders are shown when."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.benchmarks.known_answers import CLASSES, Constant, Oracle, write_sets
from tests.runtime.test_encoder import tiny_model
from turnloom.benchmarks import CachedEncoder, run_tasks, suite_tasks, tasks_named
from turnloom.benchmarks.fine_tune import (
    FineTuning,
    LabelObjective,
    Places,
    draw_few_shot,
    fine_tune,
    simclr_loss,
    trainable_copy,
)
from turnloom.benchmarks.task import Task
from turnloom.benchmarks.tasks.fine_tuning import ActionFineTuning, IntentFineTuning, SelectionFineTuning
from turnloom.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnloom.runtime import load_encoder
from turnloom.runtime.object_encoder import ObjectEncoder

SHORT = FineTuning(epochs=20, batch_size=16, evaluate_every=10, patience=3)
TASKS: list[Task] = [
    IntentFineTuning("snips", 2, SHORT),
    ActionFineTuning("gsim", 4, SHORT),
    SelectionFineTuning("amazon_qa", 40, replace(SHORT, epochs=3), test_pairs=300),
]
NAMES = [task.info.name for task in TASKS]


class Trainable(ObjectEncoder):
    """Known vectors and a shift of all of them that training may move; remembers what it was shown, and for what."""

    copies: list[Trainable]

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.shown: list[tuple[str, str]] = []
        self.copies = []
        self._shift = torch.nn.Parameter(torch.zeros(model.encode(["key1"]).shape[1]))

    def copy(self, max_length: int | None = None, cut: str = "end") -> Trainable:
        self.copies.append(copy.deepcopy(self))
        return self.copies[-1]

    def parameters(self) -> list[torch.nn.Parameter]:
        return [self._shift]

    def _vectors(self, texts: Sequence[str]) -> torch.Tensor:
        return torch.from_numpy(super().encode(texts)) + self._shift

    def embed(self, texts: Sequence[str]) -> torch.Tensor:
        self.shown += [("trained on", text) for text in texts]
        return self._vectors(texts)

    def encode(self, texts: Sequence[str]) -> Any:
        self.shown += [("encoded", text) for text in texts]
        return self._vectors(texts).detach().numpy()


def _actions(split: str, rng: random.Random | None) -> bytes:
    """A message of each key and the acts after it; three quarters of the keys share one act."""
    acts = [[f"ACT{key}:slot", *(["COMMON"] if key < 6 else [])] for key in range(CLASSES) for _ in range(20)]
    rows = []
    said = rng.sample(acts, len(acts)) if rng else acts
    for n in range(len(acts)):
        user = {"speaker": "user", "text": f"{split} message {n} of key{n // 20}"}
        rows.append({"id": f"{split}{n}", "turns": [user, {"speaker": "system", "text": "ok", "acts": said[n]}]})
    return gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sets")
    for name, rng in (("whole", None), ("shuffled", random.Random(0))):
        write_sets(root / name, shuffled=rng is not None)
        (root / name / "gsim").mkdir(exist_ok=True)
        for split in ("train", "dev", "test"):
            path = root / name / "gsim" / f"sim-M.{split}.jsonl.gz"
            path.write_bytes(_actions(split, rng if split == "test" else None))
    return root


@pytest.fixture(autouse=True)
def _whole(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLOOM_DATA", str(sets / "whole"))


def _score(task: Task, model: Any, draws: int = 2) -> float:
    found = task.evaluate(CachedEncoder(Trainable(model)), draws, 0)
    return float(np.mean([draw.scores[task.info.main_score] for draw in found]))


def _f1(hits: float, predicted: float, true: float) -> float:
    return 100 * 2 * hits / (predicted + true)


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_an_oracle_scores_100(task: Task) -> None:
    assert _score(task, Oracle()) == pytest.approx(100)


@pytest.mark.parametrize(
    ("task", "chance"),
    # A constant can say only what most examples have: the common act, which 6 of 8 have beside their own.
    [(TASKS[0], 100 / CLASSES), (TASKS[1], _f1(6, 8, 14)), (TASKS[2], 1.0)],
    ids=NAMES,
)
def test_a_constant_scores_chance(task: Task, chance: float) -> None:
    assert _score(task, Constant()) == pytest.approx(chance)


@pytest.mark.parametrize(
    ("task", "chance"),
    # Right labels of other examples: an own act is hit by 1 in 8, the common one by 6 in 8 of the 6 in 8 that have it.
    [(TASKS[0], 100 / CLASSES), (TASKS[1], _f1(1 / 8 + 9 / 16, 14 / 8, 14 / 8)), (TASKS[2], 1.0)],
    ids=NAMES,
)
def test_torn_apart_data_scores_chance(task: Task, chance: float, sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLOOM_DATA", str(sets / "shuffled"))
    assert _score(task, Oracle()) == pytest.approx(chance, abs=8)


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
def test_nothing_of_the_test_is_seen_before_training_is_over(task: Task) -> None:
    model = Trainable(Oracle())
    task.evaluate(CachedEncoder(model), 2, 0)
    assert model.shown == []
    assert len(model.copies) == 2
    for tuned in model.copies:
        last = max(place for place, (what, _) in enumerate(tuned.shown) if what == "trained on")
        early = {text for _, text in tuned.shown[: last + 1]}
        # Behind the last step come the last look at validation texts, seen before, and the test.
        late = [text for _, text in tuned.shown[last + 1 :]]
        tested = [text for text in late if text not in early]
        assert tested
        assert tested == late[-len(tested) :]
        if not isinstance(task, SelectionFineTuning):
            assert all(text.startswith("train ") for text in early)
            assert all(text.startswith("test ") for text in tested)


@pytest.mark.parametrize("task", TASKS[:2], ids=NAMES[:2])
def test_other_test_labels_change_nothing_in_training(task: Task, sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = []
    for name in ("whole", "shuffled"):
        monkeypatch.setenv("TURNLOOM_DATA", str(sets / name))
        models.append(Trainable(Oracle()))
        task.evaluate(CachedEncoder(models[-1]), 1, 0)
    first, second = (model.copies[0] for model in models)
    assert first.shown == second.shown
    assert torch.equal(first.parameters()[0], second.parameters()[0])
    assert first.parameters()[0].abs().sum() > 0


def test_draws_are_disjoint_and_complete() -> None:
    rng = np.random.default_rng(0)
    labels = [frozenset(rng.choice(["a", "b", "c", "d"], rng.integers(1, 3))) for _ in range(200)]
    labels += [frozenset({"rare"})] * 3
    train, validation = draw_few_shot(labels, 5, 0)
    assert not set(train) & set(validation)
    for places, rare in ((train, 2), (validation, 1)):
        assert len(set(places)) == len(places)
        counts = Counter(label for place in places for label in labels[place])
        assert counts["rare"] == rare
        assert all(counts[label] >= 5 for label in "abcd")
        assert sum(counts.values()) < 40
    again, other = draw_few_shot(labels, 5, 0), draw_few_shot(labels, 5, 1)
    assert np.array_equal(again[0], train)
    assert not np.array_equal(other[0], train)


def test_pairs_that_are_tested_are_not_trained_on() -> None:
    model = Trainable(Oracle())
    TASKS[2].evaluate(CachedEncoder(model), 1, 0)
    (tuned,) = model.copies
    tested = {text for what, text in tuned.shown[-600:] if what == "encoded"}
    assert len(tested) == 600
    assert not tested & {text for _, text in tuned.shown[:-600]}


class _Scripted:
    """Goes through given validation scores, one a look."""

    examples = 4

    def __init__(self, scores: list[float]) -> None:
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.scores = iter(scores)
        self.seen: list[float] = []

    def parameters(self) -> list[torch.nn.Parameter]:
        return [self.weight]

    def loss(self, places: Places) -> torch.Tensor:
        return -self.weight.sum()

    def validate(self) -> tuple[float]:
        self.seen.append(self.weight.item())
        return (next(self.scores),)


def test_the_best_weights_come_back_and_patience_ends() -> None:
    plan = FineTuning(epochs=100, batch_size=4, evaluate_every=2, patience=2, head_rate=0.1)
    objective = _Scripted([0.1, 0.3, 0.2, 0.4, 0.4, 0.2, 0.9])
    steps = fine_tune(Trainable(Constant()), objective, plan, 0)
    assert steps == 10  # Two looks after the best one, which was the third.
    assert objective.weight.item() == pytest.approx(objective.seen[3])
    assert objective.seen[3] > objective.seen[2] > 0
    useless = _Scripted([0.5, 0.1, 0.1])
    fine_tune(Trainable(Constant()), useless, plan, 0)
    assert useless.weight.item() == 0


def test_a_sentence_transformer_learns_the_same_every_time(tmp_path: Path) -> None:
    tiny_model.folder = tmp_path  # type: ignore[attr-defined]
    encoder = load_encoder(tiny_model())
    before = encoder.encode(["my card is lost"])
    texts = ["hello there", "yes please", "my card is lost", "no card"] * 4
    labels = np.array([0, 0, 1, 1] * 4)
    plan = FineTuning(epochs=40, encoder_rate=1e-3, head_rate=1e-2)
    found = []
    torch.manual_seed(5)
    state = torch.random.get_rng_state()
    for _ in range(2):
        tuned = trainable_copy(CachedEncoder(encoder), plan)
        objective = LabelObjective(tuned, (texts, labels), (texts, labels), 2, plan)
        fine_tune(tuned, objective, plan, 0)
        found.append(objective.logits(texts))
    assert np.array_equal(found[0], found[1])
    assert (found[0].argmax(axis=1) == labels).all()
    assert np.array_equal(encoder.encode(["my card is lost"]), before)
    assert np.abs(tuned.encode(["my card is lost"]) - before).max() > 1e-3
    assert torch.equal(torch.random.get_rng_state(), state)


def test_what_cannot_be_trained_fails_alone(tmp_path: Path) -> None:
    tasks: list[Task] = [TASKS[0], IntentPrototypes("snips", 1)]
    result = run_tasks(CachedEncoder(ObjectEncoder(Oracle())), tasks, tmp_path, draws=1)
    error = result.tasks[NAMES[0]].error
    assert error is not None
    assert error.startswith("oracle cannot be fine-tuned: ")
    assert result.tasks["intent-1shot-snips"].mean() == pytest.approx(100)


def test_simclr_by_hand() -> None:
    first, second = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    # Each vector has its partner at cosine 1 and two others at 0.
    expected = -np.log(np.exp(2.0) / (np.exp(2.0) + 2))
    assert simclr_loss(first, second, temperature=0.5).item() == pytest.approx(expected)


def test_the_suite_is_small_and_more_can_be_named() -> None:
    names = {task.info.name for task in suite_tasks("dse-finetune")}
    assert len(names) == 8
    assert not names & {task.info.name for task in suite_tasks("all")}
    assert len(tasks_named([*names, "finetune-intent-1shot-clinc150"])) == 9
