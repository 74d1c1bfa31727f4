"""Readers meet 10,000 broken records each: nothing crashes or hangs, and every record is accounted for."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.corpus.fuzzing import read_all, read_or_refuse
from tests.corpus.mutations import fuzz_files
from turnloom.corpus import convert, find_logs
from turnloom.corpus.readers import READERS
from turnloom.corpus.readers.delimited import split_records
from turnloom.corpus.readers.logfile import Line, Rejection, read_lines

OWN_FUZZ = ("turns", "messages", "sgd", "taskmaster", "multiwoz", "csv", "transcript", "parquet")
"""Readers whose records are counted one by one."""


@pytest.mark.parametrize("reader", sorted(set(READERS) - set(OWN_FUZZ)))
def test_broken_exports_are_read_or_rejected(reader: str) -> None:
    """A slice of what `studies/corpus/fuzz.py` measures; anything but an error for the user fails."""
    count = 40 if reader == "excel" else 120
    accepted = errors = 0
    for number, fuzz in enumerate(fuzz_files(reader, count)):
        good, bad = read_or_refuse(fuzz, detect=number % 4 == 0)
        accepted, errors = accepted + good, errors + (good == 0 and bad > 0)
    assert accepted > count / 4
    assert errors > 0


@pytest.mark.parametrize("reader", OWN_FUZZ)
def test_every_broken_record_is_accepted_or_rejected(reader: str) -> None:
    accepted = rejected = total = 0
    for fuzz in fuzz_files(reader, 1_500):
        good, bad = read_all(fuzz)
        if fuzz.records is not None:
            assert good + bad == fuzz.records
        else:
            assert good + bad >= 1
        accepted, rejected, total = accepted + good, rejected + bad, total + (fuzz.records or good + bad)
    assert accepted + rejected == total
    assert accepted > 100
    assert rejected > 100


def test_every_line_of_a_csv_is_in_one_record() -> None:
    (fuzz,) = fuzz_files("csv", 3_000)
    lines = list(read_lines(io.BufferedReader(io.BytesIO(fuzz.content))))
    records = split_records(iter(lines), ",", 6)
    covered = [record.line if isinstance(record, Rejection) else record[0] for record in records]
    assert covered == sorted(set(covered))
    blank = {line.number for line in lines if isinstance(line, Line) and not line.content.strip()}
    merged = {line.number for line in lines if isinstance(line, Line)} - set(covered) - blank
    # A line that starts no record lies inside a quoted field that was closed.
    assert len(merged) < 0.02 * len(lines)


def test_what_is_rejected_is_written_down(tmp_path: Path) -> None:
    (fuzz,) = fuzz_files("turns", 1_200)
    log = tmp_path / "log.jsonl"
    log.write_bytes(fuzz.content)
    conversion = convert(find_logs([str(log)]), tmp_path / "out")
    counts = conversion.manifest.counts
    assert counts["records"] == 1_201
    assert conversion.manifest.dialogues + counts["rejected"] == 1_201
    assert conversion.rejected_path is not None
    rejected = [json.loads(line) for line in conversion.rejected_path.read_text().split("\n") if line]
    assert len(rejected) == counts["rejected"]
    assert all(set(entry) == {"file", "line", "reason", "piece"} for entry in rejected)
    lines = fuzz.content.split(b"\n")
    for entry in rejected[:200]:
        if entry["piece"].isascii() and "not JSON" in entry["reason"] and "\\" not in entry["piece"]:
            assert lines[entry["line"] - 1].decode("utf-8", "backslashreplace").startswith(entry["piece"][:20])
