"""Runs resume, failures stay small, embeddings are computed once, thresholds never see the test split."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.known_answers import Oracle, write_sets
from tests.vectors.test_build import load_headed
from tests.vectors.test_command import texts_encoded
from turnloom.benchmarks import CachedEncoder, read_results, run_tasks, suite_tasks, tasks_named
from turnloom.benchmarks.data import labelled
from turnloom.benchmarks.task import Draws, Task
from turnloom.benchmarks.tasks.intent_prototypes import IntentPrototypes
from turnloom.benchmarks.tasks.out_of_scope import OutOfScope
from turnloom.benchmarks.tasks.response_selection import Selection, blocks, next_turns, selection_scores
from turnloom.benchmarks.tasks.similarity import Geometry
from turnloom.corpus.cleaning.hold_out import SUITES as HELD_OUT
from turnloom.errors import TurnloomError
from turnloom.runtime.object_encoder import ObjectEncoder
from turnloom.runtime.scorer import BM25


class Counting(Oracle):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.seen += texts
        return super().encode(texts)


class Failing(Geometry):
    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        raise RuntimeError("no such luck")


@pytest.fixture(autouse=True)
def _sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sets(tmp_path / "sets")
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path / "sets"))


def test_texts_are_encoded_once_and_kept(tmp_path: Path) -> None:
    model = Counting()
    encoder = CachedEncoder(ObjectEncoder(model), tmp_path / "cache")
    first = encoder.encode(["a key1", "b key2", "a key1"])
    assert sorted(model.seen) == ["a key1", "b key2"]
    assert np.array_equal(first[0], first[2])
    again = Counting()
    second = CachedEncoder(ObjectEncoder(again), tmp_path / "cache").encode(["b key2", "a key1"])
    assert again.seen == []
    assert np.array_equal(second, first[[1, 0]])
    assert sorted(model.seen) == sorted(set(model.seen))


def test_a_text_is_encoded_once_for_all_roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    headed = load_headed(tmp_path)
    replies, contexts = ["more about a1", "bye"], [["bye"], ["about q1", "more about a1"]]
    expected = headed.encode_query(contexts), headed.encode_document(replies)
    encoded = texts_encoded(monkeypatch)
    cached = CachedEncoder(headed)
    cached.encode(replies)
    assert np.allclose(cached.encode_query(contexts), expected[0], atol=1e-5)
    assert np.allclose(cached.encode_document(replies), expected[1], atol=1e-5)
    assert sorted(encoded) == sorted([*replies, headed.format_context(contexts[1])])


def test_two_runs_of_one_model_at_a_time_keep_what_both_encoded(tmp_path: Path) -> None:
    one, other = (CachedEncoder(ObjectEncoder(Counting()), tmp_path) for _ in range(2))
    one.encode(["a key1"])
    other.encode(["b key2"])
    one.encode(["c key3"])
    third = Counting()
    CachedEncoder(ObjectEncoder(third), tmp_path).encode(["a key1", "b key2", "c key3"])
    assert third.seen == []


def test_a_failing_task_does_not_lose_the_others_and_a_run_resumes(tmp_path: Path) -> None:
    model = Counting()
    tasks: list[Task] = [Failing(), IntentPrototypes("snips", 1)]
    result = run_tasks(CachedEncoder(ObjectEncoder(model)), tasks, tmp_path / "out", draws=2)
    assert result.tasks["geometry-clinc150"].error == "RuntimeError: no such luck"
    assert result.tasks["intent-1shot-snips"].mean() == pytest.approx(100)
    assert read_results(tmp_path / "out") == result
    model.seen.clear()
    started: list[str] = []
    run_tasks(
        CachedEncoder(ObjectEncoder(model)),
        [Geometry(), IntentPrototypes("snips", 1)],
        tmp_path / "out",
        draws=2,
        on_task=lambda name, *_: started.append(name),
    )
    assert started == ["geometry-clinc150"]
    other = ObjectEncoder(model)
    other.fingerprint = "another"
    with pytest.raises(TurnloomError, match="results of another model"):
        run_tasks(CachedEncoder(other), tasks, tmp_path / "out")


def test_other_languages_are_measured_and_not_in_means(tmp_path: Path) -> None:
    model = ObjectEncoder(Oracle())
    model.languages = frozenset({"en"})
    names = ["sts-stsb_en", "sts-dialoguecse_jddc"]
    result = run_tasks(CachedEncoder(model), tasks_named(names), tmp_path / "out")
    assert set(result.tasks) == set(names)
    assert [result.counts(result.tasks[name]) for name in names] == [True, False]


class Spying(Oracle):
    """Moves every text of the test split by some angle: what only looks at other splits does not notice."""

    def __init__(self, moved: set[str]) -> None:
        self.moved = moved

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = super().encode(texts)
        shift = np.array([0.7 if text in self.moved else 0.0 for text in texts])
        vectors[:, 0] += shift * np.linalg.norm(vectors, axis=1)
        return vectors


def _thresholds(task: OutOfScope, model: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    import turnloom.benchmarks.tasks.out_of_scope as module

    seen: list[float] = []
    rates = module._rates

    def spy(credit: Any, inside: Any, outside: Any, threshold: float) -> dict[str, float]:
        seen.append(threshold)
        return rates(credit, inside, outside, threshold)

    with monkeypatch.context() as patch:
        patch.setattr(module, "_rates", spy)
        task.evaluate(CachedEncoder(ObjectEncoder(model)), 1, 0)
    return seen


@pytest.mark.parametrize("dataset", ["clinc150", "banking77_oos"])
def test_only_the_transductive_threshold_sees_the_test_split(dataset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("test", "oos_test") if dataset == "clinc150" else ("test", "id_oos_test", "ood_oos_test")
    moved = set(labelled(dataset, *files).texts)
    for threshold in ("validation", "transductive"):
        task = OutOfScope(dataset, 1, threshold)  # type: ignore[arg-type]
        plain, shifted = (_thresholds(task, model, monkeypatch) for model in (Oracle(), Spying(moved)))
        assert (plain == shifted) == (threshold == "validation")
        assert task.info.thresholds_from == ("validation" if threshold == "validation" else "test")


def test_a_reply_that_equals_the_truth_is_no_wrong_candidate() -> None:
    similarities = np.array([[0.5, 0.9, 0.1], [0.0, 1.0, 0.0], [0.2, 0.2, 0.2]])
    scores = selection_scores(similarities, ["same", "same", "other"])
    assert scores[0]["top1"] == 100  # The better one has the truth's text and is left out.
    assert scores[2]["top1"] == pytest.approx(100 / 3)


def test_blocks_are_shuffled_and_disjoint() -> None:
    pairs = [Selection((f"c{n}",), f"r{n}") for n in range(950)]
    found = blocks(pairs, seed=3)
    assert [len(block) for block in found] == [100] * 9
    used = [pair.reply for block in found for pair in block]
    assert len(set(used)) == 900
    assert used != [pair.reply for pair in pairs[:900]]
    assert found == blocks(pairs, seed=3)
    assert found != blocks(pairs, seed=4)


def test_a_context_of_all_turns_may_have_any_length() -> None:
    dialogue = [("a", "hi"), ("b", "hello"), ("b", "how can I help?"), ("a", "my card is lost"), ("b", "oh no")]
    every, three = (list(next_turns([dialogue], turns)) for turns in (None, 3))
    # The third turn is of the speaker before, and no reply.
    assert every == [
        Selection(("hi",), "hello"),
        Selection(("hi", "hello", "how can I help?"), "my card is lost"),
        Selection(("hi", "hello", "how can I help?", "my card is lost"), "oh no"),
    ]
    assert three == [every[1], Selection(("hello", "how can I help?", "my card is lost"), "oh no")]


def test_all_turns_are_named_tasks_of_their_own() -> None:
    names = ["select-sgd-all", "select-sgd-all-heads", "select-topical_chat-all", "select-topical_chat-all-heads"]
    assert [task.info.name for task in tasks_named(names)] == names
    assert not any("topical_chat" in task.info.name for task in suite_tasks("all"))


def test_bm25_against_the_formula() -> None:
    texts = ["the cat sat", "the dog", "a cat and a cat"]
    found = BM25(texts).scores(["cat cat", "zebra"])
    lengths, mean = [3, 2, 5], 10 / 3
    idf = np.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = [
        idf * count * 2.5 / (count + 1.5 * (1 - 0.75 + 0.75 * length / mean)) if count else 0
        for count, length in zip([1, 0, 2], lengths, strict=True)
    ]
    assert found[0] == pytest.approx(expected)
    assert found[1] == pytest.approx([0, 0, 0])


def test_suites_and_what_is_held_out_for_them_agree() -> None:
    for suite in ("dse", "dialoguecse", "tadse", "conversation"):
        assert {task.info.dataset for task in suite_tasks(suite)} == set(HELD_OUT[suite])
    names = [task.info.name for task in suite_tasks("all")]
    assert len(names) == len(set(names))
    with pytest.raises(TurnloomError, match="no suite 'nothing'"):
        suite_tasks("nothing")
    with pytest.raises(TurnloomError, match="no task 'nothing'"):
        tasks_named(["nothing"])
