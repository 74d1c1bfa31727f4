"""Turns packed into rows of similar length, for masked-language training."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans


class Packed(DialogueView):
    """Consecutive turns of a dialogue, about `words` words per row; there is no reply.

    A new row starts at the first turn after every `words` words of its dialogue, so no turn is split, and a row exceeds
    `words` by less than its last turn.

    Attributes:
        words: The approximate number of words per row; three words are about four tokens.
    """

    columns: ClassVar[tuple[str, ...]] = ("context", "source")

    kind: Literal["packed"] = "packed"
    words: int = Field(180, ge=1)

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:  # noqa: ARG002 - nothing is drawn
        """Find the rows of every dialogue."""
        before = dialogues.running_words[:-1] - dialogues.running_words[dialogues.firsts]
        block = before // self.words
        begins = np.ones(len(block), bool)
        begins[1:] = (np.diff(block) != 0) | (np.diff(dialogues.owners) != 0)
        start = np.flatnonzero(begins)
        return Spans(start, np.append(start[1:], len(block)).astype(np.int64), None)
