"""Views on disk: order, frequencies, weights, reuse, and reading them back."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.views.naive import naive_rows
from turnloom.corpus.engine import daft
from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
from turnloom.corpus.table import TableWriter
from turnloom.errors import TurnloomError
from turnloom.views import (
    Consecutive,
    ContextResponse,
    Dropout,
    Packed,
    ViewManifest,
    Windows,
    build_view,
    load_view,
    read_view_manifest,
    shuffle,
    stream_view,
)
from turnloom.views.dialogue_view import DialogueView


def corpus(count: int = 40) -> list[Dialogue]:
    rng = random.Random(3)
    said = ["Yes, that is fine", "yes, that is fine ", "What would you like to eat?", "Thank you very much indeed"]
    said += [f"I need a table for {number} people" for number in range(30)]
    return [
        Dialogue(
            f"{number}",
            ["shop", "inn"][number % 2],
            [Turn(["user", "system"][place % 2], rng.choice(said)) for place in range(rng.randint(0, 8))],
        )
        for number in range(count)
    ]


def write_table(folder: Path, dialogues: list[Dialogue], files: int = 1) -> Path:
    writer = TableWriter(folder)
    (writer.partial / "table").mkdir()
    for number in range(files):
        part = daft().from_arrow(dialogues_to_arrow(dialogues[number::files]))
        writer.write(part)
    writer.finish("test", {})
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "table", corpus())


def files_of(view: Path) -> dict[str, bytes]:
    return {str(path.relative_to(view)): path.read_bytes() for path in sorted(view.rglob("*.parquet"))}


def read(view: Path, group: str = "") -> list[dict[str, object]]:
    files = sorted((view / group).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]


@pytest.mark.parametrize("view", [Consecutive(turns=(1, 2)), Windows(), ContextResponse(), Packed(words=20)])
def test_what_is_written_is_what_the_loop_gives(table: Path, tmp_path: Path, view: DialogueView) -> None:
    manifest = build_view(table, tmp_path / "view", view)
    expected = naive_rows(corpus(), view)
    found = Counter(
        (group, tuple(row["context"]), row.get("reply"), row["source"])  # type: ignore[arg-type]
        for group in view.groups
        for row in read(tmp_path / "view", group)
    )
    assert found == Counter(expected)
    counts = {group: Counter(row[3] for row in expected if row[0] == group) for group in view.groups}
    assert manifest.rows == counts
    assert manifest.count() == len(expected)


def test_the_same_rows_give_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "TEXTS_PER_BUCKET", 50)
    dialogues = corpus()
    whole = write_table(tmp_path / "whole", dialogues)
    cut = write_table(tmp_path / "cut", dialogues[::-1], files=5)
    halves = [write_table(tmp_path / f"half{half}", dialogues[half::2]) for half in (0, 1)]
    weights = {"inn": 1.5}
    built = []
    inputs: list[Path | Sequence[Path]] = [whole, cut, halves]
    for number, source in enumerate(inputs):
        build_view(source, tmp_path / f"view{number}", Windows(), seed=7, source_weights=weights)
        built.append(files_of(tmp_path / f"view{number}"))
    assert built[0] == built[1] == built[2]
    assert list(built[0]) == [f"window-{size}/part-00000.parquet" for size in (1, 2, 3)]
    build_view(whole, tmp_path / "other", Windows(), seed=8, source_weights=weights)
    assert files_of(tmp_path / "other") != built[0]


def test_the_order_is_shuffled_and_equal_rows_stand_apart(tmp_path: Path) -> None:
    turns = [Turn("a", "where are you now?"), Turn("b", "I am at home"), Turn("a", "see you there then")]
    table = write_table(tmp_path / "table", [Dialogue(f"{number:03}", "s", turns) for number in range(200)])
    build_view(table, tmp_path / "view", Consecutive())
    replies = [row["reply"] for row in read(tmp_path / "view")]
    switches = sum(one != other for one, other in itertools.pairwise(replies))
    assert 160 < switches < 240


def test_shards_and_row_groups_are_bounded(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = build_view(table, tmp_path / "one", Consecutive()).count()
    monkeypatch.setattr(shuffle, "TEXTS_PER_BUCKET", 30)
    monkeypatch.setattr(shuffle, "SHARD_ROWS", 20)
    monkeypatch.setattr(shuffle, "ROWS_PER_ROW_GROUP", 10)
    build_view(table, tmp_path / "many", Consecutive())
    files = sorted((tmp_path / "many").glob("*.parquet"))
    assert len(files) == pytest.approx(expected / 20, abs=3)
    assert all(pq.ParquetFile(file).metadata.num_rows < 30 for file in files)
    assert read(tmp_path / "many") == read(tmp_path / "one")


def test_frequencies_are_counted_over_the_whole_set(tmp_path: Path) -> None:
    one = [Dialogue("1", "s", [Turn("a", "so what do we do?"), Turn("b", "Let us GO there")])]
    two = [
        Dialogue("2", "t", [Turn("a", "let us go there "), Turn("b", "let us go there"), Turn("a", "as you like it")])
    ]
    tables = [write_table(tmp_path / "one", one), write_table(tmp_path / "two", two)]
    build_view(tables, tmp_path / "view", Consecutive(), source_weights={"t": 0})
    assert [(row["reply"], row["frequency"]) for row in read(tmp_path / "view")] == [("Let us GO there", 2)]
    build_view(tables, tmp_path / "self", Dropout())
    counts = {row["reply"]: row["frequency"] for row in read(tmp_path / "self")}
    assert counts == {
        "so what do we do?": 1,
        "Let us GO there": 3,
        "let us go there ": 3,
        "let us go there": 3,
        "as you like it": 1,
    }


def test_distinct_texts(table: Path, tmp_path: Path) -> None:
    build_view(table, tmp_path / "each", Dropout(distinct=False))
    build_view(table, tmp_path / "once", Dropout())
    each = [str(row["reply"]) for row in read(tmp_path / "each")]
    once = [str(row["reply"]) for row in read(tmp_path / "once")]
    assert len(each) > len(set(each))
    assert sorted(once) == sorted(set(each))


def test_a_limit_takes_the_first_of_the_shuffled_order(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_view(table, tmp_path / "all", Windows())
    monkeypatch.setattr(shuffle, "TEXTS_PER_BUCKET", 50)  # The limit falls into a later bucket than the first.
    manifest = build_view(table, tmp_path / "some", Windows(), limit=17)
    for group in Windows().groups:
        assert manifest.count(group) == 17
        assert read(tmp_path / "some", group) == read(tmp_path / "all", group)[:17]


def test_a_view_is_built_once_and_half_a_view_again(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "view"
    steps: list[str] = []

    def build(view: DialogueView, **settings: Any) -> ViewManifest:
        steps.clear()
        return build_view(table, out, view, on_progress=lambda step, share: steps.append(step), **settings)

    first = build(Windows())
    assert set(steps) == {"making rows", "shuffling"}
    assert build(Windows()) == first
    assert steps == []
    assert read_view_manifest(out) == first
    (out / "manifest.json").unlink()
    (out / ".partial").mkdir()
    assert build(Windows()) == first
    assert steps
    load_view(out, "window-1")
    second = build(Consecutive(), seed=1)
    assert second.fingerprint != first.fingerprint
    assert {path.name for path in out.iterdir()} == {".files.json", "manifest.json", "part-00000.parquet"}
    others = [
        build(Consecutive(), **settings).fingerprint for settings in ({"limit": 5}, {"source_weights": {"inn": 2}})
    ]
    assert len({first.fingerprint, second.fingerprint, build(Consecutive()).fingerprint, *others}) == 5


def test_other_peoples_files_are_left_alone(table: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "thesis").mkdir(parents=True)
    (tmp_path / "out" / "thesis" / "final.doc").touch()
    with pytest.raises(TurnloomError, match="not a view's"):
        build_view(table, tmp_path / "out", Consecutive())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "chats.parquet").write_bytes(b"mine")
    with pytest.raises(TurnloomError, match=r"not a view's \(chats\.parquet\)"):
        build_view(table, tmp_path / "mine", Consecutive())
    assert (tmp_path / "mine" / "chats.parquet").read_bytes() == b"mine"
    with pytest.raises(TurnloomError, match="no source in to weight"):
        build_view(table, tmp_path / "view", Consecutive(), source_weights={"in": 2})
    with pytest.raises(TurnloomError, match="weights from 0"):
        build_view(table, tmp_path / "view", Consecutive(), source_weights={"inn": -1})
    with pytest.raises(TurnloomError, match="no whole view"):
        read_view_manifest(tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text(json.dumps({"rows": 3}))
    with pytest.raises(TurnloomError, match="not a view's manifest"):
        load_view(tmp_path / "out")


def test_a_view_is_read_back_mapped_or_streamed(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "view"
    build_view(table, out, Windows(sizes=(2, 20)))
    written = read(out, "window-2")
    loaded = load_view(out, "window-2")
    assert loaded.column_names == ["context", "reply", "frequency", "source"]
    assert loaded.to_list() == written
    assert all(Path(file["filename"]).is_relative_to(out) for file in loaded.cache_files)
    assert len(loaded.cache_files) > 0
    assert list(stream_view(out, "window-2")) == written
    with pytest.raises(TurnloomError, match="several groups"):
        load_view(out)
    with pytest.raises(TurnloomError, match="no group 'window-1'"):
        stream_view(out, "window-1")
    with pytest.raises(TurnloomError, match="window-20, has no rows"):
        load_view(out, "window-20")
