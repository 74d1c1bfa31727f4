"""Patterns of one's own: what they replace, what stays, and what a mistake in their file says."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest

from tests.corpus.test_prepare import run, save
from turnloom.corpus.prepare import PrepareOptions, prepare
from turnloom.corpus.privacy.patterns import scrub_texts
from turnloom.corpus.privacy.replacements import Replacement, load_replacements, replace_texts
from turnloom.corpus.schema import Dialogue, Slot, Turn
from turnloom.errors import TurnloomError

PATTERNS = """\
# Booking references
- name: BOOKING
  pattern: '\\b[A-Z]{2}[0-9]{4}\\b'
- name: SEAT
  after: '(?i)\\bseat '
  pattern: '[0-9]{1,2}[A-F]\\b'
"""
BOOKING = Replacement(name="BOOKING", pattern=r"\b[A-Z]{2}[0-9]{4}\b")


def _replaced(text: str, *replacements: Replacement) -> str:
    texts, _ = replace_texts(pa.array([text], pa.large_string()), replacements)
    found: str = texts[0].as_py()
    return found


def test_a_table_is_prepared_with_ones_own_patterns(tmp_path: Path) -> None:
    (tmp_path / "patterns.yaml").write_text(PATTERNS)
    own = load_replacements(tmp_path / "patterns.yaml")
    first = Turn("a", "My booking AB1234, Seat 12C, jo@example.com", slots=[Slot("booking", "AB1234", 11, 17)])
    rows = [Dialogue("1", "log", [first, Turn("b", "AB1234 and CD5678 are on page 12C")])]
    found, counts = run(tmp_path, rows, replace=own)
    assert [turn.text for turn in found[0].turns] == [
        "My booking <BOOKING>, Seat <SEAT>, <EMAIL>",
        "<BOOKING> and <BOOKING> are on page 12C",
    ]
    assert found[0].turns[0].slots is not None
    assert found[0].turns[0].slots[0].value == "<BOOKING>"
    assert counts["personal_data"] == {"EMAIL": 1, "BOOKING": 3, "SEAT": 1}
    assert [one["name"] for one in counts["options"]["replace"]] == ["BOOKING", "SEAT"]


def test_other_patterns_make_another_table(tmp_path: Path) -> None:
    source = save(tmp_path / "in", [Dialogue("1", "log", [Turn("a", "Is it AB1234?"), Turn("b", "It is CD5678")])])
    own, nothing = PrepareOptions(replace=(BOOKING,)), PrepareOptions()
    plain, _ = prepare(source, tmp_path / "plain", nothing)
    replaced, _ = prepare(source, tmp_path / "replaced", own)
    assert plain.content_hash != replaced.content_hash
    assert not prepare(source, tmp_path / "replaced", own)[1]
    with pytest.raises(TurnloomError, match="--no-scrub"):
        prepare(source, tmp_path / "off", PrepareOptions(replace=(BOOKING,), scrub=False))


def test_placeholders_are_left_alone() -> None:
    capitals = Replacement(name="CODE", pattern="[A-Z]{4,6}")
    text = "Mail <EMAIL>, then <SECRET> or QWERTY"
    assert _replaced(text, capitals) == "Mail <EMAIL>, then <SECRET> or <CODE>"
    again = _replaced("QWERTY", capitals, Replacement(name="OTHER", pattern="[A-Z]{4,6}"))
    assert again == "<CODE>"
    assert _replaced(_replaced(text, capitals), capitals) == _replaced(text, capitals)


def test_what_stands_before_a_match_stays() -> None:
    seat = Replacement(name="SEAT", pattern="[0-9]{1,2}[A-F]", after="(?i)seats? |and ")
    assert _replaced("Seats 12C and 13D, row 14E", seat) == "Seats <SEAT> and <SEAT>, row 14E"


@pytest.mark.parametrize("text", ["My reference is <BOOKING>", "<BOOKING> <SEAT>: <BOOKING>, thanks <BOOKING>!"])
def test_scrubbing_leaves_ones_own_placeholders(text: str) -> None:
    assert scrub_texts(pa.array([text], pa.large_string()))[0].to_pylist() == [text]


@pytest.mark.parametrize("pattern", ["(a+)+!", "(?:[a-z.]+)*@b", "(a|aa)+$", ".*.*.*x"])
def test_no_pattern_takes_more_than_linear_time(pattern: str) -> None:
    before = time.thread_time()
    _replaced("a" * 100_000, Replacement(name="OWN", pattern=pattern))
    assert time.thread_time() - before < 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- name: BOOKING\n  pattern: '[A-Z'\n", r"p\.yaml:1: the pattern is no regular expression of RE2 \(.*\["),
        (PATTERNS + "- name: X\n  pattern: '(?<=a)b'\n", r"p\.yaml:7: 'X' is no name of a placeholder"),
        (PATTERNS + "- name: XY\n  pattern: '(?<=a)b'\n", r"p\.yaml:7: the pattern is no regular expression of RE2"),
        ("- name: XY\n  pattern: 'b'\n  after: '('\n", r"p\.yaml:1: the after is no regular expression"),
        ("- name: booking\n  pattern: a\n", r"p\.yaml:1: 'booking' is no name.*capital letters"),
        ("- name: BOOKING\n", r"p\.yaml:1: the entry has no pattern"),
        ("- name: BOOKING\n  regex: a\n", r"p\.yaml:1: there is no field 'regex'"),
        ("- name: BOOKING\n  pattern: '[0-9]*'\n", r"p\.yaml:1: the pattern matches the empty text"),
        ("\n- BOOKING\n", r"p\.yaml:2: it is no entry"),
        ("- name: BOOKING\n  pattern: [A-Z]{4}\n", r"p\.yaml:2: it is not YAML"),
        ("name: BOOKING\n", r"p\.yaml is no list of patterns"),
        ("", r"p\.yaml is no list of patterns"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "p.yaml").write_text(content)
    with pytest.raises(TurnloomError, match=message):
        load_replacements(tmp_path / "p.yaml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match=r"no\.yaml cannot be read"):
        load_replacements(tmp_path / "no.yaml")
