from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from turnloom.corpus import convert, read_table
from turnloom.corpus.catalog import DataSet, data_root, get_dataset, load_catalog, training_dialogues
from turnloom.corpus.catalog.fetch import fetch_plan
from turnloom.corpus.table import bucket
from turnloom.errors import TurnloomError


def test_every_entry_says_what_a_user_must_know() -> None:
    catalog = load_catalog()
    assert len(catalog) == 42
    for entry in catalog.values():
        assert entry.tasks
        assert entry.citation.count("(") >= 1
        assert entry.licence
        assert all("@" in source and source.startswith("github.com/") for source in entry.sources)
        assert all(len(source.rpartition("@")[2]) == 40 for source in entry.sources)
        assert "train" in entry.splits or "dev" in entry.splits or "all" in entry.splits


def test_the_open_training_dialogues_are_as_many_as_published() -> None:
    names = {
        entry.name: entry.split_files("train" if "train" in entry.splits else "all") for entry in training_dialogues()
    }
    files = [get_dataset(name).files[file] for name, files in names.items() for file in files]
    rows = [file for file in files if file.kind == "dialogues"]
    assert sum(file.rows for file in rows) == 81_692
    assert sum(file.turns or 0 for file in rows) == 1_216_343


def test_known_overlaps_are_declared_on_both_sides_of_danger() -> None:
    assert "dailydialog" in get_dataset("dialogsum").overlaps
    assert "dialogsum" in get_dataset("dailydialog").overlaps
    assert "multiwoz21" in get_dataset("woz20").overlaps


def test_a_misspelt_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(TurnloomError, match="did you mean clinc150"):
        get_dataset("clink150")


def test_five_sets_can_be_fetched() -> None:
    assert sum(fetch_plan(name) is not None for name in load_catalog()) == 5
    plan = fetch_plan("sgd")
    assert plan is not None
    assert len(plan.files) == 127 + 20 + 34
    assert all(len(blob) == 40 for blob in plan.files.values())


def test_inconsistent_entries_are_refused() -> None:
    entry = get_dataset("star").model_dump()
    with pytest.raises(ValueError, match="do not add up"):
        DataSet(**{**entry, "split_rule": {"train": 50}})
    with pytest.raises(ValueError, match="not listed"):
        DataSet(**{**entry, "splits": {"all": ["nothing"]}})


def test_a_rule_splits_into_disjoint_parts_that_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "star"
    folder.mkdir()
    rows = [{"id": str(number), "turns": [{"speaker": "u", "text": f"text {number}"}]} for number in range(2_000)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "all.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))
    assert data_root() == tmp_path
    parts = {}
    for split in ("train", "dev", "test", "all"):
        convert(get_dataset("star").logs(split), tmp_path / split)
        parts[split] = set(read_table(tmp_path / split).to_pydict()["dialogue_id"])
    assert parts["train"] | parts["dev"] | parts["test"] == parts["all"]
    assert sum(len(parts[split]) for split in ("train", "dev", "test")) == 2_000
    assert 1_540 < len(parts["train"]) < 1_660
    assert all(bucket("star", name) < 80 for name in parts["train"])


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path))
    with pytest.raises(TurnloomError, match="set TURNLOOM_DATA"):
        get_dataset("sgd").folder()
    (tmp_path / "sgd").mkdir()
    with pytest.raises(TurnloomError, match=r"train\.jsonl\.gz is missing"):
        get_dataset("sgd").logs("train")
    with pytest.raises(TurnloomError, match="holds no dialogues"):
        get_dataset("clinc150").logs("train")
    with pytest.raises(TurnloomError, match="has no split 'validation'"):
        get_dataset("sgd").logs("validation")
