"""`prepare` from end to end on corpora made to need each of its steps."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from turnloom.corpus import convert, find_logs, read_manifest, read_table
from turnloom.corpus.cleaning.hold_out import hold_out_names, load_hold_out
from turnloom.corpus.cleaning.near import NearOptions
from turnloom.corpus.prepare import PrepareOptions, prepare
from turnloom.corpus.schema import Dialogue, Slot, Turn, dialogues_from_arrow
from turnloom.corpus.table import Workspace
from turnloom.errors import TurnloomError

WORDS = [f"word{number}" for number in range(3_000)]


def sentence(rng: random.Random, size: int = 9) -> str:
    return " ".join(rng.choices(WORDS, k=size))


def random_dialogue(rng: random.Random, name: str, turns: int = 3) -> Dialogue:
    return Dialogue(name, "log", [Turn("ab"[n % 2], sentence(rng)) for n in range(turns)])


def save(folder: Path, rows: list[Dialogue]) -> Path:
    from tests.corpus.formats import json_lines, turns_record

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_bytes(json_lines([turns_record(row) for row in rows]))
    convert(find_logs([str(folder / "log.jsonl")]), folder / "table")
    return folder / "table"


def run(tmp_path: Path, rows: list[Dialogue], **options: Any) -> tuple[list[Dialogue], dict[str, Any]]:
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    manifest, done = prepare(save(tmp_path / "in", rows), tmp_path / "out", PrepareOptions(**options))
    assert done
    found = list(dialogues_from_arrow(read_table(tmp_path / "out").to_arrow()))
    return sorted(found, key=lambda row: row.dialogue_id), manifest.counts


def test_exact_copies_leave_one_whatever_the_order(tmp_path: Path) -> None:
    rng = random.Random(0)
    rows = [random_dialogue(rng, f"d{n}") for n in range(200)]
    copies = [Dialogue(f"c{n}", "log", [Turn("x", turn.text.upper()) for turn in rows[n].turns]) for n in range(50)]
    twins = [rows[n] for n in range(30, 60)]  # Equal in every column.
    everything = rows + copies + twins
    found, counts = run(tmp_path, everything, near_duplicates=None)
    assert len(found) == 200
    assert {" ".join(turn.text.lower() for turn in row.turns) for row in found} == {
        " ".join(turn.text.lower() for turn in row.turns) for row in rows
    }
    assert [step["dialogues"] for step in counts["steps"]] == [280, 280, 280, 200]
    assert counts["steps"][-1]["turns"] == 600
    rng.shuffle(everything)
    again, _ = run(tmp_path, everything, near_duplicates=None)
    assert again == found


def test_near_copies_go_and_others_stay(tmp_path: Path) -> None:
    rng = random.Random(1)
    rows = [random_dialogue(rng, f"d{n:03}") for n in range(300)]
    near = []
    for n in range(100):
        turns = [Turn(turn.speaker, turn.text) for turn in rows[n].turns]
        turns[1].text = turns[1].text.replace(turns[1].text.split()[4], "changed", 1)
        near.append(Dialogue(f"n{n:03}", "log", turns))
    found, counts = run(tmp_path, rows + near)
    kept = {row.dialogue_id[1:] for row in found if int(row.dialogue_id[1:]) < 100}
    assert len(kept) == 100  # One of each pair is there,
    assert 300 <= len(found) <= 305  # and few pairs are missed.
    assert all(f"d{n:03}" in {row.dialogue_id for row in found} for n in range(100, 300))
    assert counts["steps"][-1] == {"step": "without near duplicates", "dialogues": len(found), "turns": 3 * len(found)}


def test_exact_and_near_copies_are_dropped_independently(tmp_path: Path) -> None:
    rng = random.Random(6)
    rows = [random_dialogue(rng, f"d{n:03}") for n in range(60)]
    near = [
        Dialogue(f"n{n:03}", "log", [*rows[n].turns[:2], Turn("a", rows[n].turns[2].text + " too")]) for n in range(20)
    ]
    copies = [Dialogue(f"c{n:03}", "log", rows[n].turns) for n in range(40)]
    copies += [Dialogue(f"m{n:03}", "log", near[n].turns) for n in range(20)]
    everything = rows + near + copies + rows[:5] + near[:5]  # The last ten are equal to others in every column.
    sizes = {}
    for exact in (True, False):
        for options in (None, NearOptions()):
            found, counts = run(tmp_path, everything, exact_duplicates=exact, near_duplicates=options)
            sizes[exact, options is not None] = len(found)
            assert counts["steps"][-1]["dialogues"] == len(found)
            assert counts["steps"][-1]["turns"] == sum(len(row.turns) for row in found)
    # Of a dialogue that stays, copies stay; of one that goes, all go. Two or three copies of 20 pairs, two of 20, 20.
    assert sizes == {(False, False): 150, (True, False): 80, (True, True): 60, (False, True): 105}


def test_chinese_copies_are_seen_by_their_characters(tmp_path: Path) -> None:
    rng = random.Random(5)
    signs = [chr(0x4E00 + n) for n in range(3_000)]
    text = "".join(rng.choices(signs, k=40))
    rows = [
        Dialogue("1", "log", [Turn("a", text), Turn("b", "".join(rng.choices(signs, k=40)))]),
        Dialogue("2", "log", [Turn("a", text), Turn("b", "".join(rng.choices(signs, k=40)))]),
    ]
    rows.append(Dialogue("3", "log", [rows[0].turns[0], Turn("b", rows[0].turns[1].text[:-1] + "。")]))
    found, _ = run(tmp_path, rows)
    assert len(found) == 2


def test_short_dialogues_and_personal_data(tmp_path: Path) -> None:
    rows = [
        Dialogue(
            "1",
            "log",
            [Turn("a", "mail jo@example.com", slots=[Slot("mail", "jo@example.com", 5, 19)]), Turn("b", "ok")],
        ),
        Dialogue("2", "log", [Turn("a", "alone")]),
        Dialogue("3", "log", [Turn("a", "hi"), Turn("a", "  there\n"), Turn("b", "yes?")]),
    ]
    found, counts = run(tmp_path, rows, merge_speakers=True)
    assert [row.dialogue_id for row in found] == ["1", "3"]
    assert found[0].turns[0].text == "mail <EMAIL>"
    assert found[0].turns[0].slots == [Slot("mail", "<EMAIL>", 5, 12)]
    assert [turn.text for turn in found[1].turns] == ["hi there", "yes?"]
    assert counts["personal_data"] == {"EMAIL": 1}
    found, counts = run(tmp_path, rows, scrub=False)
    assert found[0].turns[0].text == "mail jo@example.com"
    assert counts["personal_data"] == {}


@pytest.fixture
def benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two evaluation sets with hand-written rows: an intent set and a set of dialogues."""
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path / "data"))

    def write(name: str, rows: list[Any]) -> None:
        path = tmp_path / "data" / f"{name}.jsonl.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))

    write("banking77/train", [{"text": "This sentence is for training only", "label": "x"}])
    tested = ("How do I locate my card?", "Yes!", "我的卡丢了怎么办？", "谢谢")
    write("banking77/test", [{"text": text, "label": "x"} for text in tested])
    said = [{"speaker": "a", "text": text} for text in ("Where to?", "To the station, please.", "Right away.")]
    for split in ("train", "val", "test"):
        write(f"multiwoz21/{split}", [{"id": "1", "turns": said if split == "test" else said[:1]}])


