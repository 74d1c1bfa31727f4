"""A dialogue written in each format and read back is the same, as far as the format can carry it."""

from __future__ import annotations

import datetime as dt
import io
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.formats import WRITERS, carried
from turnloom.corpus.readers import READERS, ReadOptions
from turnloom.corpus.readers.logfile import Parsed
from turnloom.corpus.schema import Dialogue, Slot, Turn, dialogues_from_arrow, dialogues_to_arrow

NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=8)
# Every assigned character but control characters and lone surrogates; no leading or trailing space.
TEXTS = (
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp")), min_size=1, max_size=40)
    .map(str.strip)
    .filter(bool)
)
TIMES = st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2090, 1, 1), timezones=st.just(dt.timezone.utc))


@st.composite
def turns(draw: st.DrawFn, speaker: str, multiline: bool) -> Turn:
    text = draw(TEXTS)
    if multiline and draw(st.booleans()):
        text += "\n" + draw(TEXTS)
    start = draw(st.integers(0, len(text) - 1))
    end = draw(st.integers(start + 1, len(text)))
    slots = draw(st.sampled_from([None, [Slot("area", text[start:end], start, end)]]))
    acts = draw(
        st.none() | st.lists(NAMES.map(lambda name: f"hotel-inform:{name}"), min_size=1, unique=True).map(sorted)
    )
    return Turn(speaker, text, acts=acts, slots=slots, intent=draw(st.none() | NAMES), time=draw(st.none() | TIMES))


@st.composite
def dialogues(draw: st.DrawFn, multiline: bool = True, timed: bool = True) -> list[Dialogue]:
    found = []
    for number in range(draw(st.integers(1, 3))):
        speakers = ["user", "assistant"] * 3
        said = [draw(turns(speaker, multiline)) for speaker in speakers[: draw(st.integers(1, 6))]]
        for turn in said:
            turn.time = turn.time if timed else None
            turn.intent = turn.intent if turn.speaker == "user" else None
        domains = draw(st.none() | st.lists(NAMES.map("d_".__add__), min_size=1, max_size=2, unique=True))
        found.append(
            Dialogue(f"id{number}", "log", said, domains, draw(st.none() | NAMES), draw(st.none() | st.just(["x"])))
        )
    return found


def read(content: bytes, reader: str) -> list[Parsed]:
    options = ReadOptions("log", "log")
    entries = list(READERS[reader].read(io.BufferedReader(io.BytesIO(content)), "log", options))
    rejected = [entry for entry in entries if not isinstance(entry, Parsed)]
    assert rejected == []
    return [entry for entry in entries if isinstance(entry, Parsed)]


def in_time_order(parsed: Parsed) -> Dialogue:
    """Rows come as they stand in the file; `convert` sorts them by what the reader says."""
    if parsed.order is not None:
        places = sorted(range(len(parsed.order)), key=parsed.order.__getitem__)
        parsed.dialogue.turns = [parsed.dialogue.turns[place] for place in places]
    return parsed.dialogue


def prepared(way: str, written: list[Dialogue]) -> list[Dialogue]:
    """Leave out what the format cannot tell apart from something else."""
    for dialogue in written:
        for turn in dialogue.turns:
            if way == "multiwoz" and turn.slots:
                # MultiWOZ names a value, and its first place in the text is found.
                place = turn.text.lower().find(turn.slots[0].value.lower())
                value = turn.slots[0].value
                unchanged = len(turn.text.lower()) == len(turn.text) and turn.text[place : place + len(value)] == value
                turn.slots = [Slot("area", value, place, place + len(value))] if unchanged and value.isascii() else None
            if way == "sgd":
                turn.speaker = {"assistant": "system"}.get(turn.speaker, turn.speaker)
            if way == "multiwoz":
                turn.speaker = {"assistant": "system"}.get(turn.speaker, turn.speaker)
        if way == "taskmaster":
            dialogue.domains = dialogue.domains[:1] if dialogue.domains else ["x"]
        if way == "sgd":
            dialogue.domains = dialogue.domains or []
    return written


@pytest.mark.parametrize("way", WRITERS)
@given(data=st.data())
def test_what_is_written_is_read(way: str, data: st.DataObject) -> None:
    reader, _, write = WRITERS[way]
    written = prepared(way, data.draw(dialogues(multiline=way != "transcript")))
    content = write(written)
    line, expected = 1, []
    for number, dialogue in enumerate(written):
        expected.append(carried(dialogue, way, number, line))
        line += len(dialogue.turns) + 1
    assert [in_time_order(parsed) for parsed in read(content, reader)] == expected


@given(dialogues())
def test_the_table_gives_back_what_it_got(written: list[Dialogue]) -> None:
    assert list(dialogues_from_arrow(dialogues_to_arrow(written))) == written
