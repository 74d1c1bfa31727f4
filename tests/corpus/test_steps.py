"""The vectorised steps of `prepare` against naive loops."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.test_round_trip import dialogues
from turnloom.corpus.clean import clean
from turnloom.corpus.engine import daft
from turnloom.corpus.fingerprint import hash_strings
from turnloom.corpus.frequency import response_frequencies
from turnloom.corpus.merge import merge_speakers
from turnloom.corpus.schema import Dialogue, Slot, Turn, dialogues_from_arrow, dialogues_to_arrow
from turnloom.corpus.texts import fold_texts, normalise_texts, word_counts
from turnloom.corpus.turn_arrays import join_turns, split_turns

TEXTS = st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=30), max_size=8)


def through(step: object, rows: list[Dialogue]) -> list[Dialogue]:
    table = step(daft().from_arrow(dialogues_to_arrow(rows)))  # type: ignore[operator]
    return list(dialogues_from_arrow(table.to_arrow()))


@given(TEXTS)
def test_normalised_text_is_composed_and_evenly_spaced(texts: list[str]) -> None:
    for before, after in zip(texts, normalise_texts(pa.array(texts, pa.large_string())).to_pylist(), strict=True):
        assert after == after.strip(" ")
        assert "  " not in after
        assert not any(unicodedata.category(character) == "Cc" for character in after)
        assert unicodedata.is_normalized("NFC", after)
        kept = [c for c in unicodedata.normalize("NFC", before) if unicodedata.category(c)[0] not in "CZ"]
        assert [c for c in after if unicodedata.category(c)[0] not in "CZ"] == kept
    assert (
        normalise_texts(normalise_texts(pa.array(texts, pa.large_string()))).to_pylist()
        == normalise_texts(pa.array(texts, pa.large_string())).to_pylist()
    )


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
