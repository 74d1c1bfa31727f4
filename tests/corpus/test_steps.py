"""The vectorised steps of `prepare` against naive loops."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.test_round_trip import dialogues
from turnloom.corpus.cleaning.duplicates import response_frequencies
from turnloom.corpus.cleaning.normalise import clean, fold_texts, merge_speakers, normalise_texts, word_counts
from turnloom.corpus.engine import daft
from turnloom.corpus.schema import Dialogue, Slot, Turn, dialogues_from_arrow, dialogues_to_arrow
from turnloom.corpus.turn_arrays import hash_strings, join_turns, split_turns


def through(step: object, rows: list[Dialogue]) -> list[Dialogue]:
    table = step(daft().from_arrow(dialogues_to_arrow(rows)))  # type: ignore[operator]
    return list(dialogues_from_arrow(table.to_arrow()))


# Unicode's Default_Ignorable_Code_Point, and blanks that are letters or symbols to Unicode.
INVISIBLE = [
    chr(number)
    for first, last in [
        *[(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)],
        *[(0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F)],
        *[(0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)],
        (0xE0000, 0xE0FFF),
    ]
    for number in range(first, last + 1)
]
BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
MEANT = [
    "می\u200cخواهم کتاب\u200cها",  # Persian: a prefix and a plural that do not join.
    "क्\u200dष क्\u200cष",  # Hindi: a half form, and a virama that shows.
    "র\u200d্যাম উত্\u200d",  # Bengali: ya-phalaa, and an old final ta.
    "ශ්\u200dරී ලංකා",
    "ᠬᠠᠷ\u180eᠠ",
    "👨\u200d👩\u200d👧 and 👩🏽\u200d🚀",
    "🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥 🙂\u200d↔\ufe0f",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # The flag of England.
    "1\ufe0f\u20e3 ☎\ufe0e",
    "葛\U000e0100城市",  # A variant that a name is written with.
]


def normalised(texts: list[str]) -> list[str]:
    return normalise_texts(pa.array(texts, pa.large_string())).to_pylist()  # type: ignore[no-any-return]


def visible(text: str) -> list[str]:
    """The letters, digits, signs and symbols of a text, without their accents."""
    parts = unicodedata.normalize("NFD", text)
    return [c for c in parts if unicodedata.category(c)[0] in "LNPS" and c not in BLANK_LETTERS]


ODD_TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
        st.text(st.sampled_from([*"a é\u0301\n\x85", *INVISIBLE[:80], *"".join(MEANT)]), max_size=30),
    ),
    max_size=8,
)


@given(ODD_TEXTS)
def test_normalised_text_is_composed_and_evenly_spaced(texts: list[str]) -> None:
    after = normalised(texts)
    for one, other in zip(texts, after, strict=True):
        assert other == other.strip(" ")
        assert "  " not in other
        assert not any(unicodedata.category(character) == "Cc" for character in other)
        assert unicodedata.is_normalized("NFC", other)
        assert visible(other) == visible(one)
    assert normalised(after) == after
    assert fold_texts(pa.array(after, pa.large_string())) == fold_texts(pa.array(texts, pa.large_string()))


def test_a_text_of_nothing_visible_is_empty() -> None:
    assert {one: found for one, found in zip(INVISIBLE, normalised(INVISIBLE), strict=True) if found} == {}
    assert normalised([" \u200e\u200d\n\xad ", "\ufe0f\u200d\u200d\u3164", "\u0301", "\u115f\u1160"]) == [""] * 4
    said = [Turn("a", "hi"), Turn("b", "\u200d\ufe0f"), Turn("a", "\u200e")]
    (after,) = through(clean, [Dialogue("1", "s", said)])
    assert [turn.text for turn in after.turns] == ["hi"]


def test_stray_invisible_characters_are_removed() -> None:
    pairs = {
        "co\u00adoperate": "cooperate",
        "\ufeff\u200ehello\u200f \u202aJo\u202c": "hello Jo",
        "foo\u200bbar\u2060baz": "foobarbaz",
        "a\u200db\u200cc": "abc",
        "thanks \ufe0f\u200d!": "thanks !",
        "🙂\u200d ok \U000e0041\U000e0042": "🙂 ok",
        "e\u00ad\u0301": "é",
        "0\U000e0020\u180b\u200c": "0",
        "one\u3164two\u2800three": "one two three",
    }
    assert normalised(list(pairs)) == list(pairs.values())


def test_joiners_that_carry_meaning_stay() -> None:
    assert normalised(MEANT) == MEANT
    assert normalised([f"\u200e{text}\u00ad" for text in MEANT]) == MEANT


@given(st.lists(st.text("ab \t\n,é", max_size=12), max_size=8))
def test_words_are_counted_as_split_counts_them(texts: list[str]) -> None:
    assert word_counts(pa.array(texts, pa.string())).tolist() == [len(text.split()) for text in texts]
    sliced = pa.array(["x y", *texts], pa.large_string()).slice(1)
    assert word_counts(sliced).tolist() == [len(text.split()) for text in texts]


def test_characters_of_scripts_without_spaces_count_as_words() -> None:
    texts = ["我想退款", "OK 你好", "コーヒー", "สวัสดี", "ສະບາຍດີ", "one é", "ខ្មែរ", "မြန်မာ"]
    assert word_counts(pa.array(texts)).tolist() == [4, 3, 4, 6, 7, 2, 5, 6]


@given(st.lists(st.text("aB É'.,!? 7", max_size=12), max_size=8))
def test_folding_ignores_case_and_punctuation(texts: list[str]) -> None:
    expected = [" ".join(re.sub(r"[^\w]+", " ", text.lower()).split()) for text in texts]
    assert fold_texts(pa.array(texts, pa.string())).to_pylist() == expected


def naive_merge(dialogue: Dialogue) -> list[Turn]:
    merged: list[Turn] = []
    for turn in dialogue.turns:
        if merged and turn.speaker and merged[-1].speaker == turn.speaker:
            last = merged[-1]
            shift = len(last.text) + 1
            moved = [
                Slot(s.name, s.value, s.start + shift, s.end + shift) for s in turn.slots or [] if s.end is not None
            ]
            last.text += " " + turn.text
            last.acts = None if last.acts is None and turn.acts is None else (last.acts or []) + (turn.acts or [])
            last.slots = None if last.slots is None and turn.slots is None else (last.slots or []) + moved
            last.intent = last.intent or turn.intent
        else:
            merged.append(Turn(turn.speaker, turn.text, turn.acts, turn.slots, turn.intent, turn.time))
    return merged


@given(dialogues(), st.data())
def test_merging_speakers(rows: list[Dialogue], data: st.DataObject) -> None:
    for dialogue in rows:
        for turn in dialogue.turns:
            turn.speaker = data.draw(st.sampled_from(["a", "b", ""]))
    table = dialogues_to_arrow(rows)
    offsets, flat = merge_speakers(
        *split_turns(table["turns"].combine_chunks().cast(pa.large_list(table["turns"].type.value_type)))
    )
    merged = table.set_column(2, "turns", join_turns(offsets, flat))
    assert [dialogue.turns for dialogue in dialogues_from_arrow(merged)] == [naive_merge(dialogue) for dialogue in rows]


def test_slots_follow_their_text() -> None:
    turn = Turn("u", "  a \t room\nin   Graz ", slots=[Slot("city", "Graz", 16, 20), Slot("what", "\t room", 4, 10)])
    (after,) = through(clean, [Dialogue("1", "s", [turn, Turn("b", " \n")])])
    assert len(after.turns) == 1
    assert after.turns[0].text == "a room in Graz"
    assert after.turns[0].slots == [Slot("city", "Graz", 10, 14), Slot("what", "room", 2, 6)]


def test_responses_are_counted_as_they_occur() -> None:
    rows = [
        Dialogue("1", "s", [Turn("a", "Yes"), Turn("b", "yes "), Turn("a", "no")]),
        Dialogue("2", "s", [Turn("a", "no"), Turn("b", "YES")]),
    ]
    found = response_frequencies(daft().from_arrow(dialogues_to_arrow(rows))).to_pylist()
    assert found == [{"response": int(hash_strings(pa.array(["yes"]))[0]), "count": 2}]
    assert np.uint64(found[0]["response"]) > 0
