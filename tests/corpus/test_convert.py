"""From files to a table: joining, compression, splits, and a table that is whole or not there."""

from __future__ import annotations

import functools
import gzip
import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tests.corpus.formats import WRITERS, json_lines, sample, turns_record
from turnloom.corpus import convert, find_logs, read_manifest, read_table
from turnloom.corpus.readers.json_records import json_records
from turnloom.corpus.readers.location import UNPACKED_BYTES, open_raw, unpacked
from turnloom.corpus.schema import Dialogue, dialogues_from_arrow
from turnloom.corpus.table import TableWriter
from turnloom.errors import TurnloomError


def rows(folder: Path) -> list[Dialogue]:
    found = dialogues_from_arrow(read_table(folder).to_arrow())
    return sorted(found, key=lambda dialogue: (dialogue.source, dialogue.dialogue_id))


def log_lines(*numbers: int) -> bytes:
    return json_lines([turns_record(sample(number)) for number in numbers])


@pytest.mark.parametrize("way", WRITERS)
def test_each_format_is_recognised_and_converted(tmp_path: Path, way: str) -> None:
    reader, ending, write = WRITERS[way]
    path = tmp_path / f"log.{ending}"
    path.write_bytes(write([sample(number) for number in range(5)]))
    seen = []
    logs = find_logs([str(path)], on_detect=lambda _, detection: seen.append(detection))
    assert seen[0].format == reader
    conversion = convert(logs, tmp_path / "out")
    assert conversion.manifest.dialogues == 5
    assert conversion.manifest.turns == 10
    assert conversion.rejected_path is None
    assert {d.turns[0].text for d in rows(tmp_path / "out")} == {sample(n).turns[0].text for n in range(5)}


def test_scattered_rows_are_joined_and_sorted(tmp_path: Path) -> None:
    lines = ["conv,turn,who,body"]
    for turn in (2, 0, 1):
        lines += [f"c{conv},{turn},u{turn},text {conv} {turn}" for conv in range(50)]
    (tmp_path / "a.csv").write_text("\n".join(lines[:80]) + "\n")
    (tmp_path / "b.csv").write_text("\n".join([lines[0], *lines[80:]]) + "\n")
    logs = find_logs([str(tmp_path / "*.csv")], source="chats")
    conversion = convert(logs, tmp_path / "out")
    assert (conversion.manifest.dialogues, conversion.manifest.turns) == (50, 150)
    for dialogue in rows(tmp_path / "out"):
        conv = dialogue.dialogue_id.removeprefix("c")
        assert [turn.text for turn in dialogue.turns] == [f"text {conv} {turn}" for turn in range(3)]


def test_rows_at_the_same_time_keep_the_order_of_lines(tmp_path: Path) -> None:
    body = "".join(f"{conv},2024-01-01,t{number}\n" for number in range(4) for conv in "ab")
    (tmp_path / "log.csv").write_text("conv,time,body\n" + body)
    convert(find_logs([str(tmp_path / "log.csv")]), tmp_path / "out")
    assert [[turn.text for turn in d.turns] for d in rows(tmp_path / "out")] == [["t0", "t1", "t2", "t3"]] * 2


