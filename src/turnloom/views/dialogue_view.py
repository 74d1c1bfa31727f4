"""Views over dialogue tables: their spans filled with texts, weighted and given their place in the shuffled order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from turnloom.corpus.cleaning.frequencies import response_frequencies, response_keys
from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.hashing import hash_strings
from turnloom.corpus.table import read_manifest
from turnloom.views.shuffle import Keys, buckets_of, copies, seeded
from turnloom.views.spans import Dialogues, Indices, Spans
from turnloom.views.view import View
from turnloom.views.workspace import Workspace, exploded, grouped, source_weights, with_frequencies

__all__ = ["DialogueView", "dialogue_rows", "turn_runs"]

DIALOGUES_AT_A_TIME = 8_192
"""A dialogue can give many times its size in contexts."""


class DialogueView(View):
    """A view over a dialogue table."""

    def spans(self, dialogues: Dialogues, seed: int) -> Spans:
        """The rows of a batch of dialogues."""
        raise NotImplementedError

    @property
    def context_turns(self) -> int | None:
        """Any number, unless a view says otherwise."""
        return None

    @property
    def counts_first_turns(self) -> bool:
        """Whether a first turn can be a reply, and so counts for frequencies."""
        return False

    def texts(self, turns: int, dialogues: int) -> int:  # noqa: ARG002 - for views with long contexts
        """About how many texts the rows of one group hold; memory is planned by it."""
        return 2 * turns

    def make_rows(self, workspace: Workspace) -> Any:
        """The spans of all dialogues, filled with texts, and with frequencies where the view has them."""
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
    """What a row is told apart by: its dialogue and its place there, not its content.

    Equal rows of different dialogues would otherwise stand side by side in the shuffled order, and so become each
    other's negatives in a batch.
    """
    if view.one_per_text:
        return hash_strings(dialogues.texts.take(pa.array(spans.reply)))
    keys = dialogues.keys[dialogues.owners[spans.start]]
    keys = seeded(keys, 0, "start", dialogues.positions[spans.start])
    keys = seeded(keys, 0, "size", spans.stop - spans.start)
    if spans.role is None or spans.reply is None:
        return keys
    # Where the reply stands among its context, several replies can share one.
    return seeded(keys, 0, "reply", spans.reply - spans.start)


def turn_runs(texts: pa.Array, start: Indices, stop: Indices) -> pa.Array:
    """The texts of each run of turns as a list."""
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
    """The columns of text of the rows that are taken, and what is known of them."""
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
    """The rows of a view as a lazy Daft DataFrame.

    Returns:
        `source`, `context`, `reply` and its key `response` if the view has replies, `order` (the place in the shuffled
        order) and `bucket` (the group's number times `buckets`, plus the range that `order` falls into).
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