def texts(row: Dialogue) -> list[str]:
    return [turn.text for turn in row.turns]


def test_dialogues_of_some_days_alone(tmp_path: Path) -> None:
    rng = random.Random(4)

    def on(name: str, *times: str | None) -> Dialogue:
        said = [dt.datetime.fromisoformat(f"{time}+00:00") if time else None for time in times]
        return Dialogue(name, "log", [Turn("ab"[n % 2], sentence(rng), time=time) for n, time in enumerate(said)])

    rows = [
        on("old", "2024-05-30T10:00", "2024-06-02T10:00"),
        on("late", "2024-05-31T23:59", "2024-06-01T00:01"),
        on("first", "2024-06-01T00:00", "2024-06-01T00:01"),
        on("new", "2024-07-01T08:00", "2024-07-01T08:01"),
        on("without", None, None),
    ]

    def kept(**days: dt.date) -> list[str]:
        found, counts = run(tmp_path, rows, **days)
        assert counts["steps"][1] == {"step": "of these days", "dialogues": len(found), "turns": 2 * len(found)}
        return [row.dialogue_id for row in found]

    june, july = dt.date(2024, 6, 1), dt.date(2024, 7, 1)
    assert kept(before=june) == ["late", "old"]
    assert kept(since=june) == ["first", "new"]
    assert kept(since=june, before=july) == ["first"]
    with pytest.raises(TurnloomError, match=r"no dialogue of these days.*begins on 2024-05-30 and ends on 2024-07-01"):
        run(tmp_path, rows, since=dt.date(2025, 1, 1))
    with pytest.raises(TurnloomError, match="its turns have no times"):
        run(tmp_path, rows[-1:], before=june)


