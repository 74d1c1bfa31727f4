"""Folders that are written whole or not at all, killed at every step; and what is never deleted."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from turnloom.errors import TurnloomError
from turnloom.files import LISTING, WholeFolder, listed_files, replacing, write_whole


def write(folder: Path, content: dict[str, str], **options: Any) -> None:
    whole = WholeFolder(folder, "marker.json", "a thing", **options)
    stage(whole, content)
    whole.commit()


def stage(whole: WholeFolder, content: dict[str, str]) -> None:
    for name, text in {**content, "marker.json": "{}"}.items():
        (whole.new / name).parent.mkdir(parents=True, exist_ok=True)
        (whole.new / name).write_text(text)


def files(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != LISTING)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


def test_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    write(tmp_path / "out", {"a": "1", "deep/er/b": "2", "both": "old"})
    write(tmp_path / "out", {"c": "3", "both": "new"})
    assert files(tmp_path / "out") == {"c": "3", "both": "new", "marker.json": "{}"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"c", "both", "marker.json", LISTING}
    assert listed_files(tmp_path / "out") == {"c", "both", "marker.json"}


def test_a_folder_with_files_of_others_is_refused_and_they_stay(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(5):
        (tmp_path / "notes" / f"{number}.parquet").write_text("mine")
    with pytest.raises(TurnloomError, match=r"not a thing's \(notes/0.parquet, .* and 2 more\)"):
        WholeFolder(tmp_path, "marker.json", "a thing")
    assert len(files(tmp_path)) == 5
    WholeFolder(tmp_path, "marker.json", "a thing", beside=["notes"])


def test_an_unlisted_file_of_the_same_kind_is_not_replaced(tmp_path: Path) -> None:
    write(tmp_path, {"part-0.parquet": "ours"})
    (tmp_path / "mine.parquet").write_text("mine")
    with pytest.raises(TurnloomError, match=r"mine\.parquet"):
        write(tmp_path, {"part-0.parquet": "newer"})
    assert files(tmp_path)["mine.parquet"] == "mine"


def test_files_of_others_stay_where_they_are_tolerated(tmp_path: Path) -> None:
    write(tmp_path, {"a": "1"})
    (tmp_path / "notes.txt").write_text("mine")
    write(tmp_path, {"b": "2"}, keep_others=True)
    assert files(tmp_path) == {"b": "2", "notes.txt": "mine", "marker.json": "{}"}


def test_caches_go_with_what_they_were_made_of(tmp_path: Path) -> None:
    write(tmp_path, {"a": "1"})
    (tmp_path / ".arrow").mkdir()
    (tmp_path / ".arrow" / "copy").write_text("of a")
    write(tmp_path, {"a": "2"}, caches=[".arrow"])
    assert not (tmp_path / ".arrow").exists()


class KilledError(BaseException):
    """What a kill looks like from inside: nothing after it runs."""


def test_killed_at_any_step_the_folder_is_old_new_or_not_whole_and_the_next_run_cures_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = {"a": "old", "deep/b": "old"}, {"a": "new", "c": "new"}
    seen, step = set(), 0
    while "finished" not in seen:
        folder = tmp_path / str(step)
        write(folder, old)
        whole = WholeFolder(folder, "marker.json", "a thing")
        stage(whole, new)
        left = step

        def dying(original: Any) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    raise KilledError
                return original(*args, **kwargs)

            return call

        with monkeypatch.context() as patch:
            for name in ("replace", "unlink", "rmdir", "mkdir"):
                patch.setattr(Path, name, dying(getattr(Path, name)))
            try:
                whole.commit()
                seen.add("finished")
            except KilledError:
                seen.add("killed")
        if (folder / "marker.json").exists():
            held = {name: text for name, text in files(folder).items() if not name.startswith(".partial")}
            assert held in ({**old, "marker.json": "{}"}, {**new, "marker.json": "{}"})
        write(folder, new)
        assert files(folder) == {**new, "marker.json": "{}"}
        step += 1
    assert step > 8


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "link/outside", "", 7])
def test_a_forged_list_deletes_nothing_outside_the_folder(tmp_path: Path, name: Any) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / LISTING).write_text(json.dumps([name]))
    with pytest.raises(TurnloomError, match="is damaged"):
        write(folder, {"a": "1"})
    assert outside.read_text() == "mine"


def test_a_file_is_refused_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TurnloomError, match="is a file"):
        WholeFolder(tmp_path / "file", "marker.json", "a thing")


def test_a_published_file_is_there_before_the_rest_and_known_to_the_next_run(tmp_path: Path) -> None:
    whole = WholeFolder(tmp_path, "marker.json", "a thing")
    (whole.new / "rejected.jsonl").write_text("bad")
    assert whole.publish("rejected.jsonl").read_text() == "bad"
    write(tmp_path, {"a": "1"})
    assert files(tmp_path) == {"a": "1", "marker.json": "{}"}


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_whole(path, "old")
    with suppress(KilledError), replacing(path) as temporary:
        temporary.write_text("ha")
        raise KilledError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
