"""Utterance manipulation (UMS): a conversation changed so that only who knows what comes next can tell where.

Three questions about a window of consecutive turns, each asked at marks that stand between the turns: where does this
turn belong (insertion), which one is from another conversation (deletion), and, with the turns shuffled, which one came
just before this (search)? They need no labels, and they are asked of true conversations only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np

from turnloom.errors import TurnloomError

Task = Literal["insertion", "deletion", "search"]
END_OF_TURN = "[EOT]"
MARKS: dict[Task, str] = {"insertion": "[INS]", "deletion": "[DEL]", "search": "[SRCH]"}
FEWEST: dict[Task, int] = {"insertion": 2, "deletion": 2, "search": 3}
"""With fewer turns there is only one answer."""
Turn = TypeVar("Turn")


@dataclass(frozen=True)
class Manipulated(Generic[Turn]):
    """A window of a conversation and a question about it.

    Attributes:
        turns: What is read, each turn with a mark before it; for insertion there is one more mark after the last.
        asked: The turn that the question is about, which is read last; None for deletion.
        label: The number of the mark that is the answer, from 0.
    """

    task: Task
    turns: tuple[Turn, ...]
    asked: Turn | None
    label: int

    @property
    def marks(self) -> int:
        """How many answers there are."""
        return len(self.turns) + (self.task == "insertion")


def manipulate(
    task: Task, turns: Sequence[Turn], rng: np.random.Generator, *, window: int = 5, foreign: Turn | None = None
) -> Manipulated[Turn] | None:
    """Ask a question about some consecutive turns of a conversation, which itself is left as it is.

    The conversation includes its last reply: every run of `window` turns can be drawn. Deletion needs a `foreign` turn
    of another conversation. None if only one answer is possible, or there is nothing foreign to find.

    Example:
        >>> asked = manipulate("insertion", "abc", np.random.default_rng(0))
        >>> asked.turns, asked.asked, asked.label
        (('a', 'b'), 'c', 2)
    """
    if task not in get_args(Task):
        raise TurnloomError(f"there is no manipulation {task!r}", f"choose from {', '.join(get_args(Task))}")
    if len(turns) < FEWEST[task]:
        return None
    start = int(rng.integers(max(len(turns) - window, 0) + 1))
    run = tuple(turns[start : start + window])
    if task == "insertion":
        place = int(rng.integers(len(run)))
        return Manipulated(task, run[:place] + run[place + 1 :], run[place], place)
    if task == "deletion":
        if foreign is None:
            return None
        place = int(rng.integers(len(run) + 1))
        return Manipulated(task, (*run[:place], foreign, *run[place:]), None, place)
    *before, last = run
    order = rng.permutation(len(before)).tolist()
    return Manipulated(task, tuple(before[place] for place in order), last, order.index(len(before) - 1))


@dataclass(frozen=True)
class MarkedInput:
    """What a cross-encoder reads of a manipulated window: tokens, and where among them the marks are.

    Segments are 0 for the window and 1 for the turn that is asked about; `label` is the mark that is the answer.
    """

    ids: list[int]
    segments: list[int]
    marks: list[int]
    label: int


def fit_turns(turns: Sequence[Sequence[int]], room: int) -> list[list[int]]:
    """Turns shortened to so many tokens in all: the oldest lose their first tokens first, none more than to its share.

    No turn is left out, so marks and labels stay what they are.

    Example:
        >>> fit_turns([[1, 2, 3, 4], [5, 6, 7], [8]], 6)
        [[3, 4], [5, 6, 7], [8]]
    """
    share = room // max(len(turns), 1)
    over = sum(map(len, turns)) - room
    kept = []
    for turn in turns:
        cut = min(max(over, 0), max(len(turn) - share, 0))
        kept.append(list(turn[cut:]))
        over -= cut
    return kept


class Marker:
    """Writes manipulated windows as tokens, as in section "Utterance Manipulation Strategies" of the paper.

    `[CLS] [INS] u1 [EOT] [INS] u2 [EOT] … [INS] [SEP] u [EOT] [SEP]` for insertion; the others have no mark after the
    last turn, and deletion has no second part. The model's tokenizer must know the marks as tokens of their own.
    """

    def __init__(self, tokenizer: Any, limit: int) -> None:
        self._limit = limit
        self._first, self._separator = tokenizer.cls_token_id, tokenizer.sep_token_id
        self._end = tokenizer.convert_tokens_to_ids(END_OF_TURN)
        self._marks = {task: tokenizer.convert_tokens_to_ids(mark) for task, mark in MARKS.items()}
        unknown = {None, tokenizer.unk_token_id}
        if self._end in unknown or unknown & set(self._marks.values()):
            raise TurnloomError("the tokenizer does not know the marks of turns", "add END_OF_TURN and MARKS to it")

    def __call__(self, given: Manipulated[list[int]]) -> MarkedInput:
        """The input, its turns shortened until it fits."""
        spoken = [*given.turns, *([] if given.asked is None else [given.asked])]
        fixed = 2 + given.marks + len(spoken) + (given.asked is not None)
        if fixed > self._limit:
            raise TurnloomError(
                f"{self._limit} tokens have no room for the marks of {len(given.turns)} turns",
                "raise model.max_length, or lower stages.0.view.window",
            )
        fitted = fit_turns(spoken, self._limit - fixed)
        mark = self._marks[given.task]
        ids, places = [self._first], list[int]()
        for turn in fitted[: len(given.turns)]:
            places.append(len(ids))
            ids += [mark, *turn, self._end]
        if given.task == "insertion":
            places.append(len(ids))
            ids.append(mark)
        ids.append(self._separator)
        segments = [0] * len(ids)
        if given.asked is not None:
            ids += [*fitted[-1], self._end, self._separator]
            segments += [1] * (len(ids) - len(segments))
        return MarkedInput(ids, segments, places, given.label)
