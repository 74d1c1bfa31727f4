"""Which dialogues are copies of others, exactly or nearly by MinHash and locality-sensitive hashing; and how often each
response occurs.

Only keys move between workers, never dialogues. Of several copies the one with the smallest row key stays, which
depends on nothing but the content.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from turnloom.corpus.cleaning.normalise import spaced_texts, word_counts
from turnloom.corpus.engine import batch_function, daft, with_columns
from turnloom.corpus.turn_arrays import beginnings, hash_strings, join_turns, keep_turns, split_turns, sums

SIGNATURE = 128
"""Hashes by which a candidate pair's similarity is estimated; its standard error is at most 0.044."""


class NearOptions(BaseModel):
    """When two dialogues count as near duplicates.

    Attributes:
        threshold: Their Jaccard similarity over n-grams of words, at least.
        bands: Chances that a similar pair is found.
        rows: Hashes that must agree in a band: more make chance meetings rarer.
        ngram: Words in an n-gram.
        min_words: Shorter dialogues are compared exactly only; they share too much by chance.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(0.7, gt=0, le=1)
    bands: int = Field(20, ge=1, le=100)
    rows: int = Field(5, ge=1, le=50)
    ngram: int = Field(2, ge=1, le=10)
    min_words: int = Field(8, ge=1)

    @model_validator(mode="after")
    def _finds_what_it_should(self) -> NearOptions:
        chance = 1 - (1 - self.threshold**self.rows) ** self.bands
        if chance < 0.8:
            raise ValueError(
                f"{self.bands} bands of {self.rows} rows find a pair at the threshold with a chance of {chance:.0%}: "
                "use more bands or fewer rows"
            )
        return self


def _with_signature(table: Any, near: NearOptions, hashes: int, seed: int) -> Any:
    """The table with `signature`: the MinHash of a dialogue's words in lower case.

    Characters of scripts without spaces count as words.
    """

    def text(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        texts = spaced_texts(pc.utf8_lower(flat.field("text"))).cast(pa.large_string())
        lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), texts)
        return [pc.binary_join(lists, pa.scalar(" ", pa.large_string()))]

    with_text = with_columns(table, {"signature": pa.string()}, text, "turns")
    options = {"num_hashes": hashes, "ngram_size": near.ngram, "seed": seed, "hash_function": "xxhash"}
    return with_text.with_column("signature", daft().col("signature").minhash(**options))


def with_bands(table: Any, near: NearOptions) -> Any:
    """The table with `words`, their number, and `band_0`, `band_1`, …: dialogues that share one are candidates."""

    def banded(signatures: pa.Array, turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        words = sums(word_counts(flat.field("text")), offsets).astype(np.int32)
        values = signatures.flatten().to_numpy(zero_copy_only=False).astype(np.uint64)
        hashes = values.reshape(len(signatures), near.bands, near.rows)
        folded = np.zeros((len(signatures), near.bands), np.uint64)
        for row in range(near.rows):
            folded = (folded ^ hashes[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
            folded ^= folded >> np.uint64(29)
        return [pa.array(words), *[pa.array(folded[:, band]) for band in range(near.bands)]]

    fields = {"words": pa.int32()} | {f"band_{band}": pa.uint64() for band in range(near.bands)}
    signed = _with_signature(table, near, near.bands * near.rows, seed=1)
    return with_columns(signed, fields, banded, "signature", "turns").exclude("signature")


def shared_groups(rows: Any, group: str) -> Any:
    """The rows that share their group with another row, each with `keep`, the smallest row key of the group."""
    col = daft().col
    sizes = rows.groupby(group).agg(col("row_key").min().alias("keep"), col("row_key").count().alias("size"))
    shared = sizes.where(col("size") > 1).select(group, "keep")
    return rows.join(shared, on=group).exclude(group)


def copies_in(members: Any) -> Any:
    """Of rows that share a group, all but the one that stays."""
    col = daft().col
    return members.where(col("row_key") != col("keep"))


def twins_in(members: Any) -> Any:
    """The row keys that more than one row has: rows that are equal in every column, of which one must stay."""
    col = daft().col
    same = members.where(col("row_key") == col("keep")).groupby("row_key").agg(col("keep").count().alias("size"))
    return same.where(col("size") > 1).select("row_key")


BROADCAST_KEYS = 20_000_000
"""Up to so many keys (160 MB) go to every worker; more are joined by the engine."""


def without_keys(table: Any, copies: Any) -> Any:
    """The table less the rows whose `row_key` is among some.

    Daft's anti join may build its hash table from the wrong side, which holds the whole corpus in memory (seen at 17
    million dialogues: 18 GiB). So as long as the keys fit, each worker gets them and looks its rows up.
    """
    if copies.count_rows() > BROADCAST_KEYS:
        return table.join(copies, on="row_key", how="anti")
    drop = np.unique(copies.to_arrow().column("row_key").to_numpy())

    @batch_function(daft().DataType.bool())
    def stays(row_key: pa.Array) -> pa.Array:
        keys = row_key.to_numpy()
        if not len(drop):
            return pa.array(np.ones(len(keys), bool))
        return pa.array(drop[np.minimum(np.searchsorted(drop, keys), len(drop) - 1)] != keys)

    return table.where(stays(daft().col("row_key")))


def without(table: Any, copies: Any, twins: Any | None) -> Any:
    """The table less its copies; of rows that are equal in every column one stays."""
    kept = without_keys(table, copies)
    if twins is None:
        return kept
    once = kept.join(twins, on="row_key", how="semi").distinct("row_key")
    return kept.join(twins, on="row_key", how="anti").concat(once)


def _low_bytes(signatures: pa.Array) -> list[pa.Array]:
    """The last byte of each hash of a signature: a quarter of the room, and as good for telling equal from unequal."""
    low = signatures.flatten().to_numpy(zero_copy_only=False).astype(np.uint8)
    buffers = [None, pa.py_buffer(low.tobytes())]
    return [pa.FixedSizeBinaryArray.from_buffers(pa.binary(SIGNATURE), len(signatures), buffers).cast(pa.binary())]


def near_copies(keys: Any, table: Any, near: NearOptions, folder: Path) -> Any:
    """The row keys of dialogues that are nearly equal to one with a smaller row key.

    Bands are joined one after another, with candidate pairs kept in `folder`, so that no more than one is in memory.
    `keys` leaves out exact copies.
    """
    engine = daft()
    col = engine.col
    long = keys.where(col("words") >= near.min_words)
    for band in range(near.bands):
        members = shared_groups(long.select("row_key", f"band_{band}"), f"band_{band}")
        copies_in(members).write_parquet(str(folder / "pairs"))
    pairs = engine.read_parquet(f"{folder}/pairs/*.parquet").distinct()
    involved = pairs.select("row_key").concat(pairs.select(col("keep").alias("row_key"))).distinct()
    signed = _with_signature(table.join(involved, on="row_key", how="semi"), near, SIGNATURE, seed=2)
    compared = with_columns(signed.select("row_key", "signature"), {"signature": pa.binary()}, _low_bytes, "signature")
    compared.write_parquet(str(folder / "signatures"))
    signatures = engine.read_parquet(f"{folder}/signatures/*.parquet")
    one = signatures.select(col("row_key"), col("signature").alias("one"))
    other = signatures.select(col("row_key").alias("keep"), col("signature").alias("other"))
    joined = pairs.join(one, on="row_key").join(other, on="keep")
    similar = with_columns(joined, {"similarity": pa.float64()}, _similarity, "one", "other")
    return similar.where(col("similarity") >= near.threshold).select("row_key").distinct()


def _similarity(one: pa.Array, other: pa.Array) -> list[pa.Array]:
    """The Jaccard similarity that two signatures let expect."""
    first, second = (
        np.frombuffer(b"".join(side.to_pylist()), np.uint8).reshape(len(side), SIGNATURE) for side in (one, other)
    )
    equal = (first == second).mean(axis=1) if len(first) else np.zeros(0)
    return [pa.array((equal - 1 / 256) / (1 - 1 / 256))]  # Of two different hashes, one in 256 ends alike.


def response_keys(texts: pa.Array) -> npt.NDArray[np.uint64]:
    """The 64-bit hash of each trimmed, lower-case text: what `response_frequencies` names a response by."""
    return hash_strings(pc.utf8_lower(pc.utf8_trim_whitespace(texts)))


def response_frequencies(table: Any, *, first_turns: bool = False) -> Any:
    """A lazy Daft DataFrame (`response`, `count`) of the responses that occur more than once.

    A response is a turn that follows another, or with `first_turns` any; it is named by its `response_keys`, so that
    the table stays small however long texts are.
    """

    def responses(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        if not first_turns:
            follows = np.ones(len(flat), bool)
            follows[beginnings(offsets)] = False
            offsets, flat = keep_turns(offsets, flat, follows)
        return [join_turns(offsets, pa.array(response_keys(flat.field("text"))))]

    hashed = with_columns(table.select("turns"), {"response": pa.list_(pa.uint64())}, responses, "turns")
    keyed = hashed.select("response").explode("response")
    return repeated_responses(keyed.where(daft().col("response").not_null()))


def repeated_responses(keyed: Any) -> Any:
    """The keys (`response`) that occur more than once, and how often (`count`)."""
    col = daft().col
    return keyed.groupby("response").agg(col("response").count().alias("count")).where(col("count") > 1)
