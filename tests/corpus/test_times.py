"""Times as exports write them, and which of two numbers is the day."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from turnloom.corpus import convert, find_logs, read_table
from turnloom.corpus.convert import Conversion
from turnloom.corpus.schema import dialogues_from_arrow
from turnloom.errors import TurnloomError

TEN = dt.datetime(2024, 5, 1, 10, tzinfo=dt.timezone.utc)
FIRST_OF_MAY = [
    "2024-05-01 10:00",
    "2024-05-01T10:00:00Z",
    "2024-05-01T12:00:00.000+0200",
    "2024-05-01 10:00:00 UTC",
    "2024-05-01 03:00:00 PDT",
    "2024/5/1 10:00",
    "01.05.2024 10:00",
    "1. 5. 2024, 10:00 Uhr",
    "01/05/2024 10:00 AM",
    "1/5/24 10:00",
    "10:00:00 01/05/2024",
    "May 1, 2024 10:00 AM",
    "Wednesday, May 1, 2024 at 10:00 AM",
    "1 May 2024 10:00",
    "1-May-2024 10 AM",
    "Wed May 01 10:00:00 +0000 2024",
    "Wed, 1 May 2024 12:00:00 +0200",
    "Wed May 01 2024 12:00:00 GMT+0200 (Central European Summer Time)",
    "20240501100000",
    "20240501T100000Z",
    "1714557600",
    "1714557600.0",
    "1714557600000",
    "1714557600000000",
    "1.7145576E+12",
]
"""All the same moment, where the day is known to come first."""
UNREADABLE = [
    "yesterday",
    "10:00",
    "May 2024",
    "05/13/2024",
    "32.01.2024",
    "2024-05-01 10.30",
    "01.05.2024 25:00",
    "0105",
]


def read_times(path: Path, **options: Any) -> tuple[list[dt.datetime | None], Conversion, list[str]]:
    """The times of a log in the order of its dialogues, what was counted, and what was said."""
    said: list[str] = []
    logs = find_logs([str(path)], on_note=said.append, **options)
    conversion = convert(logs, path.parent / "out", overwrite=True)
    found = dialogues_from_arrow(read_table(path.parent / "out").to_arrow())
    times = [turn.time for dialogue in sorted(found, key=lambda d: d.dialogue_id) for turn in dialogue.turns]
    return times, conversion, said


LONG = "hello " * 20
"""With it, 12,000 rows, more than are read at a time, go past the megabyte from which a format is recognised."""


def write_csv(folder: Path, times: list[str], body: str = "hello") -> Path:
    """One dialogue a time."""
    rows = "".join(f'd{number:06},"{time}",{body}\n' for number, time in enumerate(times))
    (folder / "log.csv").write_text("conv,time,body\n" + rows)
    return folder / "log.csv"


def write_parquet(folder: Path, times: list[Any]) -> Path:
    rows = [{"conv": f"d{number:06}", "time": time, "body": "hello"} for number, time in enumerate(times)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "log.parquet")
    return folder / "log.parquet"


def write_turns(folder: Path, times: list[Any]) -> Path:
    records = [
        {"id": f"d{number:06}", "turns": [{"speaker": "u", "text": "hello", "time": time}]}
        for number, time in enumerate(times)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder / "log.jsonl"


def write_transcript(folder: Path, times: list[str]) -> Path:
    blocks = [f"[{time}] Agent: hello\n" for time in times if len(time) <= 40]
    (folder / "log.txt").write_text("\n".join(blocks))
    return folder / "log.txt"


@pytest.mark.parametrize("write", [write_csv, write_parquet, write_turns, write_transcript])
def test_the_ways_to_write_a_time(tmp_path: Path, write: Any) -> None:
    # The 24th can only be a day: so the others' days come first, too.
    times, conversion, said = read_times(write(tmp_path, [*FIRST_OF_MAY, "24/12/2023 10:00"]))
    assert set(times) == {TEN, TEN.replace(year=2023, month=12, day=24)}
    assert conversion.files[0].unread_times == 0
    assert said == [f"{conversion.files[0].path}: its dates are day first: 24/12/2023 is 24 December 2023"]


def test_numbers_and_dates_of_typed_formats(tmp_path: Path) -> None:
    times, _, said = read_times(write_turns(tmp_path, [1714557600, 1714557600.0, 1714557600000, 1714557600000000000]))
    assert times == [TEN] * 4
    times, _, _ = read_times(write_parquet(tmp_path, [TEN, TEN.replace(tzinfo=None)]))
    assert times == [TEN] * 2
    times, _, _ = read_times(write_parquet(tmp_path, [TEN.date()]))
    assert times == [TEN.replace(hour=0)]
    assert said == []


def test_a_time_that_cannot_be_read_costs_the_time_alone(tmp_path: Path) -> None:
    times, conversion, _ = read_times(write_csv(tmp_path, [*UNREADABLE, "", "NULL", "24.12.2023"]))
    assert times[:-1] == [None] * (len(UNREADABLE) + 2)
    assert (conversion.files[0].unread_times, conversion.files[0].unread_time) == (len(UNREADABLE), "yesterday")
    assert conversion.manifest.counts["rejected"] == 0
    assert conversion.manifest.counts["unread_times"] == len(UNREADABLE)


@pytest.mark.parametrize(
    ("dates", "month", "said"),
    [
        (["03/04/2024", "04/13/2024"], 3, "month first: 04/13/2024 is 13 April 2024"),
        (["03/04/2024", "13/04/2024"], 4, "day first: 13/04/2024 is 13 April 2024"),
        (["03.04.2024", "04.13.2024"], 3, "month first: 04.13.2024 is 13 April 2024"),
        (
            ["03/04/2024", "03/05/2024", "03/06/2024"],
            3,
            "month first: 03/04/2024 is 4 March 2024 (assumed, because only",
        ),
        (["03/04/2024", "04/04/2024", "05/04/2024"], 4, "day first: 03/04/2024 is 3 April 2024 (assumed, because only"),
        (
            ["03/04/2024"],
            3,
            "month first: 03/04/2024 is 4 March 2024 (assumed, because no date tells; if that is wrong",
        ),
        (["03.04.2024"], 4, "day first: 03.04.2024 is 3 April 2024 (assumed, because no date tells; if that is wrong"),
    ],
)
def test_the_whole_column_tells_day_from_month(tmp_path: Path, dates: list[str], month: int, said: str) -> None:
    times, conversion, notes = read_times(write_csv(tmp_path, dates))
    assert times[0] is not None
    assert (times[0].month, times[0].day) == (month, 7 - month)
    assert len(notes) == 1
    assert notes[0].startswith(f"{conversion.files[0].path}: its dates are {said}")


def test_the_last_row_of_a_long_file_decides(tmp_path: Path) -> None:
    """Far behind the first megabyte, and behind what is read at a time."""
    dates = [f"{1 + number % 12:02}/{1 + number // 12 % 12:02}/2024" for number in range(12_000)]
    times, _, said = read_times(write_csv(tmp_path, [*dates, "13/12/2024"], LONG))
    assert (tmp_path / "log.csv").stat().st_size > 2**20
    assert times[1] == dt.datetime(2024, 1, 2, tzinfo=dt.timezone.utc)
    assert "day first" in said[0]


def test_files_that_do_not_tell_go_by_those_that_do(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("conv,time,body\na,03/04/2024,hello\n")
    (tmp_path / "b.csv").write_text("conv,time,body\nb,13/04/2024,hello\n")
    logs = find_logs([str(tmp_path / "*.csv")])
    convert(logs, tmp_path / "out")
    found = dialogues_from_arrow(read_table(tmp_path / "out").to_arrow())
    assert {dialogue.turns[0].time.month for dialogue in found if dialogue.turns[0].time} == {4}


def test_dates_that_come_late_are_counted_as_assumed(tmp_path: Path) -> None:
    times, conversion, _ = read_times(write_csv(tmp_path, ["2024-05-01"] * 12_000 + ["05/01/2024 10:00"], LONG))
    assert times[-1] == TEN
    assert (conversion.files[0].assumed_dates, conversion.files[0].assumed_date) == (1, "05/01/2024")


def test_the_user_knows_better(tmp_path: Path) -> None:
    path = write_csv(tmp_path, ["03/04/2024 10:00"])
    assert read_times(path, mapping={"dates": "day-first"})[0][0] == dt.datetime(2024, 4, 3, 10, tzinfo=dt.timezone.utc)
    with pytest.raises(TurnloomError, match="dates=day-first or dates=month-first"):
        find_logs([str(path)], mapping={"dates": "dmy"})


@pytest.mark.parametrize("write", [write_csv, write_turns])
def test_times_can_be_switched_off(tmp_path: Path, write: Any) -> None:
    times, conversion, said = read_times(write(tmp_path, ["03/04/2024", "yesterday"]), mapping={"time": "none"})
    assert times == [None, None]
    assert conversion.files[0].unread_times == 0
    assert said == []


def test_a_row_without_time_stays_with_the_line_before(tmp_path: Path) -> None:
    """Also where the rows of dialogues are scattered, and each stands alone."""
    rows = [
        "a,10:02,third",
        "b,,first",
        "a,,fourth",
        "b,10:09,third",
        "a,10:01,second",
        "b,10:08,second",
        "a,10:00,first",
    ]
    lines = [row.replace(",10:", ",13.01.2024 10:") for row in rows]
    (tmp_path / "log.csv").write_text("conv,time,body\n" + "\n".join(lines) + "\n")
    convert(find_logs([str(tmp_path / "log.csv")]), tmp_path / "out")
    found = dialogues_from_arrow(read_table(tmp_path / "out").to_arrow())
    texts = {dialogue.dialogue_id: [turn.text for turn in dialogue.turns] for dialogue in found}
    assert texts == {"a": ["first", "second", "third", "fourth"], "b": ["first", "second", "third"]}
