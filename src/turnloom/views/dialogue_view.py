"""Views over dialogue tables: a context is a run of consecutive turns, a reply is one turn.

A view only returns indices into a batch's flat array of turns; no text is read until all rows of the batch are known.
So a view is a few lines of arithmetic over offsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.cleaning.duplicates import response_frequencies, response_keys
from turnloom.corpus.cleaning.normalise import word_counts
from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.table import read_manifest
from turnloom.corpus.turn_arrays import buckets_of, dialogue_hashes, hash_strings, split_turns
from turnloom.views.shuffle import Keys, copies, seeded
from turnloom.views.view import View, Workspace, exploded, grouped, source_weights, with_frequencies

Indices = npt.NDArray[np.int64]


class Dialogues:
    """A batch of dialogues as flat arrays: where each dialogue starts, and each turn's text, speaker, intent and acts.

    `keys` are hashes of each dialogue's id, source and texts: the same in every run and every partition.
    """

    def __init__(self, ids: pa.Array, sources: pa.Array, turns: pa.Array) -> None:
        self.offsets, flat = split_turns(turns)
        self.texts = flat.field("text").cast(pa.large_string())
        self.speakers = flat.field("speaker").cast(pa.large_string()).fill_null("")
        self._intents, self._acts = flat.field("intent"), flat.field("acts")
        texts = pa.LargeListArray.from_arrays(pa.array(self.offsets), self.texts)
        self.keys: Keys = dialogue_hashes([ids, sources, texts])

    @cached_property
    def intents(self) -> pa.Array:
        """The intent of each turn, null without one."""
        return self._intents.cast(pa.large_string())

    @cached_property
    def acts(self) -> pa.Array:
        """The acts of each turn, a list of strings; null or empty without any."""
        return self._acts.cast(pa.list_(pa.string()))

    @cached_property
    def owners(self) -> Indices:
        """The index of each turn's dialogue."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def firsts(self) -> Indices:
        """For each turn, the first turn of its dialogue."""
        return self.offsets[:-1][self.owners]

    @cached_property
    def positions(self) -> Indices:
        """For each turn, the number of turns before it in its dialogue."""
        return np.arange(len(self.texts)) - self.firsts

    @cached_property
    def running_words(self) -> Indices:
        """The number of words before each turn of the batch, and in total."""
        return np.concatenate([[0], np.cumsum(word_counts(self.texts))]).astype(np.int64)

    def words(self, start: Indices, stop: Indices) -> Indices:
        """Return the number of words in each run of turns."""
        return self.running_words[stop] - self.running_words[start]

    @cached_property
    def speaker_codes(self) -> Indices:
        """One number per distinct speaker, -1 for an unknown one."""
        known = pc.replace_with_mask(
            self.speakers, pc.equal(self.speakers, ""), pa.scalar(None, self.speakers.type)
        ).dictionary_encode()
        return np.asarray(known.indices.fill_null(-1), np.int64)

    @cached_property
    def speaker_changes(self) -> npt.NDArray[np.bool_]:
        """Whether the speaker differs from the turn before; unknown speakers count as different."""
        codes = self.speaker_codes
        changed: npt.NDArray[np.bool_] = (codes != np.roll(codes, 1)) | (codes < 0)
        return changed

    def context_starts(self, replies: Indices, most: int | None) -> Indices:
        """Return where each reply's context starts: its dialogue's first turn, or at most `most` turns back."""
        firsts = self.firsts[replies]
        return firsts if most is None else np.maximum(firsts, replies - most)


@dataclass(slots=True)
class Spans:
    """The rows that a view finds in a batch.

    Attributes:
        start: The first turn of each row's context.
        stop: The turn after the last one of the context.
        reply: The turn that is the reply; None for a view without replies.
        group: The index of the row's group; None if there is only one group.
        contexts: The texts for contexts, if they differ from the turns' own.
        role: The role of the reply's speaker; None for a view without roles.
    """

    start: Indices
    stop: Indices
    reply: Indices | None
    group: Indices | None = None
    contexts: pa.Array | None = None
    role: Indices | None = None


def drawn_turns(turns: Indices, dialogues: Dialogues, count: int, seed: int) -> Indices:
    """Sample at most `count` of these turns per dialogue: those with the smallest seeded hashes."""
    owners = dialogues.owners[turns]
    lots = seeded(dialogues.keys[owners], seed, "turn", dialogues.positions[turns])
    order = np.lexsort((lots, owners))
    firsts = np.searchsorted(owners, owners)  # Turns are in order, and so are their dialogues.
    rank = np.arange(len(order)) - firsts
    return np.sort(turns[order[rank < count]])


DIALOGUES_AT_A_TIME = 8_192
"""Dialogues per batch: their contexts can take many times their size."""


