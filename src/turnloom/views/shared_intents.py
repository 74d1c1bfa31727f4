"""Messages with the same intent: pairs from people's labels, where a corpus has them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from turnloom.corpus.engine import batch_function, daft
from turnloom.corpus.turn_arrays import hash_strings
from turnloom.views.dialogue_view import Dialogues
from turnloom.views.shared_pairs import Pairs, distinct_in_random_order, pairs_by
from turnloom.views.shuffle import seeded
from turnloom.views.view import View, Workspace, exploded, grouped


class SharedIntents(View):
    """Two messages of one source in which the same intent begins; they become context and reply.

    An intent begins where it differs from that of the speaker's turn before: in task-oriented corpora, later turns keep
    the label but say "at seven, please". Rows have the intent's number as `label`, so that an objective with
    ``mask: label`` takes no message with the same intent as a negative.

    Attributes:
        min_words: Messages must have more words than this.
        pairs_per_intent: The maximum number of pairs per intent, so that frequent ones do not dominate the view.
    """

    columns: ClassVar[tuple[str, ...]] = ("context", "reply", "label", "source")

    kind: Literal["shared_intents"] = "shared_intents"
    min_words: int = Field(1, ge=0)
    pairs_per_intent: int = Field(200, ge=1)

    def make_rows(self, workspace: Workspace) -> Any:
        """Pair messages that share an intent."""
        messages = _messages(workspace.table(), self, workspace.seed)
        pairs = partial(drawn_pairs, most=self.pairs_per_intent)
        return workspace.staged(pairs_by("label", messages, pairs, ("source", "label")))


def _begins(dialogues: Dialogues) -> npt.NDArray[np.bool_]:
    """Return for each turn whether it has an intent other than that of its speaker's turn before."""
    codes = np.asarray(pc.fill_null(dialogues.intents.dictionary_encode().indices, -1), np.int64)
    speakers = dialogues.speaker_codes
    begins = codes >= 0
    said: dict[tuple[int, int], int] = {}
    for turn in np.flatnonzero(begins):
        place = (int(dialogues.owners[turn]), int(speakers[turn]))
        begins[turn] = said.get(place) != codes[turn]
        said[place] = int(codes[turn])
    return begins


def _messages(table: Any, view: SharedIntents, seed: int) -> Any:
    """Return the text, the intent's number and a random number of each message in which an intent begins."""
    col, kinds = daft().col, daft().DataType
    fields = {"text": kinds.string(), "label": kinds.int64(), "lot": kinds.uint64()}

    @batch_function(kinds.list(kinds.struct(fields)))
    def labelled(ids: pa.Array, sources: pa.Array, turns: pa.Array) -> pa.Array:
        dialogues = Dialogues(ids, sources, turns)
        every = np.arange(len(dialogues.texts))
        kept = np.flatnonzero(_begins(dialogues) & (dialogues.words(every, every + 1) > view.min_words))
        owners = dialogues.owners[kept]
        names = pc.binary_join_element_wise(
            sources.cast(pa.large_string()).take(pa.array(owners)),
            dialogues.intents.take(pa.array(kept)),
            pa.scalar("\n", pa.large_string()),
        )
        numbers = (hash_strings(names) >> np.uint64(1)).astype(np.int64)  # A label is a signed number.
        lots = seeded(dialogues.keys[owners], seed, "pair", dialogues.positions[kept])
        columns = [dialogues.texts.take(pa.array(kept)), pa.array(numbers), pa.array(lots)]
        return grouped(columns, fields, owners, len(dialogues.keys))

    listed = table.select(col("source"), labelled(col("dialogue_id"), col("source"), col("turns")).alias("turn"))
    return exploded(listed, "turn", fields)


def drawn_pairs(texts: Sequence[str], lots: Sequence[int], most: int) -> Pairs:
    """Pair distinct texts in random order: each with the next, then each with the one after that, and so on."""
    drawn = distinct_in_random_order(texts, lots)
    count = len(drawn)
    places = (
        (place, (place + step) % count, step)
        for step in range(1, count // 2 + 1)
        for place in range(count if 2 * step < count else step)  # Half a turn around the circle meets the same pairs.
    )
    return [
        {
            "context": [drawn[one][1]],
            "reply": drawn[other][1],
            "row_key": int(seeded(np.array([drawn[one][0]], np.uint64), 0, "pair", step)[0]),
        }
        for one, other, step in itertools.islice(places, most)
    ]
