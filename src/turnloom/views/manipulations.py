"""The view of UMS: replies after whole contexts, and the inputs that a cross-encoder learns from."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from turnloom.errors import TurnloomError
from turnloom.runtime.scorer import BM25
from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans, drawn_turns
from turnloom.views.utterance_tasks import MARKS, MarkedInput, Marker, Task, manipulate
from turnloom.views.view import Reading, Rows

Negative = Literal["random", "bm25", "self"]
POOL = 10_000
"""BM25 searches this many replies for hard negatives. Views are shuffled, so the first rows are a random sample."""
HARDEST = 10
"""Draw from this many best matches: the very best are often correct replies."""
TRIES = 20


class Manipulations(DialogueView):
    """UMS: a reply and the turns before it, for response selection and the three manipulation tasks.

    The random choices for a row (window, changed turn, negative) are made when training reads it, so that every epoch
    sees new ones; see `manipulate`.

    Attributes:
        min_turns: Skip replies with fewer turns before them.
        max_turns: The maximum number of turns to keep before the reply; None for all.
        per_dialogue: How many replies to sample per dialogue, or "all".
        speaker_change_only: Only replies by a different speaker than the turn before; unknown speakers count as
            different.
        window: How many consecutive turns to manipulate; 5 in the paper.
        questions: How many of the objective's tasks each row takes part in, drawn again each time, or "all". One task
            makes a step 1.5 times as expensive as response selection alone, all three 2.5 times.
        negatives: Types of wrong replies, one drawn per row: "random" for a reply of another conversation, "bm25" for
            one that shares words with this conversation, "self" for a turn of the context.
    """

    # The dialogue's number is kept because a row's own turns are not negatives.
    columns: ClassVar[tuple[str, ...]] = ("context", "reply", "dialogue", "source")

    kind: Literal["manipulations"] = "manipulations"
    min_turns: int = Field(2, ge=1)
    max_turns: int | None = Field(9, ge=1)
    per_dialogue: Annotated[int, Field(ge=1)] | Literal["all"] = "all"
    speaker_change_only: bool = True
    window: int = Field(5, ge=3)
    questions: Annotated[int, Field(ge=1)] | Literal["all"] = "all"
    negatives: tuple[Negative, ...] = Field(("random",), min_length=1)

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:
        """Return the replies, each with the turns before it."""
        reply = np.flatnonzero(dialogues.positions >= self.min_turns)
        if self.speaker_change_only:
            reply = reply[dialogues.speaker_changes[reply]]
        if self.per_dialogue != "all":
            reply = drawn_turns(reply, dialogues, self.per_dialogue, seed)
        return Spans(dialogues.context_starts(reply, self.max_turns), reply, reply)

    def texts(self, turns: int, dialogues: int) -> int:
        """Assume that a context is about as long as its dialogue before the reply."""
        each = min(self.max_turns or turns, turns // max(dialogues, 1)) + 1
        return each * (turns if self.per_dialogue == "all" else min(turns, dialogues * self.per_dialogue))

    def transform(self, rows: Any, reading: Reading) -> Callable[[Rows], Rows]:
        """Return the transform that adds wrong replies and an input for each weighted task."""
        tasks = [task for task in MARKS if getattr(reading.objective, task)]
        return ToReplyPairs(reading, view=self, tasks=tasks, rows=rows)


class ToReplyPairs:
    """Converts rows to columns as they are read: context, reply, wrong reply, and one input per task.

    The random choices depend only on the seed, the row and the other rows of its batch. A resumed run makes the same
    choices; another epoch makes new ones.
    """

    def __init__(self, reading: Reading, *, view: Manipulations, tasks: Sequence[Task], rows: Any) -> None:
        self._reading, self._view, self._tasks = reading, view, tuple(tasks)
        self._marker = Marker(reading.tokenizer, reading.limit)
        self._pool: list[str] = []
        if "bm25" in view.negatives:
            first = rows.select(range(min(POOL, len(rows))))
            self._pool = list(dict.fromkeys(first["reply"]))
            self._bm25 = BM25(self._pool)

    def __call__(self, rows: Rows) -> Rows:
        """Return the columns of some rows."""
        negatives = self._negatives(rows)
        columns: Rows = {"context": [], "reply": [], "negative": []}
        for turns, *both in zip(rows["context"], rows["reply"], negatives, strict=True):
            reading = self._reading
            separator = reading.tokenizer.sep_token
            text, ends = reading.context.pair(turns, both, reading.length, reading.limit, separator)
            for name, value in zip(columns, (text, *ends), strict=True):
                columns[name].append(value)
        return {**columns, **self._asked(rows)}

    def _generators(self, rows: Rows, purpose: str) -> list[np.random.Generator]:
        """Create one generator per row and purpose, so that skipping one purpose does not affect the others."""
        keys = [[key, zlib.crc32(reply.encode())] for key, reply in zip(rows["dialogue"], rows["reply"], strict=True)]
        salt = zlib.crc32(purpose.encode())
        return [
            np.random.default_rng([self._reading.seed % 2**63, salt, *own, *beside])
            for own, beside in zip(keys, [*keys[1:], *keys[:1]], strict=True)
        ]

    def _asked(self, rows: Rows) -> dict[str, list[MarkedInput | None]]:
        """Create an input per row and task, each from the original turns."""
        if not self._tasks:
            return {}
        talks = [[*turns, reply] for turns, reply in zip(rows["context"], rows["reply"], strict=True)]
        texts = list(dict.fromkeys(text for talk in talks for text in talk))
        known = dict(zip(texts, self._reading.tokenizer(texts, add_special_tokens=False)["input_ids"], strict=True))
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
        """Draw the tasks of each row."""
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
            # Some contexts repeat one turn, and some words are too rare: then there is no turn to plant or no reply to
            # find.
            negative = kinds[wanted](rows, place, rng) or _random_reply(rows, place, rng)
            if negative is None:
                raise TurnloomError(
                    "a batch has replies of one conversation only",
                    "use more conversations, or --set stages.0.batch_size to more",
                )
            found.append(negative)
        return found

    def _hard_reply(self, rows: Rows, place: int, rng: np.random.Generator) -> str | None:
        """Return a reply that shares words with the context, but occurs neither in it nor after it."""
        turns, reply = rows["context"][place], rows["reply"][place]
        scores = self._bm25.scores([" ".join(turns)])[0]
        best = np.argsort(-scores, kind="stable")[: HARDEST + len(turns) + 1]
        others = [self._pool[n] for n in best if scores[n] > 0 and self._pool[n] not in (*turns, reply)][:HARDEST]
        return others[int(rng.integers(len(others)))] if others else None


def _random_reply(rows: Rows, place: int, rng: np.random.Generator) -> str | None:
    """Return the reply of a row from another conversation."""
    own, truth = rows["dialogue"][place], rows["reply"][place]
    order = rng.permutation(len(rows["reply"])).tolist()
    others = (rows["reply"][other] for other in order if rows["dialogue"][other] != own)
    return next((reply for reply in others if reply != truth), None)


def _own_turn(rows: Rows, place: int, rng: np.random.Generator) -> str | None:
    """Return a turn of the context."""
    others = [text for text in rows["context"][place] if text != rows["reply"][place]]
    return others[int(rng.integers(len(others)))] if others else None


def _foreign(dialogues: list[int], talks: list[list[str]], place: int, rng: np.random.Generator) -> str | None:
    """Return a turn of another conversation that does not occur in this one; any turn, not only replies."""
    others = [other for other, dialogue in enumerate(dialogues) if dialogue != dialogues[place]]
    for _ in range(TRIES if others else 0):
        talk = talks[others[int(rng.integers(len(others)))]]
        text = talk[int(rng.integers(len(talk)))]
        if text not in talks[place]:
            return text
    return None
