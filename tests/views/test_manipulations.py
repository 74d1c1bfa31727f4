"""What is asked of a manipulated conversation, and that its answer stays right whatever is cut off."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnloom.errors import TurnloomError
from turnloom.views.utterance_tasks import (
    END_OF_TURN,
    FEWEST,
    MARKS,
    Manipulated,
    Marker,
    Task,
    fit_turns,
    manipulate,
)

TASKS = st.sampled_from(get_args(Task))
CLS, SEP, EOT = 1, 2, 3
NUMBERS = {END_OF_TURN: EOT, **{mark: 4 + number for number, mark in enumerate(MARKS.values())}}
TOKENIZER = SimpleNamespace(
    cls_token_id=CLS, sep_token_id=SEP, unk_token_id=0, convert_tokens_to_ids=lambda token: NUMBERS.get(token, 0)
)
FOREIGN = 99


def answered(given: Manipulated[int], original: list[int]) -> bool:
    """Whether the label is the answer, told from the conversation itself: turns are numbered."""
    turns = list(given.turns)
    if given.task == "insertion":
        turns.insert(given.label, given.asked)  # type: ignore[arg-type]
        return any(turns == original[start : start + len(turns)] for start in range(len(original)))
    if given.task == "deletion":
        return turns[given.label] == FOREIGN and turns.count(FOREIGN) == 1
    return turns[given.label] == given.asked - 1  # type: ignore[operator]


@given(TASKS, st.integers(0, 12), st.integers(3, 7), st.integers(0, 2**40))
def test_the_label_is_the_answer_and_nothing_else_is_changed(task: Task, size: int, window: int, seed: int) -> None:
    turns = list(range(size))
    found = manipulate(task, turns, np.random.default_rng(seed), window=window, foreign=FOREIGN)
    assert turns == list(range(size))
    if found is None:
        assert size < FEWEST[task]
        return
    assert answered(found, turns)
    assert 0 <= found.label < found.marks
    spoken = {*found.turns, *([] if found.asked is None else [found.asked])} - {FOREIGN}
    # The window is consecutive, and as large as it can be.
    assert spoken == set(range(min(spoken), min(spoken) + min(size, window)))
    assert found == manipulate(task, turns, np.random.default_rng(seed), window=window, foreign=FOREIGN)


@given(st.permutations(get_args(Task)), st.integers(0, 2**40))
def test_building_one_input_never_changes_another(order: list[Task], seed: int) -> None:
    turns = list(range(9))

    def built(tasks: list[Task]) -> dict[Task, object]:
        return {
            task: manipulate(task, turns, np.random.default_rng([seed, len(task)]), foreign=FOREIGN) for task in tasks
        }

    together = built(order)
    for task in order:
        assert built([task])[task] == together[task]


@pytest.mark.parametrize("task", get_args(Task))
def test_with_more_turns_than_the_window_every_place_is_drawn(task: Task) -> None:
    turns, draws = list(range(8)), 4_000
    found = [manipulate(task, turns, np.random.default_rng([5, n]), foreign=FOREIGN) for n in range(draws)]
    spoken = Counter()
    for each in found:
        assert each is not None
        spoken.update({*each.turns, *([] if each.asked is None else [each.asked])} - {FOREIGN})
    # The reply, which is the last turn, is in a window as often as the first: once in four windows.
    assert set(spoken) == set(turns)
    assert spoken[7] == pytest.approx(draws / 4, rel=0.15)
    labels = Counter(each.label for each in found if each is not None)
    count = {"insertion": 5, "deletion": 6, "search": 4}[task]
    assert sorted(labels) == list(range(count))
    assert all(times == pytest.approx(draws / count, rel=0.15) for times in labels.values())
    if task == "insertion":
        assert {each.asked for each in found if each is not None} == set(turns)


@settings(max_examples=300)
@given(
    TASKS,
    st.lists(st.integers(0, 30), min_size=3, max_size=9),
    st.integers(0, 40),
    st.integers(15, 60),
    st.integers(0, 2**40),
)
def test_the_label_marks_the_true_place_after_any_truncation(
    task: Task, lengths: list[int], foreign: int, limit: int, seed: int
) -> None:
    # Every token of turn n is 100 n and something, so that what is left of it can still be told.
    turns = [[100 * (n + 1) + token for token in range(length)] for n, length in enumerate(lengths)]
    other = [9_900 + token for token in range(foreign)]
    asked = manipulate(task, turns, np.random.default_rng(seed), foreign=other)
    assert asked is not None
    found = Marker(TOKENIZER, limit)(asked)
    mark = NUMBERS[MARKS[task]]
    assert len(found.ids) == len(found.segments) <= limit
    assert found.marks == [place for place, token in enumerate(found.ids) if token == mark]
    assert len(found.marks) == asked.marks
    assert found.label == asked.label
    assert found.ids[0] == CLS
    assert found.ids[-1] == SEP
    assert found.ids.count(SEP) == (1 if task == "deletion" else 2)
    assert found.segments == sorted(found.segments)
    # After each mark stands the end of its own turn, whole if all of them fit.
    spoken = [*asked.turns, *([] if asked.asked is None else [asked.asked])]
    whole = sum(map(len, spoken)) + asked.marks + len(spoken) + 2 + (asked.asked is not None) <= limit
    for number, turn in enumerate(asked.turns):
        start = found.marks[number] + 1
        left = found.ids[start : found.ids.index(EOT, start)]
        assert left == turn[len(turn) - len(left) :]
        assert not whole or left == turn
    if asked.asked is not None:
        left = found.ids[found.ids.index(SEP) + 1 : -2]
        assert left == asked.asked[len(asked.asked) - len(left) :]


@given(st.lists(st.lists(st.integers(), max_size=20), min_size=1, max_size=6), st.integers(0, 60))
def test_turns_are_cut_from_the_front_and_no_more_than_need_be(turns: list[list[int]], room: int) -> None:
    kept = fit_turns(turns, room)
    assert sum(map(len, kept)) == min(sum(map(len, turns)), room)
    share = room // len(turns)
    for turn, left in zip(turns, kept, strict=True):
        assert left == turn[len(turn) - len(left) :]
        assert len(left) >= min(len(turn), share)
    # The oldest go first: a turn is shortened only when all before it have their share and no more.
    shortened = [n for n, (turn, left) in enumerate(zip(turns, kept, strict=True)) if len(left) < len(turn)]
    for turn, left in list(zip(turns, kept, strict=True))[: max(shortened, default=0)]:
        assert len(left) == min(len(turn), share)


def test_by_hand() -> None:
    asked = Manipulated("insertion", ([10], [20, 21]), [30, 31], 1)
    ins = NUMBERS["[INS]"]
    found = Marker(TOKENIZER, 64)(asked)
    assert found.ids == [CLS, ins, 10, EOT, ins, 20, 21, EOT, ins, SEP, 30, 31, EOT, SEP]
    assert found.segments == [0] * 10 + [1] * 4
    assert found.marks == [1, 4, 8]
    assert Marker(TOKENIZER, 12)(asked).ids == [CLS, ins, 10, EOT, ins, 21, EOT, ins, SEP, 31, EOT, SEP]


def test_mistakes_are_said() -> None:
    with pytest.raises(TurnloomError, match="no room for the marks"):
        Marker(TOKENIZER, 8)(Manipulated("deletion", ([1],) * 6, None, 0))
    with pytest.raises(TurnloomError, match="does not know the marks"):
        Marker(SimpleNamespace(**{**vars(TOKENIZER), "convert_tokens_to_ids": lambda _: 0}), 64)
    with pytest.raises(TurnloomError, match="no manipulation 'swap'"):
        manipulate("swap", "abc", np.random.default_rng(0))  # type: ignore[arg-type]
    assert manipulate("deletion", "abc", np.random.default_rng(0)) is None
