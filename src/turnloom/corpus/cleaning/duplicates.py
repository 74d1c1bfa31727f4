"""Find exact and near duplicates (MinHash with locality-sensitive hashing), and count response frequencies.

Only keys move between workers, never dialogues. The copy with the smallest row key stays, which depends only on the
content.
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
"""Hashes for estimating a candidate pair's similarity; the standard error is at most 0.044."""


class NearOptions(BaseModel):
    """When two dialogues count as near duplicates.

    Attributes:
        threshold: The minimum Jaccard similarity over word n-grams.
        bands: The number of chances to find a similar pair.
        rows: Hashes that must agree within a band; more mean fewer accidental candidates.
        ngram: Words per n-gram.
        min_words: Shorter dialogues are only compared exactly, because they share too much by chance.
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
    """Add `signature`: the MinHash of a dialogue's lower-case words.

    In scripts without spaces, each character counts as a word.
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
    """Add the number of `words`, and `band_0`, `band_1`, …: dialogues with an equal band are candidates."""

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
    """Return the rows that share their group with another, each with `keep`, the group's smallest row key."""
    col = daft().col
    sizes = rows.groupby(group).agg(col("row_key").min().alias("keep"), col("row_key").count().alias("size"))
    shared = sizes.where(col("size") > 1).select(group, "keep")
    return rows.join(shared, on=group).exclude(group)


def copies_in(members: Any) -> Any:
    """Return all rows of a group but the one to keep."""
    col = daft().col
    return members.where(col("row_key") != col("keep"))


def twins_in(members: Any) -> Any:
    """Return row keys that occur more than once: rows that are equal in every column, one of which must stay."""
    col = daft().col
    same = members.where(col("row_key") == col("keep")).groupby("row_key").agg(col("keep").count().alias("size"))
    return same.where(col("size") > 1).select("row_key")


BROADCAST_KEYS = 20_000_000
"""Up to this many keys (160 MB) are sent to every worker; more are joined by the engine."""


def without_keys(table: Any, copies: Any) -> Any:
    """Remove the rows whose `row_key` is in `copies`.

    Daft's anti join may build its hash table from the wrong side, which holds the whole corpus in memory (18 GiB at 17
    million dialogues). So, as long as the keys fit, each worker gets them all and looks up its rows.
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
    """Remove copies; of rows that are equal in every column, one stays."""
    kept = without_keys(table, copies)
    if twins is None:
        return kept
    once = kept.join(twins, on="row_key", how="semi").distinct("row_key")
    return kept.join(twins, on="row_key", how="anti").concat(once)


def _low_bytes(signatures: pa.Array) -> list[pa.Array]:
    """Keep the last byte of each hash: a quarter of the memory, and as good for telling equal from unequal."""
    low = signatures.flatten().to_numpy(zero_copy_only=False).astype(np.uint8)
    buffers = [None, pa.py_buffer(low.tobytes())]
    return [pa.FixedSizeBinaryArray.from_buffers(pa.binary(SIGNATURE), len(signatures), buffers).cast(pa.binary())]


def near_copies(keys: Any, table: Any, near: NearOptions, folder: Path) -> Any:
    """Return the row keys of dialogues that nearly equal one with a smaller row key.

    Bands are joined one after another, with candidate pairs stored in `folder`, so that only one band is in memory.
    `keys` must not contain exact copies.
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
    """Estimate the Jaccard similarity from two signatures."""
    first, second = (
        np.frombuffer(b"".join(side.to_pylist()), np.uint8).reshape(len(side), SIGNATURE) for side in (one, other)
    )
    equal = (first == second).mean(axis=1) if len(first) else np.zeros(0)
    return [pa.array((equal - 1 / 256) / (1 - 1 / 256))]  # One in 256 pairs of different hashes ends in the same byte.


def response_keys(texts: pa.Array) -> npt.NDArray[np.uint64]:
    """Hash each trimmed, lower-case text to 64 bits, the key used by `response_frequencies`."""
    return hash_strings(pc.utf8_lower(pc.utf8_trim_whitespace(texts)))


def response_frequencies(table: Any, *, first_turns: bool = False) -> Any:
    """Return a lazy Daft DataFrame (`response`, `count`) of the responses that occur more than once.

    A response is a turn that follows another or, with `first_turns`, any turn. It is identified by its key from
    `response_keys`, so the table stays small however long the texts are.
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
    """Return the keys (`response`) that occur more than once, with their `count`."""
    col = daft().col
    return keyed.groupby("response").agg(col("response").count().alias("count")).where(col("count") > 1)
