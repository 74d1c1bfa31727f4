"""The report: who is ranked, what is bold, where vectors come from, and what may stand beside published numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.known_answers import Oracle, write_sets
from tests.benchmarks.test_compare import FAMILIES, result, run, simulated
from turnloom.benchmarks import CachedEncoder, RunResult, run_tasks, tasks_named
from turnloom.benchmarks.cache import read_vectors
from turnloom.benchmarks.report import build_report, maps
from turnloom.benchmarks.report.leaderboard import find_standing, leaderboard, standing_in_words, task_tables
from turnloom.benchmarks.report.published import PublishedTable, published_tables
from turnloom.benchmarks.suites import suite_tasks
from turnloom.pages.plots import heat_map
from turnloom.runtime.object_encoder import ObjectEncoder

TASKS = ["intent-1shot-banking77", "intent-5shot-banking77", "oos-1shot-clinc150", "select-amazon_qa"]


class Blurred(Oracle):
    """Knows the answer, and hears it through noise."""

    name = fingerprint = "blurred"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        noise = [np.random.default_rng(list(text.encode())).normal(0, 2.2, 512) for text in texts]
        return super().encode(texts) + np.stack(noise)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, RunResult], Path]]:
    """Two encoders on small sets, and where their vectors are kept."""
    folder = tmp_path_factory.mktemp("measured")
    write_sets(folder / "sets")
    tasks = tasks_named([*TASKS, "geometry-clinc150"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNLOOM_DATA", str(folder / "sets"))
        runs = {
            model.name: run_tasks(
                CachedEncoder(ObjectEncoder(model), folder / "cache"), tasks, folder / model.name, draws=3
            )
            for model in (Blurred(), Oracle())
        }
        yield runs, folder / "cache"


def test_vectors_are_read_without_a_model(tmp_path: Path) -> None:
    texts = [f"text of key{number}" for number in range(5)]
    kept = CachedEncoder(ObjectEncoder(Oracle()), tmp_path).encode(texts)
    found = read_vectors(tmp_path, "oracle", [texts[3], texts[1], texts[3]])
    assert found is not None
    assert np.array_equal(found, kept[[3, 1, 3]])
    assert read_vectors(tmp_path, "oracle", [*texts, "never seen key9"]) is None
    assert read_vectors(tmp_path, "another", texts) is None


def test_the_whole_page(measured: tuple[dict[str, RunResult], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    # t-SNE takes seconds; the test in a browser has it.
    monkeypatch.setattr(maps, "_plane", lambda vectors, _: np.asarray(vectors, np.float64)[:, :2])
    page = build_report(*measured)
    assert "oracle has the highest overall mean. It is clearly better than blurred." in page
    assert page.count("t-SNE map of 8 intents and out-of-scope messages") == 2
    assert page.count("t-SNE map of 30 questions and their answers") == 2
    assert page.count("most frequent mistakes of") == 2
    assert "No vectors" not in page
    assert "<script" not in page
    assert "src=" not in page
    assert "test example" not in page  # No text of a public set is copied into the page.


def test_missing_vectors_and_sets_are_said(
    tmp_path: Path, measured: tuple[dict[str, RunResult], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = build_report(measured[0], tmp_path / "empty")
    for task in ("oos-1shot-clinc150", "select-amazon_qa", "intent-5shot-banking77"):
        assert f"turnloom evaluate MODEL --tasks {task} --cache {tmp_path}/empty" in page
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path / "nowhere"))
    assert "Not drawn. clinc150 is not in" in build_report(*measured)


def _runs(leads: dict[str, float]) -> dict[str, RunResult]:
    rng = np.random.default_rng(0)
    common = simulated(rng, 10, 50)
    return {
        name: run(name, *(result(common + lead + rng.normal(0, 0.5, common.shape), kind) for kind in FAMILIES[:2]))
        for name, lead in leads.items()
    }


def test_order_and_who_is_no_worse_than_the_best() -> None:
    standing = find_standing(_runs({"low": -5, "good": 0, "as good": 0.001}))
    assert [standing.places[name].is_clear for name in standing.places] == [False, False, True]
    assert list(standing.places)[2] == "low"
    words = standing_in_words(standing)
    assert "There is no clear difference between it and " in words
    assert words.endswith("It is clearly better than low.")
    assert leaderboard(standing).count("●</th>") == 2


def test_bold_only_when_clear() -> None:
    equal = find_standing(_runs({"a": 0, "b": 0.001}))
    assert equal.clear_best("task0") is None
    assert "<b>" not in task_tables(equal)
    clear = find_standing(_runs({"a": 0, "b": 5, "c": 1}))
    assert clear.clear_best("task0") == "b"
    assert task_tables(clear).count("<b>") == 2


def test_a_run_without_a_family_is_not_ranked() -> None:
    runs = _runs({"a": 0, "b": 1})
    runs["part"] = run("part", runs["b"].tasks["task0"])
    standing = find_standing(runs)
    assert list(standing.places) == ["b", "a"]
    assert list(standing.runs) == ["b", "a", "part"]
    assert "Not ranked, since not measured on every family of tasks: part." in leaderboard(standing)


def test_names_are_escaped() -> None:
    page = leaderboard(find_standing(_runs({"<i>a": 0, "b & c": 3})))
    assert "<i>" not in page
    assert "b &amp; c" in page


def test_confusions_by_hand() -> None:
    found = maps.Confusion(["a", "b", "c"], np.array([[9, 1, 0], [4, 6, 0], [0, 0, 10]]))
    assert found.worst_pairs(5) == [(1, 0), (0, 1)]
    assert found.worst_intents(2) == [0, 1]
    drawn = heat_map("title", found.counts, found.names)
    assert drawn.count('class="mark"') == 2


def test_published_numbers_name_tasks_that_exist() -> None:
    known = {task.info.name for task in suite_tasks("all")}
    tables = published_tables()
    assert {column.task for table in tables if table.same for column in table.columns} <= known
    apart = " ".join(column.label for table in tables if not table.same for column in table.columns)
    assert all(name in apart for name in ("SNIPS, 1 shot", "HWU64", "AmazonQA", "DSTC7"))
    entry = {"paper": "p", "same": True, "reason": "r", "columns": [{"label": "x"}], "rows": {"m": [1.0]}}
    with pytest.raises(ValueError, match="tasks are named where"):
        PublishedTable.model_validate(entry)
    with pytest.raises(ValueError, match="another number of columns"):
        PublishedTable.model_validate({**entry, "same": False, "rows": {"m": [1.0, 2.0]}})
