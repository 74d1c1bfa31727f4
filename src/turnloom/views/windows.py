"""Windows (WMDC): contexts of several sizes for each reply, one group a size."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from turnloom.views.consecutive import ContextSizes, pairs
from turnloom.views.dialogue_view import Dialogues, DialogueView, Spans


class Windows(DialogueView):
    """WMDC's multiple window-sized positive pairs: for each reply the last 1, 2, … turns (section 4.2.2).

    The rows are those of `Consecutive` with the same sizes, but each size is a group of its own (`window-1`, …):
    training draws one window size a batch, since each has its own head. The paper leaves the set of sizes open.

    Attributes:
        sizes: The window sizes.
        min_words: Both sides, the reply and the whole context, have more words than this.
        speaker_change_only: Only replies whose speaker is another one than the turn before's.

    Example:
        >>> Windows(sizes=[1, 3]).groups
        ('window-1', 'window-3')
    """

    kind: Literal["windows"] = "windows"
    sizes: ContextSizes = (1, 2, 3)
    min_words: int = Field(3, ge=0)
    speaker_change_only: bool = False

    @property
    def groups(self) -> tuple[str, ...]:
        """One a window size."""
        return tuple(f"window-{size}" for size in sorted(set(self.sizes)))

    @property
    def context_turns(self) -> int | None:
        """The largest window."""
        return max(self.sizes)

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:  # noqa: ARG002 - nothing is drawn
        """The rows of every window size, each in its group."""
        found = [pairs(dialogues, size, self.min_words, self.speaker_change_only) for size in sorted(set(self.sizes))]
        start, reply = (np.concatenate(side) for side in zip(*found, strict=True))
        group = np.repeat(np.arange(len(found)), [len(replies) for _, replies in found])
        return Spans(start, reply, reply, group)

    def texts(self, turns: int, dialogues: int) -> int:  # noqa: ARG002
        """As the largest window has them."""
        return turns * (max(self.sizes) + 1)
