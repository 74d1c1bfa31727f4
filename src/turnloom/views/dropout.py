"""An utterance paired with itself (SimCSE, DSE-dropout): dropout makes the two sides differ."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans


class Dropout(DialogueView):
    """Unsupervised SimCSE and DSE-dropout: context and reply are the same text (Zhou et al. 2022, section 4.1).

    Attributes:
        min_words: Utterances must have more words than this.
        distinct: Whether to take each text once, as in the paper, instead of as often as it occurs.
    """

    context_turns: ClassVar[int | None] = 1
    counts_first_turns: ClassVar[bool] = True

    kind: Literal["dropout"] = "dropout"
    min_words: int = Field(3, ge=0)
    distinct: bool = True

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:  # noqa: ARG002 - nothing is drawn
        """Return a row for each turn that is long enough."""
        turns = np.arange(len(dialogues.texts))
        kept = turns[dialogues.words(turns, turns + 1) > self.min_words]
        return Spans(kept, kept + 1, kept)

    @property
    def one_per_text(self) -> bool:
        """Follows `distinct`."""
        return self.distinct
