"""The file that keeps a study's raw results."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from studies.lib.results import Results


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").mkdir()
    return Results("one", tmp_path)


def test_documents_of_a_run_are_added_and_replaced(results: Results) -> None:
    assert not results.is_done("b")
    results.put("b", {"training": {"curve": [{"step": 1.0}], "minutes": 0.1}})
    results.put("a", {"done": {}})
    results.put("b", {"done": {"measured": []}})
    assert results.curve("b") == [{"step": 1.0}]
    assert results.is_done("b")
    assert results.scores("b") is None
    assert list(results.runs()) == ["a", "b"]
    assert len(results.path.read_text().splitlines()) == 4, "a run is one line, between two braces"


def test_a_folder_of_a_run_is_read_back(results: Results) -> None:
    results.put("int8/a", {"results": {"tasks": 1}})
    with results.folder("int8/a") as folder:
        assert json.loads((folder / "results.json").read_text()) == {"tasks": 1}
        (folder / "results.json").write_text('{"tasks": 2}')
        (folder / "times.json").write_text("[]")
    assert results.runs() == {"int8/a": {"results": {"tasks": 2}, "times": []}}
    assert not folder.exists()


def test_an_interrupted_measurement_continues(results: Results) -> None:
    results.put("a", {"results": {"tasks": 1}})
    with contextlib.suppress(KeyboardInterrupt), results.folder("a") as folder:
        (folder / "results.json").write_text('{"tasks": 2}')
        raise KeyboardInterrupt
    assert results.get("a", "results") == {"tasks": 1}
    with results.folder("a") as folder:
        assert json.loads((folder / "results.json").read_text()) == {"tasks": 2}
    assert results.get("a", "results") == {"tasks": 2}