@pytest.mark.usefixtures("benchmark")
def test_benchmark_material_is_cut_out(tmp_path: Path) -> None:
    said = [
        "one hello there",
        "how do I LOCATE my card",
        "two is here",
        "yes",
        "three is here",
        "This sentence is for training only",
    ]
    rows = [
        Dialogue("1", "log", [Turn("a", text) for text in said]),
        Dialogue("2", "log", [Turn("a", text) for text in ("so", "where to", "to the station please", "right now")]),
        Dialogue("3", "log", [Turn("a", text) for text in ("to the station please", "where to")]),
    ]
    found, counts = run(tmp_path, rows, hold_out=("banking77", "multiwoz21"), near_duplicates=None)
    assert [(row.dialogue_id, texts(row)) for row in found] == [
        ("1#2", ["two is here", "yes", "three is here", "This sentence is for training only"]),
        ("2#1", ["so", "where to"]),
        ("2#2", ["to the station please", "right now"]),
        ("3", ["to the station please", "where to"]),  # In this order nobody evaluates it.
    ]
    assert counts["contamination"] == {"leaked_turns": 1, "cut_pairs": 1, "banking77": 1, "multiwoz21": 1}


@pytest.mark.usefixtures("benchmark")
def test_benchmark_material_without_spaces_is_cut_out(tmp_path: Path) -> None:
    said = ("您好，请问有什么可以帮您？", "我的卡丢了，怎么办", "别担心", "谢谢")
    rows = [Dialogue("1", "log", [Turn("ab"[n % 2], text) for n, text in enumerate(said)])]
    found, counts = run(tmp_path, rows, hold_out=("banking77",), near_duplicates=None)
    assert [(row.dialogue_id, texts(row)) for row in found] == [("1#2", ["别担心", "谢谢"])]
    assert counts["contamination"] == {"leaked_turns": 1, "cut_pairs": 0, "banking77": 1}


@pytest.mark.usefixtures("benchmark")
def test_benchmark_material_inside_merged_turns_is_cut_out(tmp_path: Path) -> None:
    said = {
        "hidden": ["a:one is here", "b:two is here", "b:how do I locate my card", "b:help me", "a:three", "b:four"],
        "made": ["a:five is here", "b:six is here", "a:how do I", "a:locate my card", "b:three is here", "a:four"],
        "pair": ["a:so", "b:hm", "b:where to", "a:to the station please", "a:now", "b:fine"],
        "inside": ["a:so", "b:where to", "b:to the station please", "a:fine with me"],
        "short": ["a:only one turn", "a:how do I locate my card"],
        "clean": ["a:one is new", "a:two is new", "b:three is new"],
    }
    rows = [
        Dialogue(name, "log", [Turn(turn[0], turn[2:]) for turn in turns], domains=["shop"])
        for name, turns in said.items()
    ]
    options = {"hold_out": ("banking77", "multiwoz21"), "near_duplicates": None, "merge_speakers": True}
    found, counts = run(tmp_path, rows, **options)
    assert {row.dialogue_id: texts(row) for row in found} == {
        "hidden#1": ["one is here", "two is here"],
        "hidden#2": ["help me", "three", "four"],
        "made#1": ["five is here", "six is here"],
        "made#2": ["three is here", "four"],
        "pair#1": ["so", "hm where to"],
        "pair#2": ["to the station please now", "fine"],
        "inside#1": ["so", "where to"],
        "inside#2": ["to the station please", "fine with me"],
        "clean": ["one is new two is new", "three is new"],
    }
    assert counts["contamination"] == {"leaked_turns": 2, "cut_pairs": 2, "banking77": 2, "multiwoz21": 2}
    assert [(step["dialogues"], step["turns"]) for step in counts["steps"]] == [(6, 27), (6, 19), (5, 18), (5, 18)]
    again, counts = run(tmp_path, found, **options)
    assert [texts(row) for row in again] == [texts(row) for row in found]
    assert sum(counts["contamination"].values()) == 0


