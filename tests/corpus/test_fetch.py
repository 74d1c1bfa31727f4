"""Fetching from a real web server on loopback, with hand-written files in each source's own format."""

from __future__ import annotations

import gzip
import http.server
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.formats import json_array, multiwoz_record, sample, sgd_record
from turnloom.corpus import convert, read_table
from turnloom.corpus.catalog import get_dataset
from turnloom.corpus.catalog.fetch import FetchPlan, download, fetch, git_blob_id
from turnloom.errors import TurnloomError


@dataclass
class Server:
    """What the web server serves, and what it did."""

    files: dict[str, bytes] = field(default_factory=dict)
    url: str = ""
    cut_after: list[int] = field(default_factory=list)
    ignore_range: bool = False
    ranges: list[str | None] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = state.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            wanted = self.headers.get("Range")
            state.ranges.append(wanted)
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and not state.ignore_range else 0
            if wanted and start >= len(content):
                self.send_error(416)
                return
            rest = content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: state.cut_after.pop(0)] if state.cut_after else rest)

        def log_message(self, *args: object) -> None:
            pass

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{web.server_address[1]}"
    yield state
    web.shutdown()
    web.server_close()


def blob_of(content: bytes, folder: Path) -> str:
    path = folder / "blob"
    path.write_bytes(content)
    return git_blob_id(path)


def plan_of(server: Server, files: dict[str, bytes], folder: Path) -> FetchPlan:
    server.files.update({f"/o/r/c0ffee/{path}": content for path, content in files.items()})
    return FetchPlan(repository="o/r", commit="c0ffee", files={p: blob_of(c, folder) for p, c in files.items()})


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNLOOM_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_the_checksum_is_gits(tmp_path: Path) -> None:
    (tmp_path / "hello").write_bytes(b"hello\n")
    assert git_blob_id(tmp_path / "hello") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_broken_connection_is_resumed(server: Server, tmp_path: Path) -> None:
    content = bytes(range(256)) * 40
    server.files["/f"] = content
    server.cut_after = [1_000, 2_000]
    received: list[int] = []
    download(f"{server.url}/f", tmp_path / "f", blob_of(content, tmp_path), received.append)
    assert (tmp_path / "f").read_bytes() == content
    assert server.ranges == [None, "bytes=1000-", "bytes=3000-"]
    assert sum(received) == len(content)
    download(f"{server.url}/f", tmp_path / "f", blob_of(content, tmp_path))
    assert len(server.ranges) == 3  # What is there and right is not asked for again.


def test_a_server_without_ranges_starts_over(server: Server, tmp_path: Path) -> None:
    content = b"0123456789" * 100
    server.files["/f"] = content
    server.ignore_range, server.cut_after = True, [300]
    received: list[int] = []
    download(f"{server.url}/f", tmp_path / "f", blob_of(content, tmp_path), received.append)
    assert (tmp_path / "f").read_bytes() == content
    assert sum(received) == len(content)


def test_a_changed_file_is_not_believed(server: Server, tmp_path: Path) -> None:
    server.files["/f"] = b"something else"
    with pytest.raises(TurnloomError, match="checksum differs"):
        download(f"{server.url}/f", tmp_path / "f", "0" * 40)
    assert not (tmp_path / "f").exists()
    assert not (tmp_path / "f.part").exists()
    with pytest.raises(TurnloomError, match="404"):
        download(f"{server.url}/gone", tmp_path / "g", "0" * 40)


def test_clinc150(server: Server, data: Path, tmp_path: Path) -> None:
    content = {"train": [["pay my bill", "pay_bill"]], "oos_test": [["why is grass green", "oos"]], "val": []}
    plan = plan_of(server, {"data/data_full.json": json.dumps(content).encode()}, tmp_path)
    assert fetch(get_dataset("clinc150"), plan=plan, base_url=server.url) == {"train": 1, "oos_test": 1, "val": 0}
    assert rows(data / "clinc150" / "oos_test.jsonl.gz") == [{"text": "why is grass green", "label": "oos"}]


