"""Extract occurrences of replies from dialogues (who said what after what), and group them into distinct replies.

A reply's key is a hash of its text. Keys are split into ranges, which are written one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field

from turnloom.corpus.cleaning.duplicates import response_keys
from turnloom.corpus.cleaning.normalise import normalise_texts, word_counts
from turnloom.corpus.cleaning.sign_offs import are_parts
from turnloom.corpus.engine import batch_function, daft, frugally
from turnloom.corpus.table import read_tables
from turnloom.corpus.turn_arrays import dialogue_hashes, hash_strings, mix
from turnloom.views.context_response import SYSTEM_SPEAKERS, ContextResponse
from turnloom.views.dialogue_view import DIALOGUES_AT_A_TIME, Dialogues, Indices, turn_runs

Keys = npt.NDArray[np.int64]
MOST_CONVERSATIONS = 5
"""The most source conversations listed per reply; a polite reply may occur in all of them."""
REMEMBERED = 50
"""Text from this many recent turns is not suggested again."""
CONVERSATION = pa.struct([("dialogue_id", pa.string()), ("source", pa.string()), ("turn", pa.int32())])

OCCURRENCE_TYPES = {
    "occurrence": pa.int64(),
    "reply": pa.int64(),
    "dialogue_id": pa.string(),
    "source": pa.string(),
    "turn": pa.int32(),
    "domains": pa.list_(pa.string()),
    "context": pa.list_(pa.string()),
    "speakers": pa.list_(pa.int64()),
    "text": pa.string(),
}
"""The staged columns. The index keeps all but the text, which belongs to the reply.

`speakers` has a hash of everyone who speaks in the conversation, so that a person's conversations can be erased.
"""


def reply_keys(texts: pa.Array) -> Keys:
    """Compute a 64-bit key per reply, equal for texts that differ only in case and white space.

    Example:
        >>> import pyarrow as pa
        >>> one, two, three = reply_keys(pa.array(["Thank  you!", "thank you! ", "thank you"]))
        >>> bool(one == two), bool(one == three)
        (True, False)
    """
    return response_keys(normalise_texts(texts)).view(np.int64)


def said_keys(context: Sequence[str]) -> set[int]:
    """Return the keys of the recent turns, which are not suggested again."""
    return set(reply_keys(pa.array(context[-REMEMBERED:], pa.string())).tolist())


def key_check() -> int:
    """The key of a fixed text; it changes whenever the way of computing keys changes."""
    return int(reply_keys(pa.array(["turnloom"]))[0])


@dataclass(frozen=True)
class KeyRanges:
    """All keys, split into this many equal ranges."""

    count: int

    @cached_property
    def _starts(self) -> Keys:
        return np.array([number * 2**64 // self.count - 2**63 for number in range(self.count)], np.int64)

    def of(self, keys: Keys) -> npt.NDArray[np.int32]:
        """Return the number of the range that each key belongs to."""
        return (np.searchsorted(self._starts, keys, side="right") - 1).astype(np.int32)

    def predicate(self, column: str, number: int) -> str:
        """Return the SQL condition for a column's key to be in a range.

        Example:
            >>> KeyRanges(2).predicate("key", 0), KeyRanges(1).predicate("key", 0)
            ('key < 0', 'key IS NOT NULL')
        """
        # The first range has no lower bound: SQL parses the smallest number as minus a number that is too large.
        lower = [f"{column} >= {self._starts[number]}"] if number else []
        upper = [f"{column} < {self._starts[number + 1]}"] if number + 1 < self.count else []
        return " AND ".join([*lower, *upper]) or f"{column} IS NOT NULL"


class ReplyOptions(BaseModel):
    """Which turns count as replies, and how much context to keep.

    Attributes:
        speakers: "system" takes the turns of system speakers or, in a dialogue without any, of everyone but the first
            speaker. "everyone" takes all turns that follow another.
        system_speakers: The speaker names that mean the answering side; case does not matter.
        min_words: Shorter replies are skipped.
        context_turns: How many turns before a reply form its context.
        contexts: Whether to index contexts too, so that you can search for replies to similar contexts. Costs one more
            vector per occurrence.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    speakers: Literal["system", "everyone"] = "system"
    system_speakers: tuple[str, ...] = SYSTEM_SPEAKERS
    min_words: int = Field(1, ge=1)
    context_turns: int = Field(5, ge=1)
    contexts: bool = False

    def replies(self, dialogues: Dialogues) -> tuple[Indices, Indices]:
        """Return the reply turns of a batch, and where each one's context starts."""
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
        texts = dialogues.texts.take(pa.array(reply))
        # Half of a message is no reply.
        kept = (word_counts(texts) >= self.min_words) & ~are_parts(texts).to_numpy(zero_copy_only=False)
        return reply[kept], start[kept]


def tables_of(tables: Path | str | Sequence[Path | str]) -> list[Path]:
    """Return one folder or several as a list."""
    return [Path(tables)] if isinstance(tables, (str, Path)) else [Path(table) for table in tables]


