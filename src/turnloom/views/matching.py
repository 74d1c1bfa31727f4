"""A reply and the turns on both sides of it (DialogueCSE)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans
from turnloom.views.view import Reading, Rows


class Matching(DialogueView):
    """DialogueCSE: a reply and up to `turns` turns before and after it (Liu et al. 2021, section 3).

    A row's context is the run of turns around and including the reply. Its role is 0 for the first speaker of the
    dialogue and 1 for all others. Rows contain no negatives: they are shuffled, so the other replies of the same role
    in a batch are as random as drawn ones.

    Attributes:
        turns: How many turns on each side; fewer at the ends of a dialogue.
        min_words: The reply must have more words than this.

    Example:
        >>> Matching(turns=2).columns
        ('context', 'reply', 'role', 'frequency', 'source')
    """

    columns: ClassVar[tuple[str, ...]] = ("context", "reply", "role", "frequency", "source")
    counts_first_turns: ClassVar[bool] = True  # The first turn has turns after it.
    context_turns: ClassVar[int | None] = 1  # Each turn is encoded separately.

    kind: Literal["matching"] = "matching"
    turns: int = Field(3, ge=1)
    min_words: int = Field(3, ge=0)

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:  # noqa: ARG002 - nothing is drawn
        """Return a row for each turn that is long enough and not alone."""
        reply = np.arange(len(dialogues.texts))
        first = dialogues.firsts
        last = dialogues.offsets[1:][dialogues.owners] - 1
        kept = (dialogues.words(reply, reply + 1) > self.min_words) & (last > first)
        reply, first, last = reply[kept], first[kept], last[kept]
        start, stop = np.maximum(first, reply - self.turns), np.minimum(last, reply + self.turns) + 1
        codes = dialogues.speaker_codes
        return Spans(start, stop, reply, role=(codes[reply] != codes[first]).astype(np.int64))

    def _columns(self, reading: Reading, rows: Rows) -> Rows:  # noqa: ARG002 - each turn is read by itself
        """Return one column per turn, empty where there is none, then the reply, and its speaker's role."""
        most, contexts = 2 * self.turns, []
        for turns, reply in zip(rows["context"], rows["reply"], strict=True):
            others = list(turns)
            others.remove(reply)  # Turns are a set here, so it does not matter which of several equal ones is dropped.
            contexts.append(others + [""] * (most - len(others)))
        columns: Rows = {f"turn_{n}": [turns[n] for turns in contexts] for n in range(most)}
        return {**columns, "reply": list(rows["reply"]), "label": list(rows["role"])}

    def texts(self, turns: int, dialogues: int) -> int:  # noqa: ARG002
        """Count both sides, and the reply twice."""
        return turns * (2 * self.turns + 2)