def test_banking77(server: Server, data: Path, tmp_path: Path) -> None:
    train = b'text,category\r\n"Where, please, is\nmy card?",card_arrival\r\n'
    plan = plan_of(server, {"banking_data/train.csv": train, "banking_data/test.csv": b"text,category\n"}, tmp_path)
    assert fetch(get_dataset("banking77"), plan=plan, base_url=server.url) == {"train": 1, "test": 0}
    assert rows(data / "banking77" / "train.jsonl.gz") == [
        {"text": "Where, please, is\nmy card?", "label": "card_arrival"}
    ]


def test_snips(server: Server, data: Path, tmp_path: Path) -> None:
    files = {}
    for split in ("train", "valid", "test"):
        files[f"data/snips/{split}/seq.in"] = b"play jazz \nadd this \n"
        files[f"data/snips/{split}/seq.out"] = b"O B-genre \nO O \n"
        files[f"data/snips/{split}/label"] = b"PlayMusic\nAddToPlaylist\n"
    plan = plan_of(server, files, tmp_path)
    assert fetch(get_dataset("snips"), plan=plan, base_url=server.url) == {"train": 2, "valid": 2, "test": 2}
    expected = {"text": "play jazz", "slots": ["O", "B-genre"], "label": "PlayMusic"}
    assert rows(data / "snips" / "train.jsonl.gz")[0] == expected


def test_sgd_and_converting_what_was_fetched(server: Server, data: Path, tmp_path: Path) -> None:
    files = {
        f"{split}/dialogues_00{part}.json": json_array([sgd_record(sample(10 * part + n)) for n in range(3)])
        for split in ("train", "dev", "test")
        for part in (1, 2)
    }
    files["train/schema.json"] = b"[]"
    plan = plan_of(server, files, tmp_path)
    assert fetch(get_dataset("sgd"), plan=plan, base_url=server.url) == {"train": 6, "dev": 6, "test": 6}
    first = rows(data / "sgd" / "train.jsonl.gz")[0]
    assert first["id"] == "train/d10"
    assert first["turns"][0]["slots"][0]["name"] == "area"
    convert(get_dataset("sgd").logs("train"), tmp_path / "out")
    assert read_table(tmp_path / "out").count_rows() == 6


def test_multiwoz21(server: Server, data: Path, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "MultiWOZ_2.1/data.json", json.dumps({f"D{n}.json": multiwoz_record(sample(n)) for n in range(6)})
        )
        archive.writestr("MultiWOZ_2.1/valListFile.txt", "D1.json\n")
        archive.writestr("MultiWOZ_2.1/testListFile.txt", "D4.json\nD5.json\n")
        archive.writestr("__MACOSX/MultiWOZ_2.1/data.json", "rubbish")
    plan = plan_of(server, {"data/MultiWOZ_2.1.zip": packed.getvalue()}, tmp_path)
    assert fetch(get_dataset("multiwoz21"), plan=plan, base_url=server.url) == {"train": 3, "val": 1, "test": 2}
    assert [row["id"] for row in rows(data / "multiwoz21" / "test.jsonl.gz")] == ["D4", "D5"]


def test_a_source_that_changed_its_format_is_reported(server: Server, data: Path, tmp_path: Path) -> None:
    files = {"train/dialogues_001.json": b'[\n{"dialogue_id": "1", "turns": "gone"}]'}
    plan = plan_of(server, files, tmp_path)
    with pytest.raises(TurnloomError, match="line 2: a record's 'turns' is str"):
        fetch(get_dataset("sgd"), plan=plan, base_url=server.url)


def test_licences_are_minded(data: Path) -> None:
    with pytest.raises(TurnloomError, match="--accept-noncommercial"):
        fetch(get_dataset("dailydialog"))
    with pytest.raises(TurnloomError, match=r"github\.com/ConvLab/ConvLab-3"):
        fetch(get_dataset("dailydialog"), accept_noncommercial=True)
    with pytest.raises(TurnloomError, match="under: MIT"):
        fetch(get_dataset("star"))
