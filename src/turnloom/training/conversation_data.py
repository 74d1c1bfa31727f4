"""Draw batches of conversations from vector tables: segments of dialogues from one source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from turnloom.errors import TurnloomError
from turnloom.objectives.gathering import share_of
from turnloom.training.vector_recipe import ConversationData
from turnloom.vectors.table import Rows, VectorTable


@dataclass(frozen=True)
class ConversationBatch:
    """Segments of dialogues, padded to the longest, and the replies in them.

    Attributes:
        vectors: The turns' vectors, of shape (dialogues, turns, width).
        speakers: A number for each turn's speaker, -1 for padding.
        dialogue: For each reply, the row of its dialogue among all dialogues of the step.
        last: For each reply, the turn before it.
        texts: For each turn, a number that identifies its text.
        frequency: How often each reply's text occurs in all tables.
        first: The row of this process's first dialogue among all dialogues of the step.
    """

    vectors: Tensor
    speakers: Tensor
    dialogue: Tensor
    last: Tensor
    texts: Tensor
    frequency: Tensor
    first: int

    @property
    def text(self) -> Tensor:
        """For each reply, a number that identifies its text."""
        return self.texts[self.dialogue - self.first, self.last + 1]

    @property
    def replies(self) -> Tensor:
        """Return the replies' own vectors."""
        return self.vectors[self.dialogue - self.first, self.last + 1]


class ConversationSampler:
    """Draw the batch of a step, which depends on the seed and the step alone.

    Args:
        tables: Vector tables of one encoder.
        options: How to draw and cut dialogues.
        seed: The seed of all draws.

    Raises:
        TurnloomError: If the tables are of several encoders, or no dialogue has two turns.
    """

    def __init__(self, tables: Sequence[VectorTable], options: ConversationData, seed: int) -> None:
        self.tables = tables
        first = tables[0].manifest
        for table in tables[1:]:
            if table.manifest.fingerprint != first.fingerprint:
                raise TurnloomError(
                    f"{table.folder} holds vectors of {table.manifest.model}, "
                    f"{tables[0].folder} those of {first.model}",
                    "make both with the same model",
                )
        self.fingerprint, self.width = first.fingerprint, first.width
        self._options, self._seed = options, seed
        # Rows are numbered across all tables; as a consequence, copies of a text in two tables count as two texts.
        starts = np.cumsum([0, *(len(table) for table in self.tables)])
        self._starts = starts
        self._rows = np.concatenate(
            [table.conversations.rows + start for table, start in zip(self.tables, starts, strict=False)]
        )
        self._speakers = np.concatenate([table.conversations.speakers for table in self.tables])
        self._frequency = np.maximum(np.bincount(self._rows, minlength=int(starts[-1])), 1)
        self._sources = self._by_source()
        turns = {name: int(lengths.sum()) for name, (_, lengths) in self._sources.items()}
        if not turns:
            raise TurnloomError("no dialogue in these tables has two turns", "give vectors of conversations")
        self.turns = turns
        shares = np.array([count**options.source_power for count in turns.values()])
        self._shares = shares / shares.sum()

    def _by_source(self) -> dict[str, tuple[Rows, Rows]]:
        """Return where each source's dialogues start and how long they are, without dialogues of one turn."""
        found: dict[str, list[tuple[Rows, Rows]]] = {}
        before = 0
        for table in self.tables:
            conversations = table.conversations
            begins, lengths = conversations.offsets[:-1] + before, np.diff(conversations.offsets)
            for number, name in enumerate(conversations.names):
                chosen = np.flatnonzero((conversations.sources == number) & (lengths > 1))
                if len(chosen):
                    found.setdefault(name, []).append((begins[chosen], lengths[chosen]))
            before += len(conversations.rows)
        return {
            name: (np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]))
            for name, parts in found.items()
        }

    def batch(self, step: int, process: int = 0, processes: int = 1) -> ConversationBatch:
        """Return one process's share of a step's batch."""
        draw = np.random.default_rng([self._seed, step])
        begins, lengths = self._sources[list(self._sources)[draw.choice(len(self._shares), p=self._shares)]]
        # Short dialogues have few replies: without more of them, a reply would be compared with few others.
        enough = math.ceil(self._options.contexts / max(float(lengths.mean()) - 1, 1))
        count = min(max(self._options.dialogues, enough), len(begins))
        chosen = draw.choice(len(begins), count, replace=False)
        parts = [self._cut(int(begins[index]), int(lengths[index]), draw) for index in chosen]
        own = share_of(count, process, processes)
        return self._padded(parts[own], own.start)

    def _cut(self, begin: int, length: int, draw: np.random.Generator) -> slice:
        """Return a segment of a dialogue: half of the time the whole, if it is short enough; otherwise a random one."""
        most = self._options.max_turns
        if length > most or draw.random() < 0.5:
            wanted = int(draw.integers(2, most + 1)) if draw.random() < self._options.short else most
            taken = min(length, wanted)
            begin, length = begin + int(draw.integers(0, length - taken + 1)), taken
        return slice(begin, begin + length)

    def _padded(self, parts: list[slice], first: int) -> ConversationBatch:
        longest = max((part.stop - part.start for part in parts), default=1)
        rows = np.zeros((len(parts), longest), np.int64)
        speakers = np.full((len(parts), longest), -1, np.int64)
        for index, part in enumerate(parts):
            rows[index, : part.stop - part.start] = self._rows[part]
            speakers[index, : part.stop - part.start] = self._speakers[part]
        # A reply is a turn by a new speaker; another turn by the same speaker is not.
        dialogue, last = np.nonzero((speakers[:, 1:] >= 0) & (speakers[:, 1:] != speakers[:, :-1]))
        text = rows[dialogue, last + 1]
        return ConversationBatch(
            vectors=self._vectors(rows),
            speakers=torch.from_numpy(speakers),
            dialogue=torch.from_numpy(dialogue + first),
            last=torch.from_numpy(last),
            texts=torch.from_numpy(rows),
            frequency=torch.from_numpy(self._frequency[text]),
            first=first,
        )

    def _vectors(self, rows: Rows) -> Tensor:
        vectors = np.empty((*rows.shape, self.width), np.float32)
        for table, start, end in zip(self.tables, self._starts, self._starts[1:], strict=False):
            here = (rows >= start) & (rows < end)
            vectors[here] = table.read(rows[here] - start)
        return torch.from_numpy(vectors)