def occurrence_rows(tables: Sequence[Path], options: ReplyOptions, *, ranges: int = 1, contexts_every: int = 1) -> Any:
    """Return every occurrence of a reply as a lazy Daft DataFrame.

    An occurrence is identified by its conversation, its turn index and its text. So a conversation that has grown adds
    only its new turns.

    Args:
        tables: The folders of dialogue tables.
        options: Which turns are replies.
        ranges: The number of key ranges for `bucket`.
        contexts_every: Keep the context of one occurrence in this many; the others get an empty one.
    """
    engine = daft()
    col, kinds = engine.col, engine.DataType
    made = ("occurrence", "reply", "turn", "context", "speakers", "text")
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
            _speakers(dialogues).take(taken),
            texts,
            pa.array(KeyRanges(ranges).of(keys)),
        ]
        offsets = np.searchsorted(owners, np.arange(len(dialogues.keys) + 1))
        found = pa.StructArray.from_arrays(columns, names=list(fields))
        return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), found)

    beside = ("dialogue_id", "source", "domains")
    listed = read_tables(tables).select(*beside, rows(col("dialogue_id"), col("source"), col("turns")).alias("row"))
    exploded = listed.explode("row").where(col("row").not_null())
    return exploded.select(*beside, *[col("row").get(name).alias(name) for name in fields])


def speaker_keys(names: pa.Array) -> Keys:
    """Return the hash of each speaker."""
    return hash_strings(names).view(np.int64)


def _speakers(dialogues: Dialogues) -> pa.Array:
    """Return the hashes of the distinct speakers of each dialogue."""
    return _lists(dialogues.owners, pa.array(speaker_keys(dialogues.speakers)), len(dialogues.keys))


def stage_occurrences(tables: Sequence[Path], out: Path, options: ReplyOptions, ranges: int, every: int) -> None:
    """Write the occurrences to Parquet, one folder per key range, in little memory."""
    rows = occurrence_rows(tables, options, ranges=ranges, contexts_every=every)
    with frugally():
        rows.write_parquet(str(out), partition_cols=["bucket"])


def read_range(staged: Path, number: int) -> pa.Table:
    """Read the staged occurrences of a key range, without duplicates and in a fixed order."""
    schema = pa.schema(list(OCCURRENCE_TYPES.items()))
    files = sorted((staged / f"bucket={number}").glob("*.parquet"))
    if not files:
        return schema.empty_table()
    parts = [pq.read_table(file, columns=schema.names, partitioning=None).cast(schema) for file in files]
    rows = pa.concat_tables(parts)
    rows = rows.take(pc.sort_indices(rows, [("occurrence", "ascending"), ("source", "ascending")]))
    names = rows["occurrence"].to_numpy()
    return rows.filter(pa.array(np.diff(names, prepend=names[:1] - 1) != 0))


def inverse_response_frequency(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """`1 / (log count + 1)` (WMDC, Equation 5): 1 for a reply given once, less for frequent ones.

    Example:
        >>> inverse_response_frequency(np.array([1, 20, 1000])).round(3).tolist()
        [1.0, 0.25, 0.12600000202655792]
    """
    return (1 / (np.log(counts) + 1)).astype(np.float32)


def _lists(owners: npt.NDArray[np.int64], values: pa.Array, groups: int) -> pa.Array:
    """Return the sorted distinct values of each group."""
    pairs = pa.table({"owner": owners, "value": values}).group_by(["owner", "value"]).aggregate([])
    pairs = pairs.filter(pc.is_valid(pairs["value"])).sort_by([("owner", "ascending"), ("value", "ascending")])
    offsets = np.searchsorted(pairs["owner"].to_numpy(), np.arange(groups + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pairs["value"].combine_chunks())


def _conversations(rows: pa.Table, owners: npt.NDArray[np.int64], firsts: npt.NDArray[Any], groups: int) -> pa.Array:
    kept = np.arange(len(owners)) - firsts[owners] < MOST_CONVERSATIONS
    few = rows.filter(pa.array(kept))
    columns = [few[field.name].combine_chunks() for field in CONVERSATION]
    offsets = np.searchsorted(owners[kept], np.arange(groups + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.StructArray.from_arrays(columns, fields=list(CONVERSATION)))


def group_occurrences(occurrences: pa.Table) -> pa.Table:
    """Group occurrences into one row per reply: its key, count, weight and sources.

    The result does not depend on the order of the occurrences.

    Args:
        occurrences: Rows with `occurrence`, `reply`, `dialogue_id`, `source`, `turn` and `domains`.

    Returns:
        Rows with `key`, `count`, `weight`, `conversations`, `sources` and `domains`, sorted by key.
    """
    rows = occurrences.sort_by([("reply", "ascending"), ("occurrence", "ascending")])
    keys, firsts, owners, counts = np.unique(
        rows["reply"].to_numpy(), return_index=True, return_inverse=True, return_counts=True
    )
    domains = rows["domains"].combine_chunks()
    named = owners[np.asarray(pc.list_parent_indices(domains), np.int64)]
    return pa.table(
        {
            "key": keys,
            "count": counts.astype(np.int64),
            "weight": inverse_response_frequency(counts),
            "conversations": _conversations(rows, owners, firsts, len(keys)),
            "sources": _lists(owners, rows["source"].combine_chunks(), len(keys)),
            "domains": _lists(named, pc.list_flatten(domains), len(keys)),
        }
    )
