"""One flipped bit in any file is found, and the file is named."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.test_commands import run
from tests.replies.toy import many, write_table
from tests.service.toy import HeadedEncoder, with_intents
from turnloom.corpus.table import read_table
from turnloom.errors import TurnloomError
from turnloom.intents import IntentClassifier
from turnloom.journal import Journal, damaged_lines
from turnloom.replies import ReplyIndex
from turnloom.service.verify import record_checksums, verify
from turnloom.vectors import VectorOptions, VectorTable, build_vectors


@contextmanager
def flipped(path: Path, bit: int) -> Iterator[None]:
    """A file with one bit flipped."""
    before = path.read_bytes()
    content = bytearray(before)
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    yield
    path.write_bytes(before)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, encoder = tmp_path_factory.mktemp("project"), HeadedEncoder()
    table = write_table(folder / "corpus", many(20))
    build_vectors([table], folder / "vectors", VectorOptions(lambda: encoder))
    index = ReplyIndex.build(table, folder / "replies", encoder)
    index.add(write_table(folder / "more", many(5, first=50)))
    index.delete(conversations=["d3"])
    index.prune(2)
    with_intents(folder, encoder)
    for name in ("intents.jsonl", "replies/pending.jsonl"):
        journal = Journal(folder / "state" / name)
        with journal.writing():
            journal.append([{"do": "add", "examples": [], "number": number} for number in range(5)])
            journal.rewrite(lambda record: record if record["number"] else None)
            journal.append([{"do": "add", "number": 9}])
    (folder / "model").mkdir()
    (folder / "model" / "model.safetensors").write_bytes(bytes(range(256)) * 10)
    assert [path.name for path in verify(folder).unknown] == ["model.safetensors"]
    assert record_checksums(folder / "model") == 1
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def test_nothing_is_wrong_with_what_was_just_written(project: Path) -> None:
    found = verify(project)
    assert not found.problems
    assert not found.unknown
    assert set(found.checked) == set(files(project)), "every file that is not empty is protected"


def test_a_flip_in_every_file_is_found(project: Path) -> None:
    draw = random.Random(0)
    for path in files(project):
        with flipped(path, draw.randrange(8 * path.stat().st_size)):
            assert path in verify(project).problems, path
    assert not verify(project).problems


@pytest.mark.parametrize("name", ["intents/.files.json", "replies/.checksums.json", "replies/index.json"])
def test_lists_of_checksums_protect_themselves_to_the_last_bit(project: Path, name: str) -> None:
    path = project / name
    folder = path.parent
    size = 8 * path.stat().st_size
    for bit in {*range(0, size, max(1, size // 30)), *range(size - 400, size, 7)}:
        with flipped(path, bit):
            assert path in verify(folder).problems, bit


def test_every_bit_of_a_journal_is_protected(project: Path) -> None:
    path = project / "state" / "intents.jsonl"
    for bit in range(8 * path.stat().st_size):
        with flipped(path, bit):
            assert damaged_lines(path), bit
    assert damaged_lines(path) == []


def test_reading_something_damaged_names_the_file(project: Path) -> None:
    readers = {
        "corpus/part-00000.parquet": lambda: read_table(project / "corpus"),
        "intents/intents.safetensors": lambda: IntentClassifier.load(project / "intents", HeadedEncoder()),
        "vectors/dialogues/part-00000.parquet": lambda: VectorTable(project / "vectors").conversations,
        "replies/index.json": lambda: ReplyIndex(project / "replies"),
    }
    for name, read in readers.items():
        path = project / name
        read()
        with flipped(path, 8 * path.stat().st_size // 2), pytest.raises(TurnloomError, match=str(path)):
            read()
        read()


def test_a_missing_file_is_found(project: Path, tmp_path: Path) -> None:
    part = project / "corpus" / "part-00000.parquet"
    part.rename(tmp_path / "part")
    assert verify(project).problems == {part: "is missing"}
    (tmp_path / "part").rename(part)


def test_the_command_names_what_is_damaged(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, monkeypatch, "verify", str(project))
    assert (code, "files are as they were written" in out) == (0, True)
    path = project / "vectors" / "vectors.npy"
    with flipped(path, 3_000):
        code, out, errors = run(capsys, monkeypatch, "verify", str(project))
    assert (code, out.replace("\n", "")) == (2, f"{path} is damaged")
    assert "1 files are damaged or missing" in errors


def test_other_files_are_named_until_their_checksums_are_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("a")
    assert "1 files have no checksum" in run(capsys, monkeypatch, "verify", str(tmp_path))[2]
    run(capsys, monkeypatch, "verify", str(tmp_path), "--record")
    assert "no checksum" not in run(capsys, monkeypatch, "verify", str(tmp_path))[2]
    with flipped(tmp_path / "a", 0):
        assert run(capsys, monkeypatch, "verify", str(tmp_path), "--record")[0] == 2, "damage is not noted as right"
