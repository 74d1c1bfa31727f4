"""What views over dialogues have in common: a context is a run of consecutive turns, a reply is one turn.

A view only says which runs and which turns, as indices into a batch's flat array of turns; texts are not touched until
all rows of the batch are known. That keeps a view a few lines of arithmetic over offsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.cleaning.normalise import word_counts
from turnloom.corpus.hashing import dialogue_hashes
from turnloom.corpus.turn_arrays import split_turns
from turnloom.views.shuffle import seeded

__all__ = ["Dialogues", "Indices", "Spans", "drawn_turns"]

Indices = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


class Dialogues:
    """A batch of dialogues as flat arrays.

    Attributes:
        offsets: Where each dialogue's turns begin, and where the last one's end.
        texts: The text of each turn.
        speakers: The speaker of each turn; empty where unknown.
        keys: A hash of each dialogue's id, source and texts: the same in every run and every partition.
    """

    def __init__(self, ids: pa.Array, sources: pa.Array, turns: pa.Array) -> None:
        self.offsets, flat = split_turns(turns)
        self.texts = flat.field("text").cast(pa.large_string())
        self.speakers = flat.field("speaker").cast(pa.large_string()).fill_null("")
        texts = pa.LargeListArray.from_arrays(pa.array(self.offsets), self.texts)
        self.keys: Keys = dialogue_hashes([ids, sources, texts])

    @cached_property
    def owners(self) -> Indices:
        """The number of the dialogue that each turn belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def firsts(self) -> Indices:
        """For each turn, the first turn of its dialogue."""
        return self.offsets[:-1][self.owners]

    @cached_property
    def positions(self) -> Indices:
        """For each turn, how many turns its dialogue has before it."""
        return np.arange(len(self.texts)) - self.firsts

    @cached_property
    def running_words(self) -> Indices:
        """The number of words before each turn of the batch, and after the last one."""
        return np.concatenate([[0], np.cumsum(word_counts(self.texts))]).astype(np.int64)

    def words(self, start: Indices, stop: Indices) -> Indices:
        """The number of words in each run of turns."""
        return self.running_words[stop] - self.running_words[start]

    @cached_property
    def speaker_codes(self) -> Indices:
        """The same number for the same speaker, -1 for an unknown one."""
        known = pc.replace_with_mask(
            self.speakers, pc.equal(self.speakers, ""), pa.scalar(None, self.speakers.type)
        ).dictionary_encode()
        return np.asarray(known.indices.fill_null(-1), np.int64)

    @cached_property
    def speaker_changes(self) -> npt.NDArray[np.bool_]:
        """Whether another one speaks than in the turn before; unknown speakers count as others."""
        codes = self.speaker_codes
        changed: npt.NDArray[np.bool_] = (codes != np.roll(codes, 1)) | (codes < 0)
        return changed

    def context_starts(self, replies: Indices, most: int | None) -> Indices:
        """The first turn of each reply's context: that of its dialogue, or `most` turns before the reply."""
        firsts = self.firsts[replies]
        return firsts if most is None else np.maximum(firsts, replies - most)


@dataclass(slots=True)
class Spans:
    """The rows that a view finds in a batch.

    Attributes:
        start: The first turn of each row's context.
        stop: The turn after the last one of the context.
        reply: The turn that is the reply; None for a view without replies.
        group: The number of the row's group; None when there is one group only.
        contexts: The texts that contexts are made of, where they are not the turns' own.
        role: A number for who speaks the reply; None for a view without roles.
    """

    start: Indices
    stop: Indices
    reply: Indices | None
    group: Indices | None = None
    contexts: pa.Array | None = None
    role: Indices | None = None


def drawn_turns(turns: Indices, dialogues: Dialogues, count: int, seed: int) -> Indices:
    """At most `count` of these turns from each dialogue: those whose seeded hash is smallest."""
    owners = dialogues.owners[turns]
    lots = seeded(dialogues.keys[owners], seed, "turn", dialogues.positions[turns])
    order = np.lexsort((lots, owners))
    firsts = np.searchsorted(owners, owners)  # Turns stand in order, and so do their dialogues.
    rank = np.arange(len(order)) - firsts
    return np.sort(turns[order[rank < count]])
