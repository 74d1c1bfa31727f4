"""From rows of the view `manipulations` to what a cross-encoder reads: true and wrong replies, manipulated windows."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.runtime.bm25 import BM25
from turnloom.runtime.context_format import ContextFormat
from turnloom.views.manipulations import MARKS, Manipulations, MarkedInput, Marker, Negative, Task, manipulate

__all__ = ["ToReplyPairs"]

POOL = 10_000
"""Replies among which BM25 looks for hard negatives: a view lies in a shuffled order, its first rows are a sample."""
HARDEST = 10
"""One of so many best matches is taken: the very best are often right."""
TRIES = 20

Rows = dict[str, list[Any]]


class ToReplyPairs:
    """Turns rows into columns as they are read: context, reply, a wrong reply, and an input for each task.

    What is drawn for a row depends on the seed, the row and the rows that stand beside it in the batch, and on nothing
    else: a resumed run draws the same, another pass over the data draws anew.

    Args:
        context: How contexts become text.
        tokenizer: The model's, which knows the marks.
        limit: Tokens that the model reads.
        view: The window, and which kinds of wrong replies.
        tasks: Which questions are asked.
        seed: For everything that is drawn.
        rows: The whole view, for hard negatives.
    """

    def __init__(
        self,
        context: ContextFormat,
        tokenizer: Any,
        limit: int,
        *,
        view: Manipulations,
        tasks: Sequence[Task],
        seed: int,
        rows: Any,
    ) -> None:
        self._context, self._tokenizer, self._limit = context, tokenizer, limit
        self._view, self._tasks, self._seed = view, tuple(tasks), seed
        self._marker = Marker(tokenizer, limit)
        self._pool: list[str] = []
        if "bm25" in view.negatives:
            first = rows.select(range(min(POOL, len(rows))))
            self._pool = list(dict.fromkeys(first["reply"]))
            self._bm25 = BM25(self._pool)

    def __call__(self, rows: Rows) -> Rows:
        """The columns of some rows."""
        negatives = self._negatives(rows)
        columns: Rows = {"context": [], "reply": [], "negative": []}
        for turns, *both in zip(rows["context"], rows["reply"], negatives, strict=True):
            text, ends = self._context.pair(turns, both, self._length, self._limit, self._tokenizer.sep_token)
            for name, value in zip(columns, (text, *ends), strict=True):
                columns[name].append(value)
        return {**columns, **self._asked(rows)}

    def _length(self, text: str) -> int:
        return len(self._tokenizer.tokenize(text))

    def _generators(self, rows: Rows, purpose: str) -> list[np.random.Generator]:
        """One for each row; each purpose has its own, so that leaving one out changes no other."""
        keys = [[key, zlib.crc32(reply.encode())] for key, reply in zip(rows["dialogue"], rows["reply"], strict=True)]
        salt = zlib.crc32(purpose.encode())
        return [
            np.random.default_rng([self._seed % 2**63, salt, *own, *beside])
            for own, beside in zip(keys, [*keys[1:], *keys[:1]], strict=True)
        ]

    def _asked(self, rows: Rows) -> dict[str, list[MarkedInput | None]]:
        """An input for each row and task, each made from the turns as they are."""
        if not self._tasks:
            return {}
        talks = [[*turns, reply] for turns, reply in zip(rows["context"], rows["reply"], strict=True)]
        texts = list(dict.fromkeys(text for talk in talks for text in talk))
        known = dict(zip(texts, self._tokenizer(texts, add_special_tokens=False)["input_ids"], strict=True))
        drawn = self._drawn_tasks(rows)
        columns: dict[str, list[MarkedInput | None]] = {}
        for task in (task for task in MARKS if task in self._tasks):
            columns[task] = []
            for place, rng in enumerate(self._generators(rows, task)):
                if task not in drawn[place]:
                    columns[task].append(None)
                    continue
                foreign = _foreign(rows["dialogue"], talks, place, rng) if task == "deletion" else None
                given = manipulate(
                    task,
                    [known[text] for text in talks[place]],
                    rng,
                    window=self._view.window,
                    foreign=None if foreign is None else known[foreign],
                )
                columns[task].append(None if given is None else self._marker(given))
        return columns

    def _drawn_tasks(self, rows: Rows) -> list[set[Task]]:
        """Which questions each row is asked."""
        wanted = self._view.questions
        if wanted == "all" or wanted >= len(self._tasks):
            return [set(self._tasks)] * len(rows["reply"])
        return [
            {self._tasks[place] for place in rng.permutation(len(self._tasks))[:wanted]}
            for rng in self._generators(rows, "questions")
        ]

    def _negatives(self, rows: Rows) -> list[str]:
        kinds: dict[Negative, Callable[[Rows, int, np.random.Generator], str | None]] = {
            "random": _random_reply,
            "self": _own_turn,
            "bm25": self._hard_reply,
        }
        found = []
        for place, rng in enumerate(self._generators(rows, "negative")):
            wanted = self._view.negatives[int(rng.integers(len(self._view.negatives)))]
            # A context that says one thing over and over has no turn to plant, a rare one no reply that shares words.
            negative = kinds[wanted](rows, place, rng) or _random_reply(rows, place, rng)
            if negative is None:
                raise TurnloomError(
                    "a batch has replies of one conversation only",
                    "use more conversations, or --set stages.0.batch_size to more",
                )
            found.append(negative)
        return found

    def _hard_reply(self, rows: Rows, place: int, rng: np.random.Generator) -> str | None:
        """A reply that shares words with the context, but was said neither in it nor after it."""
        turns, reply = rows["context"][place], rows["reply"][place]
        scores = self._bm25.scores([" ".join(turns)])[0]
        best = np.argsort(-scores, kind="stable")[: HARDEST + len(turns) + 1]
        others = [self._pool[n] for n in best if scores[n] > 0 and self._pool[n] not in (*turns, reply)][:HARDEST]
        return others[int(rng.integers(len(others)))] if others else None


def _random_reply(rows: Rows, place: int, rng: np.random.Generator) -> str | None:
    """The reply of another row that is of another conversation."""
    own, truth = rows["dialogue"][place], rows["reply"][place]
    order = rng.permutation(len(rows["reply"])).tolist()
    others = (rows["reply"][other] for other in order if rows["dialogue"][other] != own)
    return next((reply for reply in others if reply != truth), None)


def _own_turn(rows: Rows, place: int, rng: np.random.Generator) -> str | None:
    """A turn of the context."""
    others = [text for text in rows["context"][place] if text != rows["reply"][place]]
    return others[int(rng.integers(len(others)))] if others else None


def _foreign(dialogues: list[int], talks: list[list[str]], place: int, rng: np.random.Generator) -> str | None:
    """A turn of another conversation that is said nowhere in this one: any turn, not only a reply."""
    others = [other for other, dialogue in enumerate(dialogues) if dialogue != dialogues[place]]
    for _ in range(TRIES if others else 0):
        talk = talks[others[int(rng.integers(len(others)))]]
        text = talk[int(rng.integers(len(talk)))]
        if text not in talks[place]:
            return text
    return None
