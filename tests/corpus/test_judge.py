"""What is judged by the words around it, where no pattern matches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.corpus.labelled_privacy import is_right, read_half
from turnloom.corpus.privacy.candidates import CANDIDATE_HINT, candidates
from turnloom.corpus.privacy.judge import JUDGED_KINDS, find_judged
from turnloom.corpus.privacy.patterns import KINDS, find_personal, scrub_text, scrub_texts

SETS = ("development", "held_back", "independent", "second", "third", "fourth", "blind", "terse", "seventh")


@pytest.mark.parametrize(
    ("goes", "stays"),
    [
        ("the keypad at the gate takes 8993", "the price at the till was 8993 yen"),
        ("voicemail opens with 4695", "the shop opens with 4695 visitors"),
        ("hint says birthday but coffee2722 fails", "the page says build2722 fails"),
    ],
)
def test_the_words_around_a_value_decide(goes: str, stays: str) -> None:
    assert [kind for kind, _, _ in find_judged(goes)] == ["SECRET"]
    assert find_judged(stays) == []


def test_orders_and_the_like_stay() -> None:
    rows = [row for half in SETS for row in read_half(half) if row.category == "none"]
    changed = [row.text for row in rows if find_judged(row.text)]
    assert len(rows) > 900
    assert len(changed) <= 0.01 * len(rows)


def test_it_finds_what_the_patterns_leave() -> None:
    rows = [row for half in SETS for row in read_half(half) if row.category not in ("none", "name")]
    left = [row for row in rows if not is_right(row, _scrubbed_by_patterns(row.text))]
    found = [row for row in left if is_right(row, scrub_text(row.text)[0])]
    assert len(left) > 30
    assert len(found) > 0.5 * len(left)


def _scrubbed_by_patterns(text: str) -> str:
    for kind, start, end in reversed(find_personal(text)):
        text = f"{text[:start]}<{kind}>{text[end:]}"
    return text


def test_the_hint_matches_every_text_with_a_candidate() -> None:
    texts = [row.text for half in SETS for row in read_half(half)]
    hinted = pa.compute.match_substring_regex(pa.array(texts), CANDIDATE_HINT).to_pylist()
    assert not [text for text, likely in zip(texts, hinted, strict=True) if candidates(text) and not likely]


def test_texts_keep_their_rows() -> None:
    texts = [
        "voicemail opens with 4695",
        "mail jo@example.com",
        "thanks",
        "the keypad takes 8993",
        "bring it to 5, Cherry Tree Close",
        "the default is changeme",
        "I'm +44 20 7946 0018",
    ]
    assert scrub_texts(pa.array(texts))[0].to_pylist() == [scrub_text(text)[0] for text in texts]


def test_its_kinds_are_counted() -> None:
    assert set(JUDGED_KINDS) <= set(KINDS)
