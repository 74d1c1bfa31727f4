"""Consecutive utterances (DSE): a reply and the turns before it."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from turnloom.views.dialogue_view import Dialogues, DialogueView, Indices, Spans

ContextSizes = Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]


def pairs(dialogues: Dialogues, size: int, min_words: int, speaker_change_only: bool) -> tuple[Indices, Indices]:
    """Return where every complete context of `size` turns starts, and the reply that follows it."""
    reply = np.flatnonzero(dialogues.positions >= size)
    start = reply - size
    long = (dialogues.words(start, reply) > min_words) & (dialogues.words(reply, reply + 1) > min_words)
    if speaker_change_only:
        long &= dialogues.speaker_changes[reply]
    return start[long], reply[long]


def pairs_of_sizes(
    dialogues: Dialogues, sizes: ContextSizes, min_words: int, speaker_change_only: bool
) -> tuple[Indices, Indices, Indices]:
    """Return the pairs of every size, smallest first: context starts, replies, and the index of the size."""
    found = [pairs(dialogues, size, min_words, speaker_change_only) for size in sorted(set(sizes))]
    start, reply = (np.concatenate(side) for side in zip(*found, strict=True))
    return start, reply, np.repeat(np.arange(len(found)), [len(replies) for _, replies in found])


class Consecutive(DialogueView):
    """DSE: a reply and the one or few turns before it (Zhou et al. 2022, sections 3 and 4.4).

    The paper's variants are `turns: [1]` (DSE), `[2]` (2-1), `[3]` (3-1) and `[1, 2, 3]` (123-1). Only complete
    contexts count: a reply with two turns before it gives no row of size three.

    Attributes:
        turns: The context sizes; rows of all sizes are mixed.
        min_words: The reply and the whole context must each have more words than this.
        speaker_change_only: Only replies by a different speaker than the turn before; unknown speakers count as
            different.

    Example:
        >>> Consecutive(turns=[1, 2, 3]).min_words
        3
    """

    kind: Literal["consecutive"] = "consecutive"
    turns: ContextSizes = (1,)
    min_words: int = Field(3, ge=0)
    speaker_change_only: bool = False

    @property
    def context_turns(self) -> int | None:
        """The largest size."""
        return max(self.turns)

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:  # noqa: ARG002 - nothing is drawn
        """Find the rows of every size."""
        start, reply, _ = pairs_of_sizes(dialogues, self.turns, self.min_words, self.speaker_change_only)
        return Spans(start, reply, reply)

    def texts(self, turns: int, dialogues: int) -> int:  # noqa: ARG002
        """Count a context and a reply per turn and size."""
        return turns * sum(size + 1 for size in set(self.turns))


class Windows(DialogueView):
    """WMDC's positive pairs of several window sizes: for each reply, the last 1, 2, … turns (section 4.2.2).

    The rows are those of `Consecutive` with the same sizes, but each size is its own group (`window-1`, …): training
    draws one window size per batch, because each size has its own head. The paper does not fix the sizes.

    Attributes:
        sizes: The window sizes.
        min_words: The reply and the whole context must each have more words than this.
        speaker_change_only: Only replies by a different speaker than the turn before.

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
        """One group per window size."""
        return tuple(f"window-{size}" for size in sorted(set(self.sizes)))

    @property
    def context_turns(self) -> int | None:
        """The largest window."""
        return max(self.sizes)

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:  # noqa: ARG002 - nothing is drawn
        """Find the rows of every window size, each in its group."""
        start, reply, group = pairs_of_sizes(dialogues, self.sizes, self.min_words, self.speaker_change_only)
        return Spans(start, reply, reply, group)

    def texts(self, turns: int, dialogues: int) -> int:  # noqa: ARG002
        """Count texts as for the largest window."""
        return turns * (max(self.sizes) + 1)