class DialogueView(View):
    """A view over a dialogue table."""

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:
        """Find the rows of a batch of dialogues."""
        raise NotImplementedError

    @property
    def context_turns(self) -> int | None:
        """Any number, by default."""
        return None

    @property
    def counts_first_turns(self) -> bool:
        """Whether a first turn can be a reply and so counts for frequencies."""
        return False

    def texts(self, turns: int, dialogues: int) -> int:  # noqa: ARG002 - for views with long contexts
        """Estimate how many texts the rows of one group hold, to plan memory."""
        return 2 * turns

    def make_rows(self, workspace: Workspace) -> Any:
        """Fill the rows of all dialogues with texts, and with frequencies if the view uses them."""
        table = workspace.table()
        sizes = [read_manifest(path) for path in workspace.inputs]
        texts = self.texts(sum(size.turns for size in sizes), sum(size.dialogues for size in sizes))
        workspace.choose_buckets(texts, len(self.groups))
        seed, weights, buckets = workspace.seed, workspace.weights, workspace.buckets
        rows = dialogue_rows(table, self, seed=seed, weights=weights, buckets=buckets)
        if "frequency" not in self.columns:
            return rows
        return with_frequencies(rows, response_frequencies(table, first_turns=self.counts_first_turns))


def _row_keys(view: DialogueView, dialogues: Dialogues, spans: Spans) -> Keys:
    """Identify rows by their dialogue and position, not by their content.

    Otherwise, equal rows of different dialogues would be adjacent in the shuffled order and become each other's
    negatives in a batch.
    """
    if view.one_per_text:
        return hash_strings(dialogues.texts.take(pa.array(spans.reply)))
    keys = dialogues.keys[dialogues.owners[spans.start]]
    keys = seeded(keys, 0, "start", dialogues.positions[spans.start])
    keys = seeded(keys, 0, "size", spans.stop - spans.start)
    if spans.role is None or spans.reply is None:
        return keys
    # If the reply is inside its context, several replies can share that context.
    return seeded(keys, 0, "reply", spans.reply - spans.start)


def turn_runs(texts: pa.Array, start: Indices, stop: Indices) -> pa.Array:
    """Return the texts of each run of turns as a list."""
    sizes = stop - start
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    turns = np.arange(offsets[-1]) + np.repeat(start - offsets[:-1], sizes)
    return pa.LargeListArray.from_arrays(pa.array(offsets), texts.take(pa.array(turns)))


def _fields(view: DialogueView) -> dict[str, Any]:
    kinds = daft().DataType
    fields = {"context": kinds.list(kinds.string())}
    if "reply" in view.columns:
        fields |= {"reply": kinds.string(), "response": kinds.uint64()}
    if "role" in view.columns:
        fields["role"] = kinds.int64()
    if "dialogue" in view.columns:
        fields["dialogue"] = kinds.uint64()
    return {**fields, "order": kinds.uint64(), "bucket": kinds.int32()}


def _filled(view: DialogueView, dialogues: Dialogues, spans: Spans, taken: Indices) -> list[pa.Array]:
    """Return the text columns and metadata of the selected rows."""
    texts = dialogues.texts if spans.contexts is None else spans.contexts
    columns = [turn_runs(texts, spans.start[taken], spans.stop[taken])]
    if spans.reply is not None:
        replies = dialogues.texts.take(pa.array(spans.reply[taken]))
        columns += [replies, pa.array(response_keys(replies))]
    if spans.role is not None:
        columns.append(pa.array(spans.role[taken]))
    if "dialogue" in view.columns:
        columns.append(pa.array(dialogues.keys[dialogues.owners[spans.start[taken]]]))
    return columns


def dialogue_rows(table: Any, view: DialogueView, *, seed: int, weights: dict[str, float], buckets: int) -> Any:
    """Return the rows of a view as a lazy Daft DataFrame, with `order` and `bucket` for shuffling.

    The bucket is the group's index times `buckets`, plus the range of `order`.
    """
    engine = daft()
    col, kinds = engine.col, engine.DataType
    fields = _fields(view)

    @batch_function(kinds.list(kinds.struct(fields)), batch_size=DIALOGUES_AT_A_TIME)
    def rows(ids: pa.Array, sources: pa.Array, turns: pa.Array) -> pa.Array:
        dialogues = Dialogues(ids, sources, turns)
        spans = view.spans(dialogues, seed)
        owners = dialogues.owners[spans.start]
        taken, order = copies(_row_keys(view, dialogues, spans), source_weights(sources, weights)[owners], seed)
        sorting = np.argsort(owners[taken], kind="stable")
        taken, order = taken[sorting], order[sorting]
        bucket = buckets_of(order, buckets)
        if spans.group is not None:
            bucket += (spans.group[taken] * buckets).astype(np.int32)
        columns = [*_filled(view, dialogues, spans, taken), pa.array(order), pa.array(bucket)]
        return grouped(columns, fields, owners[taken], len(dialogues.keys))

    listed = table.select(col("source"), rows(col("dialogue_id"), col("source"), col("turns")).alias("row"))
    return exploded(listed, "row", fields)
