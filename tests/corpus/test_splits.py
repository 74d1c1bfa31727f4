"""A table in two parts: nothing is lost, nothing is in both, and a dialogue keeps its part."""

from __future__ import annotations

from pathlib import Path

from tests.training.toy import conversations, write_table
from turnloom.corpus import read_manifest, read_table
from turnloom.corpus.table import split_table


def ids(folder: Path) -> set[str]:
    return {row["dialogue_id"] for row in read_table(folder).select("dialogue_id").iter_rows()}


def test_every_dialogue_is_in_one_part_and_keeps_it(tmp_path: Path) -> None:
    few, many = (write_table(tmp_path / str(count), conversations(count)) for count in (100, 300))
    for table in (few, many):
        split_table(table, table / "train", table / "apart", 20)
    assert ids(many / "train") | ids(many / "apart") == ids(many)
    assert not ids(many / "train") & ids(many / "apart")
    assert 40 <= read_manifest(many / "apart").dialogues <= 80
    assert ids(few / "apart") == ids(few) & ids(many / "apart")
    before = (few / "train" / "manifest.json").stat().st_mtime_ns
    split_table(few, few / "train", few / "apart", 20)
    assert (few / "train" / "manifest.json").stat().st_mtime_ns == before