@pytest.mark.usefixtures("benchmark")
def test_nothing_of_a_held_out_set_is_left(tmp_path: Path) -> None:
    held = load_hold_out(["banking77", "multiwoz21"])
    assert len(held.utterances) == 4
    assert len(held.pairs) == 2
    again = [
        Dialogue(
            "1",
            "log",
            [Turn("a", text) for text in ("a b c", "where to", "to the station please", "right away", "x y z")],
        )
    ]
    once, _ = run(tmp_path, again, hold_out=("multiwoz21",), near_duplicates=None)
    twice, counts = run(tmp_path, once, hold_out=("multiwoz21",), near_duplicates=None)
    assert sum(counts["contamination"].values()) == 0
    assert (
        [texts(row) for row in twice]
        == [texts(row) for row in once]
        == [["a b c", "where to"], ["right away", "x y z"]]
    )


def test_suites_are_made_of_known_sets() -> None:
    assert "clinc150" in hold_out_names(["dse", "sgd"])
    assert hold_out_names(["sgd", "sgd"]) == ["sgd"]
    assert set(hold_out_names(["dse"])) < set(hold_out_names(["all"]))
    with pytest.raises(TurnloomError, match="knows no suite or set 'nothing'"):
        hold_out_names(["nothing"])


def test_a_second_run_does_nothing_and_other_options_do_it_again(tmp_path: Path) -> None:
    source = save(tmp_path / "in", [random_dialogue(random.Random(2), str(n)) for n in range(20)])
    first, done = prepare(source, tmp_path / "out")
    assert done
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    second, done = prepare(source, tmp_path / "out")
    assert not done
    assert second == first
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    with pytest.raises(TurnloomError, match="--overwrite"):
        prepare(source, tmp_path / "out", PrepareOptions(min_turns=3))
    _, done = prepare(source, tmp_path / "out", PrepareOptions(min_turns=3), overwrite=True)
    assert done
    assert not (tmp_path / "out" / ".work" / "prepare").exists()


def test_a_failed_step_is_done_again_and_finished_ones_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import turnloom.corpus.prepare as module

    source = save(tmp_path / "in", [random_dialogue(random.Random(3), str(n)) for n in range(40)] * 2)
    expected, _ = prepare(source, tmp_path / "undisturbed")

    def fails(*_: object) -> None:
        raise RuntimeError("the power is out")

    for broken in ("near_copies", "personal_counts"):
        with monkeypatch.context() as patch:
            patch.setattr(module, broken, fails)
            with pytest.raises(RuntimeError, match="power"):
                prepare(source, tmp_path / "out")
        with pytest.raises(TurnloomError, match="no whole table"):
            read_manifest(tmp_path / "out")
    built: list[str] = []
    step = Workspace.step
    monkeypatch.setattr(
        Workspace,
        "step",
        lambda self, name, build: step(self, name, lambda folder: (built.append(name), build(folder))),
    )
    manifest, _ = prepare(source, tmp_path / "out")
    assert manifest.content_hash == expected.content_hash
    assert built == []


def test_bands_that_find_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="use more bands or fewer rows"):
        NearOptions(bands=2, rows=20)
