"""Utterance manipulation (UMS): change a conversation such that only knowing what comes next reveals where.

There are three tasks on a window of consecutive turns, each answered at marks between the turns. Insertion: where does
this turn belong? Deletion: which turn is from another conversation? Search: in shuffled turns, which one came just
before this one? They need no labels, and use true conversations only.
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
"""With fewer turns there is only one possible answer."""
Turn = TypeVar("Turn")


@dataclass(frozen=True)
class Manipulated(Generic[Turn]):
    """A window of a conversation, and a task on it.

    Attributes:
        turns: The input turns, each with a mark before it; insertion has one more mark after the last.
        asked: The turn in question, which the model reads last; None for deletion.
        label: The index of the correct mark, from 0.
    """

    task: Task
    turns: tuple[Turn, ...]
    asked: Turn | None
    label: int

    @property
    def marks(self) -> int:
        """The number of possible answers."""
        return len(self.turns) + (self.task == "insertion")


def manipulate(
    task: Task, turns: Sequence[Turn], rng: np.random.Generator, *, window: int = 5, foreign: Turn | None = None
) -> Manipulated[Turn] | None:
    """Create a task from some consecutive turns of a conversation, leaving the conversation unchanged.

    The conversation includes its last reply; any run of `window` turns can be drawn. Deletion needs a `foreign` turn of
    another conversation. Returns None if only one answer is possible, or if the foreign turn is missing.

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
    """The cross-encoder's input for a manipulated window: token ids, and the positions of the marks.

    Segments are 0 for the window and 1 for the turn in question; `label` is the index of the correct mark.
    """

    ids: list[int]
    segments: list[int]
    marks: list[int]
    label: int


def fit_turns(turns: Sequence[Sequence[int]], room: int) -> list[list[int]]:
    """Shorten turns to `room` tokens in total: oldest first, from their start, none below its fair share.

    No turn is dropped, so marks and labels stay valid.

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
    """Encodes manipulated windows as tokens, as in section "Utterance Manipulation Strategies" of the paper.

    `[CLS] [INS] u1 [EOT] [INS] u2 [EOT] … [INS] [SEP] u [EOT] [SEP]` for insertion; the other tasks have no mark after
    the last turn, and deletion has no second segment. The model's tokenizer must know the marks as single tokens.
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
        """Encode a window, shortening its turns until it fits."""
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