def test_gzip_zstd_and_folders(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.jsonl.gz").write_bytes(gzip.compress(log_lines(0)) + gzip.compress(log_lines(1)))
    (logs / "b.jsonl.zst").write_bytes(pa.compress(log_lines(2), "zstd", asbytes=True))
    (logs / "c.jsonl").write_bytes(log_lines(3))
    convert(find_logs([str(logs)]), tmp_path / "out")
    assert [(d.source, d.dialogue_id) for d in rows(tmp_path / "out")] == [
        ("a", "d0"),
        ("a", "d1"),
        ("b", "d2"),
        ("c", "d3"),
    ]


def test_a_truncated_gzip_gives_what_came_before(tmp_path: Path) -> None:
    content = gzip.compress(b"".join(log_lines(number) for number in range(5_000)))
    (tmp_path / "log.jsonl.gz").write_bytes(content[: len(content) // 2])
    conversion = convert(find_logs([str(tmp_path / "log.jsonl.gz")]), tmp_path / "out")
    assert 1_000 < conversion.manifest.dialogues < 5_000
    assert conversion.rejected_path is not None
    reasons = [json.loads(line)["reason"] for line in conversion.rejected_path.read_text().splitlines()]
    assert "could not be read to its end" in reasons[-1]


def test_strict_fails_and_leaves_no_table(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(log_lines(0) + b"broken\n")
    with pytest.raises(TurnloomError, match="1 records were rejected"):
        convert(find_logs([str(tmp_path / "log.jsonl")]), tmp_path / "out", strict=True)
    with pytest.raises(TurnloomError, match="holds no whole table"):
        read_table(tmp_path / "out")
    assert "broken" in (tmp_path / "out" / "rejected.jsonl").read_text()
    convert(find_logs([str(tmp_path / "log.jsonl")]), tmp_path / "out")


def test_a_table_is_not_overwritten_unasked(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(log_lines(0))
    logs = find_logs([str(tmp_path / "log.jsonl")])
    first = convert(logs, tmp_path / "out")
    with pytest.raises(TurnloomError, match="--overwrite"):
        convert(logs, tmp_path / "out")
    (tmp_path / "log.jsonl").write_bytes(log_lines(0, 1))
    second = convert(logs, tmp_path / "out", overwrite=True)
    assert second.manifest.dialogues == 2
    assert second.manifest.content_hash != first.manifest.content_hash
    assert not (tmp_path / "out" / ".partial").exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("do not lose me")
    with pytest.raises(TurnloomError, match="empty folder"):
        TableWriter(tmp_path)


def test_the_users_own_parquet_files_are_never_deleted(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(log_lines(0))
    logs = find_logs([str(tmp_path / "log.jsonl")])
    mine = tmp_path / "out" / "chats.parquet"
    mine.parent.mkdir()
    mine.write_bytes(b"mine")
    with pytest.raises(TurnloomError, match=r"holds files that are not a table's \(chats\.parquet\)"):
        convert(logs, tmp_path / "out")
    assert mine.read_bytes() == b"mine"
    mine.unlink()
    convert(logs, tmp_path / "out")
    mine.write_bytes(b"mine")
    with pytest.raises(TurnloomError, match=r"\(chats\.parquet\)"):
        convert(logs, tmp_path / "out", overwrite=True)
    assert mine.read_bytes() == b"mine"
    assert read_table(tmp_path / "out").count_rows() == 1


def test_a_manifest_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(log_lines(0))
    convert(find_logs([str(tmp_path / "log.jsonl")]), tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"schema_version": 1', '"schema_version": 99'))
    with pytest.raises(TurnloomError, match="schema version 99"):
        read_manifest(tmp_path / "out")
    manifest.write_text("{}")
    with pytest.raises(TurnloomError, match="not a table's manifest"):
        read_manifest(tmp_path / "out")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server on loopback over a folder."""
    folder = tmp_path / "web"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", folder
    server.shutdown()
    server.server_close()


def test_logs_behind_a_url(tmp_path: Path, web: tuple[str, Path]) -> None:
    url, folder = web
    content = gzip.compress(b"".join(log_lines(number) for number in range(300)))
    for part in range(5):
        (folder / f"chat{part}.jsonl.gz").write_bytes(content)
    (folder / "rows.parquet").write_bytes(WRITERS["parquet"][2]([sample(1)]))
    urls = [*[f"{url}/chat{part}.jsonl.gz" for part in range(5)], f"{url}/rows.parquet"]
    conversion = convert(find_logs(urls), tmp_path / "out")
    assert conversion.manifest.dialogues == 1_501
    with pytest.raises(TurnloomError, match="cannot be read"):
        find_logs([f"{url}/nothing.jsonl"])


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_file_that_unpacks_to_far_more_than_any_log_is_not_read_to_its_end(tmp_path: Path, packing: str) -> None:
    path = tmp_path / {"gzip": "bomb.json.gz", "zstd": "bomb.json.zst"}[packing]
    with pa.CompressedOutputStream(str(path), packing) as file:
        file.write(b"[")
        for _ in range(100):
            file.write(b'{"text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},' * 20_000)
        file.write(b"{}]")
    with open_raw(str(path)) as raw, unpacked(str(path), raw) as stream:
        with pytest.raises(OSError, match="unpacks to more than 100 times its size"):
            list(json_records(stream, "array", re.compile("{")))
        read = stream.tell() if packing == "gzip" else stream.unpacked
        assert UNPACKED_BYTES < read < 2 * UNPACKED_BYTES
