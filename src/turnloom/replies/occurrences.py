"""From dialogues to occurrences of replies: who said what after what, and in which range of keys it falls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field

from turnloom.corpus.cleaning.normalise import word_counts
from turnloom.corpus.engine import batch_function, daft, frugally
from turnloom.corpus.table import read_table
from turnloom.corpus.turn_arrays import dialogue_hashes, mix
from turnloom.replies.keys import KeyRanges, reply_keys
from turnloom.views.context_response import SYSTEM_SPEAKERS, ContextResponse
from turnloom.views.dialogue_view import DIALOGUES_AT_A_TIME, Dialogues, Indices, turn_runs

__all__ = ["ReplyOptions", "occurrence_rows", "read_range", "stage_occurrences", "tables_of"]

OCCURRENCE_TYPES = {
    "occurrence": pa.int64(),
    "reply": pa.int64(),
    "dialogue_id": pa.string(),
    "source": pa.string(),
    "turn": pa.int32(),
    "domains": pa.list_(pa.string()),
    "context": pa.list_(pa.string()),
    "text": pa.string(),
}
"""What is staged; the index keeps all but the text, which is the reply's."""


class ReplyOptions(BaseModel):
    """Which turns are replies, and what is kept of the conversation before them.

    Attributes:
        speakers: "system" takes the turns of those who answer (see `system_speakers`; in a dialogue without any, of
            everyone but the one who speaks first), "everyone" all turns that follow another.
        system_speakers: The names under which logs know the one who answers, whatever their case.
        min_words: Shorter replies are left out.
        context_turns: How many turns before a reply are its context.
        contexts: Also index the contexts, so that replies to similar contexts can be found. One vector more for every
            time that a reply was given.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    speakers: Literal["system", "everyone"] = "system"
    system_speakers: tuple[str, ...] = SYSTEM_SPEAKERS
    min_words: int = Field(1, ge=1)
    context_turns: int = Field(5, ge=1)
    contexts: bool = False

    def replies(self, dialogues: Dialogues) -> tuple[Indices, Indices]:
        """The turns of a batch that are replies, and where the context of each begins."""
        if self.speakers == "everyone":
            reply = np.flatnonzero(dialogues.positions > 0)
            start = np.maximum(dialogues.firsts[reply], reply - self.context_turns)
        else:
            view = ContextResponse(
                per_dialogue="all", max_turns=self.context_turns, system_speakers=self.system_speakers
            )
            spans = view.spans(dialogues, seed=0)
            assert spans.reply is not None
            reply, start = spans.reply, spans.start
        long_enough = word_counts(dialogues.texts.take(pa.array(reply))) >= self.min_words
        return reply[long_enough], start[long_enough]


def tables_of(tables: Path | str | Sequence[Path | str]) -> list[Path]:
    """One folder or several, as a list."""
    return [Path(tables)] if isinstance(tables, (str, Path)) else [Path(table) for table in tables]


def occurrence_rows(tables: Sequence[Path], options: ReplyOptions, *, ranges: int = 1, contexts_every: int = 1) -> Any:
    """Every time that a reply was given, as a lazy Daft DataFrame.

    An occurrence is named by its conversation, its place there and its text. A conversation that is read again with
    more turns therefore adds only these.

    Args:
        tables: The folders of dialogue tables.
        options: Which turns are replies.
        ranges: How many ranges of keys the rows are told apart by, in `bucket`.
        contexts_every: One occurrence in so many keeps its context; the others have an empty one.
    """
    engine = daft()
    col, kinds = engine.col, engine.DataType
    made = ("occurrence", "reply", "turn", "context", "text")
    fields = {name: kinds.from_arrow_type(OCCURRENCE_TYPES[name]) for name in made} | {"bucket": kinds.int32()}

    @batch_function(kinds.list(kinds.struct(fields)), batch_size=DIALOGUES_AT_A_TIME)
    def rows(ids: pa.Array, sources: pa.Array, turns: pa.Array) -> pa.Array:
        dialogues = Dialogues(ids, sources, turns)
        reply, start = options.replies(dialogues)
        owners, places = dialogues.owners[reply], dialogues.positions[reply]
        texts = dialogues.texts.take(pa.array(reply))
        keys = reply_keys(texts)
        taken = pa.array(owners)
        named = dialogue_hashes([ids.take(taken), sources.take(taken), pa.array(places), pa.array(keys)])
        start = np.where(mix(named) % np.uint64(contexts_every) == 0, start, reply)
        columns = [
            pa.array(named.view(np.int64)),
            pa.array(keys),
            pa.array(places.astype(np.int32)),
            turn_runs(dialogues.texts, start, reply),
            texts,
            pa.array(KeyRanges(ranges).of(keys)),
        ]
        offsets = np.searchsorted(owners, np.arange(len(dialogues.keys) + 1))
        found = pa.StructArray.from_arrays(columns, names=list(fields))
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), found)

    table = read_table(tables[0])
    for path in tables[1:]:
        table = table.concat(read_table(path))
    beside = ("dialogue_id", "source", "domains")
    listed = table.select(*beside, rows(col("dialogue_id"), col("source"), col("turns")).alias("row"))
    exploded = listed.explode("row").where(col("row").not_null())
    return exploded.select(*beside, *[col("row").get(name).alias(name) for name in fields])


def stage_occurrences(tables: Sequence[Path], out: Path, options: ReplyOptions, ranges: int, every: int) -> None:
    """Write the occurrences to one folder of Parquet files a range of keys, in little memory."""
    rows = occurrence_rows(tables, options, ranges=ranges, contexts_every=every)
    with frugally():
        rows.write_parquet(str(out), partition_cols=["bucket"])


def read_range(staged: Path, number: int) -> pa.Table:
    """The staged occurrences of a range of keys, each once, in a fixed order."""
    schema = pa.schema(list(OCCURRENCE_TYPES.items()))
    files = sorted((staged / f"bucket={number}").glob("*.parquet"))
    if not files:
        return schema.empty_table()
    parts = [pq.read_table(file, columns=schema.names, partitioning=None).cast(schema) for file in files]
    rows = pa.concat_tables(parts)
    rows = rows.take(pc.sort_indices(rows, [("occurrence", "ascending"), ("source", "ascending")]))
    names = rows["occurrence"].to_numpy()
    return rows.filter(pa.array(np.diff(names, prepend=names[:1] - 1) != 0))
