from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.personal_data import labelled, score
from turnloom.corpus.engine import daft
from turnloom.corpus.privacy import scrubbed
from turnloom.corpus.privacy.patterns import (
    KINDS,
    PATTERNS,
    Pattern,
    find_personal,
    is_card,
    is_iban,
    scrub_text,
    scrub_texts,
)
from turnloom.corpus.schema import Dialogue, Slot, Turn, dialogues_to_arrow


@pytest.mark.parametrize("kind", KINDS)
def test_precision_and_recall_on_labelled_lines(kind: str) -> None:
    found = score(find_personal)[kind]
    assert found.marked >= 30
    assert found.precision >= 0.95
    assert found.recall >= 0.95


def test_the_labelled_lines_are_many_and_hard() -> None:
    lines = labelled()
    assert len(lines) >= 300
    assert sum(not spans for _, spans in lines) >= 100


def test_the_quick_look_misses_nothing() -> None:
    texts = [text for text, _ in labelled()]
    scrubbed, counts = scrub_texts(pa.array(texts))
    expected = [scrub_text(text) for text in texts]
    assert scrubbed.to_pylist() == [text for text, _ in expected]
    assert counts.sum() == sum(len(kinds) for _, kinds in expected)


def test_addresses_of_a_house_and_signs_that_are_none() -> None:
    assert scrub_text("see https://intranet/users/jane")[0] == "see <URL>"
    assert scrub_text("std :: vector")[0] == "std :: vector"


@pytest.mark.parametrize(
    ("number", "valid"),
    [
        ("4111 1111 1111 1111", True),
        ("4111-1111-1111-1112", False),
        ("0000 0000 0000 0000", False),
        ("79927398713", False),
    ],
)
def test_luhn(number: str, valid: bool) -> None:
    assert is_card(number) == valid


@given(st.text("0123456789", min_size=12, max_size=15))
def test_one_wrong_digit_breaks_luhn_and_the_ibans_checksum(digits: str) -> None:
    body = "4" + digits
    check = next(last for last in "0123456789" if is_card(body + last)) if len(set(body)) > 1 else None
    if check is not None:
        wrong = str((int(body[3]) + 1) % 10)
        assert not is_card(body[:3] + wrong + body[4:] + check)
    account = f"GB{{}}WEST{digits[:12]}"
    pair = next(f"{n:02d}" for n in range(2, 99) if is_iban(account.format(f"{n:02d}")))
    swapped = str((int(digits[0]) + 1) % 10) + digits[1:12]
    assert not is_iban(f"GB{pair}WEST{swapped}")


@given(st.text(max_size=200))
def test_any_text_can_be_scrubbed_and_scrubbed_again(text: str) -> None:
    once, kinds = scrub_text(text)
    assert len(kinds) == sum(once.count(f"<{kind}>") - text.count(f"<{kind}>") for kind in KINDS)
    spans = find_personal(text)
    assert all(0 <= start < end <= len(text) for _, start, end in spans)
    assert all(one[2] <= two[1] for one, two in itertools.pairwise(spans))


def test_what_is_replaced_in_a_turn_does_not_stay_in_its_slots() -> None:
    text = "2 rooms for 2 people, call me at 555-0132"
    slots = [Slot("people", "2", 12, 13), Slot("phone", "555-0132", 33, 41), Slot("stars", "any", None, None)]
    table = daft().from_arrow(dialogues_to_arrow([Dialogue("1", "s", [Turn("u", text, slots=slots)])]))
    found = scrubbed(table, None).select("turns").to_pylist()[0]["turns"][0]
    assert found["text"] == "2 rooms for 2 people, call me at <PHONE>"
    assert [(slot["name"], slot["value"], slot["start"]) for slot in found["slots"]] == [
        ("people", "2", 12),
        ("stars", "any", None),
    ]


# Repeated to any length, after a start and before an end: what makes a pattern try again from every character.
HOSTILE = [
    *[("", unit, "") for unit in "a1é_.-@+ /:(%'"],
    *[
        ("", unit, "")
        for unit in ("a.", "1.", "a-", "1-", "1 ", "a/", "a:", "a@", "@1", "@a.", "+1 ", ". ", "1.1.1. ", "-.", "(1) ")
    ],
    *[("", "a", "@"), ("", "a.", "@b"), ("x@", "b.", ""), ("x@", "b", ""), ("x@", "1.", "1"), ("x@", "bb_.", "")],
    *[
        ("", unit, "")
        for unit in (
            "a@b.1 ",
            "a@b.co ",
            "a@b.co @jo ab.ly ",
            "a@b.co'",
            "a.co@",
            "com.",
            "http:/",
            "www.",
            "www.a ",
            "ab.ly ",
        )
    ],
    *[("http://a", unit, "") for unit in (")", ").", "(", "()", ".", "http://")],
    *[("a.com", unit, "") for unit in (":1", "/", ".com", "@")] + [("a.com:", "1", "@"), ("a.com/", "1", "@")],
    *[
        ("", unit, "")
        for unit in ("GB82", "GB82 WEST ", "GB82WEST1234 ", "4111 1111 1111 1112 ", "4111 1111 1111 1111 ")
    ],
    *[
        ("", unit, "")
        for unit in ("255.255.255.999 ", "10.1.2.3 ", "::1 ", "a:a:a ", "call 555-0132 ", "+1 (415) ", "@1_ ")
    ],
    *[("@", "1", ""), ("@", "é", "@"), ("+", "1", "a"), ("", "1()./-", ""), ("", "order no. ", "1234567")],
    ("", "".join(random.Random(0).choices("aB1.-@+ /:()'", k=997)), ""),
]
BUDGET = 20e-6
"""Seconds of processor time for a character: many times what is needed, and a hundredth of what a square costs."""


def assert_linear(search: Callable[[str], object]) -> None:
    for start, unit, end in HOSTILE:
        for size in (12_000, 100_000):  # The short one first: a square would take minutes for the long one.
            text = start + (unit * (size // len(unit) + 1))[:size] + end
            before = time.thread_time()
            search(text)
            spent = time.thread_time() - before
            assert spent < BUDGET * size, f"{spent:.2f} s for {size:,} characters of {start!r} + {unit!r} … + {end!r}"


@pytest.mark.parametrize("pattern", PATTERNS, ids=[f"{place}-{one.kind}" for place, one in enumerate(PATTERNS)])
def test_each_pattern_takes_linear_time(pattern: Pattern) -> None:
    def search(text: str) -> None:
        for match in pattern.shape.finditer(text):
            pattern.check(match.group(), text[max(0, match.start() - 60) : match.start()])

    assert_linear(search)


def test_scrubbing_takes_linear_time() -> None:
    assert_linear(scrub_text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a@b.com-c@d.com'e@f.org", "<EMAIL><EMAIL><EMAIL>"),
        ("a@b@c.com or .@d.com, %x.y@e.co.uk.", "a@<EMAIL> or .<HANDLE>, <EMAIL>."),
        ("'jo@x.io' jo.@x.io", "<EMAIL>' jo.@x.io"),
        ("(see http://a.b/c(d)).", "(see <URL>)."),
        ("http://a.b/c))).)! (", "<URL>))).)! ("),
    ],
)
def test_where_finds_begin_and_end(text: str, expected: str) -> None:
    assert scrub_text(text)[0] == expected
