from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.formats import sample
from tests.corpus.test_round_trip import dialogues
from turnloom.corpus.engine import daft
from turnloom.corpus.schema import Dialogue, Turn, dialogues_to_arrow
from turnloom.corpus.turn_arrays import content_hash, dialogue_hashes, with_row_keys


def hash_of(table: Any) -> str:
    return content_hash(with_row_keys(table))


def hashes(rows: list[Dialogue]) -> list[int]:
    table = dialogues_to_arrow(rows)
    return [int(value) for value in dialogue_hashes([column.combine_chunks() for column in table.columns])]


@given(dialogues(), dialogues())
def test_rows_hash_alike_if_and_only_if_they_are_equal(first: list[Dialogue], second: list[Dialogue]) -> None:
    rows = first + second
    found = hashes(rows)
    for one, hash_one in zip(rows, found, strict=True):
        for two, hash_two in zip(rows, found, strict=True):
            assert (hash_one == hash_two) == (one == two)


@given(st.integers(0, 40), st.integers(1, 20))
def test_a_slice_hashes_as_the_rows_it_holds(start: int, length: int) -> None:
    rows = [sample(number) for number in range(60)]
    table = dialogues_to_arrow(rows).slice(start, length)
    found = dialogue_hashes([column.combine_chunks() for column in table.columns])
    assert [int(value) for value in found] == hashes(rows[start : start + length])


def test_nothing_and_empty_differ() -> None:
    turn = Turn("u", "hi")
    rows = [
        Dialogue("1", "s", [turn], domains=None),
        Dialogue("1", "s", [turn], domains=[]),
        Dialogue("1", "s", [turn]),
    ]
    none, empty, again = hashes(rows)
    assert none == again
    assert none != empty


def test_the_content_hash_ignores_order_and_files_but_not_repeats() -> None:
    table = dialogues_to_arrow([sample(number) for number in range(30)])
    whole = hash_of(daft().from_arrow(table))
    backwards = table.take(list(reversed(range(30))))
    parts = daft().from_arrow(backwards.slice(0, 7)).concat(daft().from_arrow(backwards.slice(7)))
    assert hash_of(parts) == whole
    assert hash_of(daft().from_arrow(pa.concat_tables([table, table.slice(0, 1)]))) != whole
    assert hash_of(daft().from_arrow(table.slice(0, 0))) == "0" * 32 + "-0"
