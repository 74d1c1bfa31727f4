"""Turns that got the same reply (DSE, section 2, made explicit): paraphrases of the same need."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from turnloom.corpus.cleaning.normalise import fold_texts
from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.turn_arrays import hash_strings
from turnloom.views.dialogue_view import Dialogues
from turnloom.views.shared_pairs import Pairs, distinct_in_random_order, pairs_by
from turnloom.views.shuffle import seeded
from turnloom.views.view import View, Workspace, exploded, grouped


class SharedReplies(View):
    """Two turns whose replies are equal up to case, digits and punctuation; they become context and reply.

    DSE explains why consecutive utterances teach meaning: turns that call for the same reply mean the same. This view
    pairs them directly.

    Attributes:
        min_words: Both turns must have more words than this.
        reply_words: The shared reply must have more words than this; very short replies fit everything.
        pairs_per_reply: The maximum number of pairs per reply, so that stock phrases do not dominate the view.
    """

    columns: ClassVar[tuple[str, ...]] = ("context", "reply", "source")

    kind: Literal["shared_replies"] = "shared_replies"
    min_words: int = Field(3, ge=0)
    reply_words: int = Field(3, ge=0)
    pairs_per_reply: int = Field(20, ge=1)

    def make_rows(self, workspace: Workspace) -> Any:
        """Pair turns that share a reply."""
        return workspace.staged(_shared_reply_rows(workspace.table(), self, workspace.seed))


def _shared(texts: pa.Array) -> pa.Array:
    """Compute a key per text that ignores case, numbers and punctuation."""
    bare = pc.replace_substring_regex(fold_texts(texts), r"[\pN ]+", " ")
    return pa.array(hash_strings(pc.utf8_trim(bare, " ")))


def _shared_reply_rows(table: Any, view: SharedReplies, seed: int) -> Any:
    """Return the rows of the view with a `row_key`, as a lazy Daft DataFrame; the seed decides the pairing."""
    engine = daft()
    col, kinds = engine.col, engine.DataType
    fields = {"text": kinds.string(), "shared": kinds.uint64(), "lot": kinds.uint64()}

    @batch_function(kinds.list(kinds.struct(fields)))
    def turns_and_replies(ids: pa.Array, sources: pa.Array, turns: pa.Array) -> pa.Array:
        dialogues = Dialogues(ids, sources, turns)
        reply = np.flatnonzero(dialogues.positions > 0)
        turn = reply - 1
        kept = (dialogues.words(turn, turn + 1) > view.min_words) & (
            dialogues.words(reply, reply + 1) > view.reply_words
        )
        turn, reply = turn[kept], reply[kept]
        owners = dialogues.owners[turn]
        lots = seeded(dialogues.keys[owners], seed, "pair", dialogues.positions[turn])
        columns = [
            dialogues.texts.take(pa.array(turn)),
            _shared(dialogues.texts.take(pa.array(reply))),
            pa.array(lots),
        ]
        return grouped(columns, fields, owners, len(dialogues.keys))

    listed = table.select(
        col("source"), turns_and_replies(col("dialogue_id"), col("source"), col("turns")).alias("turn")
    )
    turns = exploded(listed, "turn", fields)
    return pairs_by("shared", turns, partial(_pairs, most=view.pairs_per_reply))


def _pairs(texts: list[str], lots: list[int], most: int) -> Pairs:
    """Pair each distinct text with the next, in random order."""
    drawn = distinct_in_random_order(texts, lots)
    return [
        {"context": [drawn[place][1]], "reply": drawn[place + 1][1], "row_key": drawn[place][0]}
        for place in range(0, min(len(drawn) - 1, 2 * most), 2)
    ]
