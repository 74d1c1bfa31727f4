"""Archives are read in place as folders are, and refused if they are made to do harm."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import openpyxl
import pytest

from tests.corpus.hostile_archives import HOSTILE, LOG
from tests.corpus.variants.base import zipped
from turnloom.corpus import convert, find_logs, read_table
from turnloom.corpus.readers.detection import list_files
from turnloom.corpus.readers.location import open_raw
from turnloom.errors import TurnloomError


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    path.write_bytes(HOSTILE[name]())
    tracemalloc.start()
    try:
        with pytest.raises(TurnloomError, match=r"export\.zip"):
            find_logs([str(path)])
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()
    assert [one.name for one in tmp_path.iterdir()] == ["export.zip"]


def test_an_honest_archive_is_read_and_what_is_beside_is_named(tmp_path: Path) -> None:
    path = tmp_path / "May export.zip"
    files = {"a/chat.jsonl": LOG, "b/chat.jsonl": LOG, "a/photo.jpg": b"\xff\xd8", "notes.txt": "Some prose.\n"}
    path.write_bytes(zipped({**files, "__MACOSX/._chat.jsonl": b"\x00", ".DS_Store": b"\x00"}))
    notes: list[str] = []
    logs = find_logs([str(path)], on_note=notes.append)
    assert notes == [f"! {path}: 2 of 4 files were passed over: a/photo.jpg, notes.txt"]
    conversion = convert(logs, tmp_path / "out")
    assert conversion.manifest.dialogues == 6
    assert set(read_table(tmp_path / "out").to_pydict()["source"]) == {"May export"}


def test_one_member_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    path.write_bytes(zipped({"a.jsonl": LOG, "b.jsonl": LOG}))
    assert list_files(f"{path}/b.jsonl") == [f"{path}/b.jsonl"]
    with open_raw(f"{path}/b.jsonl") as stream:
        assert stream.read() == LOG
    with pytest.raises(OSError, match=r"no item named"), open_raw(f"{path}/c.jsonl"):
        pass


def test_a_changed_archive_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    path.write_bytes(zipped({"a.jsonl": LOG}))
    assert len(list_files(str(path))) == 1
    path.write_bytes(zipped({"a.jsonl": LOG, "b.jsonl": LOG}))
    assert len(list_files(str(path))) == 2


def test_a_workbook_that_is_a_bomb_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["conversation_id", "message"])
    buffer = io.BytesIO()
    book.save(buffer)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings2.xml", b" " * 64 * 2**20)
    path = tmp_path / "chats.xlsx"
    path.write_bytes(buffer.getvalue())
    with pytest.raises(TurnloomError, match=r"unpacks to 67,108,864 bytes"):
        find_logs([str(path)])
