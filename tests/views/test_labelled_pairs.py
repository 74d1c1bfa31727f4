"""Labelled pairs from every format that they come in."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from turnloom.errors import TurnloomError
from turnloom.views import LabelledPairs, build_view, load_view

ROWS = [
    {"sent0": 'she said "no",\nand left', "sent1": "She went away", "hard_neg": "she stayed", "label": "entailment"},
    {"sent0": "猫が好き", "sent1": "I like cats", "hard_neg": "I hate cats", "label": "entailment"},
    {"sent0": "it rains", "sent1": "SHE went away", "hard_neg": "it is dry", "label": "neutral"},
    {"sent0": " ", "sent1": "nothing said", "hard_neg": "something", "label": "entailment"},
    {"sent0": "no negative", "sent1": "none at all", "hard_neg": None, "label": "entailment"},
]
VIEW = LabelledPairs(anchor="sent0", positive="sent1", negative="hard_neg")


def write_jsonl(path: Path) -> None:
    lines = "".join(json.dumps({**row, "id": 5}) + "\n" for row in ROWS)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())


def write_csv(path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(ROWS[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(ROWS)


def write_parquet(path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), path)


FORMATS: dict[str, Callable[[Path], None]] = {
    "nli.jsonl": write_jsonl,
    "nli.jsonl.gz": write_jsonl,
    "nli.csv": write_csv,
    "nli.tsv": write_csv,
    "nli.parquet": write_parquet,
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats(tmp_path: Path, name: str) -> None:
    FORMATS[name](tmp_path / name)
    manifest = build_view(tmp_path / name, tmp_path / "view", VIEW)
    assert manifest.rows == {"": {"nli": 3}}
    rows = sorted(load_view(tmp_path / "view").to_list(), key=lambda row: str(row["reply"]))
    assert rows == [
        {"context": ["猫が好き"], "reply": "I like cats", "negative": "I hate cats", "frequency": 1, "source": "nli"},
        {"context": ["it rains"], "reply": "SHE went away", "negative": "it is dry", "frequency": 2, "source": "nli"},
        {
            "context": ['she said "no",\nand left'],
            "reply": "She went away",
            "negative": "she stayed",
            "frequency": 2,
            "source": "nli",
        },
    ]


def test_only_some_labels_and_no_negatives(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "nli.jsonl")
    view = LabelledPairs(anchor="sent0", positive="sent1", where={"label": "entailment"})
    build_view(tmp_path / "nli.jsonl", tmp_path / "view", view)
    loaded = load_view(tmp_path / "view")
    assert loaded.column_names == ["context", "reply", "frequency", "source"]
    assert sorted(loaded["reply"]) == ["I like cats", "She went away", "none at all"]


def test_files_are_weighted_by_name_and_frequencies_are_not(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl")
    write_jsonl(tmp_path / "b.jsonl")
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    manifest = build_view(files, tmp_path / "view", VIEW, source_weights={"a": 3, "b": 0})
    assert manifest.rows == {"": {"a": 9}}
    counts = {row["reply"]: row["frequency"] for row in load_view(tmp_path / "view")}
    assert counts == {"I like cats": 2, "SHE went away": 4, "She went away": 4}


@pytest.mark.parametrize("name", ["nli.jsonl", "nli.csv", "nli.parquet"])
def test_a_missing_column_is_named(tmp_path: Path, name: str) -> None:
    FORMATS[name](tmp_path / name)
    view = LabelledPairs(anchor="sent0", positive="premise")
    with pytest.raises(TurnloomError, match="premise"):
        build_view(tmp_path / name, tmp_path / "view", view)


def test_what_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "pairs.doc").touch()
    (tmp_path / "pairs.jsonl").write_text('{"anchor": "a", "positive": ["b"]}\n')
    for name, problem in (("pairs.doc", "neither"), ("pairs.jsonl", "cannot be read"), ("none.csv", "cannot be read")):
        with pytest.raises(TurnloomError, match=problem):
            build_view(tmp_path / name, tmp_path / "view", LabelledPairs())
