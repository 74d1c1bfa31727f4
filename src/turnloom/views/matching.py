"""A reply and the turns on both sides of it (DialogueCSE)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans
from turnloom.views.view import Reading, Rows


class Matching(DialogueView):
    """DialogueCSE: a reply and up to `turns` turns before and after it (Liu et al. 2021, section 3).

    A row's context is the run of turns with the reply among them, and its role is 0 for who speaks first in the
    dialogue and 1 for all others. Negatives are not part of a row: rows lie in a random order, so the replies of the
    same role in a batch are as random as any that could be drawn.

    Attributes:
        turns: How many turns on each side; at the ends of a dialogue there are fewer.
        min_words: The reply has more words than this.

    Example:
        >>> Matching(turns=2).columns
        ('context', 'reply', 'role', 'frequency', 'source')
    """

    columns: ClassVar[tuple[str, ...]] = ("context", "reply", "role", "frequency", "source")
    counts_first_turns: ClassVar[bool] = True  # It has turns after it.
    context_turns: ClassVar[int | None] = 1  # Each turn is read by itself.

    kind: Literal["matching"] = "matching"
    turns: int = Field(3, ge=1)
    min_words: int = Field(3, ge=0)

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:  # noqa: ARG002 - nothing is drawn
        """A row for each turn that is long enough and not alone."""
        reply = np.arange(len(dialogues.texts))
        first = dialogues.firsts
        last = dialogues.offsets[1:][dialogues.owners] - 1
        kept = (dialogues.words(reply, reply + 1) > self.min_words) & (last > first)
        reply, first, last = reply[kept], first[kept], last[kept]
        start, stop = np.maximum(first, reply - self.turns), np.minimum(last, reply + self.turns) + 1
        codes = dialogues.speaker_codes
        return Spans(start, stop, reply, role=(codes[reply] != codes[first]).astype(np.int64))

    def _columns(self, reading: Reading, rows: Rows) -> Rows:  # noqa: ARG002 - each turn is read by itself
        """A column for each turn, empty where there is none, the reply, and the role of who speaks it."""
        most, contexts = 2 * self.turns, []
        for turns, reply in zip(rows["context"], rows["reply"], strict=True):
            others = list(turns)
            others.remove(reply)  # Turns are a set here: which of several equal ones goes does not matter.
            contexts.append(others + [""] * (most - len(others)))
        columns: Rows = {f"turn_{n}": [turns[n] for turns in contexts] for n in range(most)}
        return {**columns, "reply": list(rows["reply"]), "label": list(rows["role"])}

    def texts(self, turns: int, dialogues: int) -> int:  # noqa: ARG002
        """Both sides, and the reply twice."""
        return turns * (2 * self.turns + 2)
