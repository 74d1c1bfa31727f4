"""Find near duplicates: MinHash with locality-sensitive hashing.

Two dialogues are candidates if they agree in a band of hashes. Most candidates agree by accident, in an utterance that
many dialogues share, so each band is looked through by itself, and what a short fingerprint tells apart is never
listed: time and memory grow with the dialogues, not with the accidents.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, model_validator

from turnloom.corpus.cleaning.duplicates import only_keys
from turnloom.corpus.cleaning.normalise import spaced_texts, word_counts
from turnloom.corpus.engine import daft, run_numbered, with_columns
from turnloom.corpus.turn_arrays import mix, split_turns, sums

Keys = npt.NDArray[np.uint64]
SIGNATURE = 128
"""Hashes for estimating a candidate pair's similarity; the standard error is at most 0.044."""
FINGERPRINT, PRINTS = 128, ("print_0", "print_1")
"""At most this many hashes are also compared by one bit each, before candidates are listed."""
DEVIATIONS = 2.5
"""A fingerprint may be this many standard deviations worse than that of a pair at the threshold: few are lost."""
ROWS_AT_A_TIME = 5_000_000
"""Of one band: 0.15 GB, and as much again to sort them. More are looked through in several parts."""
AT_A_TIME = 2
"""How many parts are looked through at a time in one process; most of it is one sort."""


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


def fingerprints(hashes: Keys) -> Keys:
    """Keep a bit of each of the first 128 hashes, in two numbers."""
    bits = np.packbits((mix(hashes[:, :FINGERPRINT]) & np.uint64(1)).astype(np.uint8), axis=1)
    padded = np.zeros((len(hashes), FINGERPRINT // 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)


def with_bands(table: Any, near: NearOptions) -> Any:
    """Add the number of `words`, a fingerprint, and `band_0`, `band_1`, …: an equal band makes dialogues candidates."""

    def banded(signatures: pa.Array, turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        words = sums(word_counts(flat.field("text")), offsets).astype(np.int32)
        values = signatures.flatten().to_numpy(zero_copy_only=False).astype(np.uint64)
        prints = fingerprints(values.reshape(len(signatures), near.bands * near.rows))
        hashes = values.reshape(len(signatures), near.bands, near.rows)
        folded = np.zeros((len(signatures), near.bands), np.uint64)
        for row in range(near.rows):
            folded = (folded ^ hashes[:, :, row]) * np.uint64(0x9E3779B97F4A7C15)
            folded ^= folded >> np.uint64(29)
        columns = [*prints.T, *folded.T]
        return [pa.array(words), *[pa.array(np.ascontiguousarray(column)) for column in columns]]

    fields = {"words": pa.int32()} | dict.fromkeys([*PRINTS, *band_names(near)], pa.uint64())
    signed = _with_signature(table, near, near.bands * near.rows, seed=1)
    return with_columns(signed, fields, banded, "signature", "turns").exclude("signature")


def band_names(near: NearOptions) -> list[str]:
    """Return the names of the columns that hold bands."""
    return [f"band_{band}" for band in range(near.bands)]


def _least_equal_bits(near: NearOptions) -> int:
    """How many bits of two fingerprints must be equal: one bit of two different hashes is equal half of the time."""
    bits = min(FINGERPRINT, near.bands * near.rows)
    equal = (1 + near.threshold) / 2
    least = bits * equal - DEVIATIONS * math.sqrt(bits * equal * (1 - equal))
    return math.floor(least) + FINGERPRINT - bits  # What pads a fingerprint is always equal.


def candidates(bands: Keys, keys: Keys, prints: Keys, least: int) -> tuple[Keys, Keys]:
    """Compare the rows of each equal band with the smallest row key among them.

    Returns:
        The row keys, and the key to keep, of those whose fingerprints are equal in at least so many bits.
    """
    order = np.argsort(bands)
    same = bands[order][1:] == bands[order][:-1]
    shared = np.zeros(len(order), bool)
    shared[1:] |= same
    shared[:-1] |= same
    rows = order[shared]
    rows = rows[np.lexsort((keys[rows], bands[rows]))]
    first = np.ones(len(rows), bool)
    first[1:] = bands[rows][1:] != bands[rows][:-1]
    keep = rows[first][np.cumsum(first) - 1]
    rows, keep = rows[~first], keep[~first]
    equal = FINGERPRINT - np.bitwise_count(prints[rows] ^ prints[keep]).sum(axis=1, dtype=np.int64)
    similar = (equal >= least) & (keys[rows] != keys[keep])
    return keys[rows[similar]], keys[keep[similar]]


def _list_candidates(folder: Path, near: NearOptions, part_of: tuple[int, int], band: str) -> None:
    """Write the candidate pairs of a part of a band."""
    part, parts = part_of
    among = None
    if parts > 1:
        shift = pa.scalar(64 - (parts.bit_length() - 1), pa.uint64())
        among = pc.equal(pc.shift_right(ds.field(band), shift), pa.scalar(part, pa.uint64()))
    rows = ds.dataset(folder / "bands").to_table(columns=["row_key", band, *PRINTS], filter=among)
    keys, bands, *prints = (rows.column(name).to_numpy() for name in ("row_key", band, *PRINTS))
    row_key, keep = candidates(bands, keys, np.stack(prints, axis=1), _least_equal_bits(near))
    pq.write_table(pa.table({"row_key": row_key, "keep": keep}), folder / "pairs" / f"{band}-{part}.parquet")


def list_candidates(folder: Path, near: NearOptions) -> None:
    """Write `pairs` (`row_key`, `keep`) of what `bands` in the same folder holds, a part of a band at a time."""
    (folder / "pairs").mkdir()
    rows = ds.dataset(folder / "bands").count_rows()
    parts = 1 << max(0, math.ceil(math.log2(max(rows, 1) / ROWS_AT_A_TIME)))

    def task(number: int) -> None:
        _list_candidates(folder, near, (number % parts, parts), f"band_{number // parts}")

    run_numbered(near.bands * parts, task, threads=AT_A_TIME)


def _low_bytes(signatures: pa.Array) -> list[pa.Array]:
    """Keep a byte of each hash: a quarter of the memory, and nearly as good for telling equal from unequal.

    Mixed first, because the last bits of some of these hashes are the same for all texts.
    """
    low = mix(signatures.flatten().to_numpy(zero_copy_only=False).astype(np.uint64)).astype(np.uint8)
    buffers = [None, pa.py_buffer(low.tobytes())]
    return [pa.FixedSizeBinaryArray.from_buffers(pa.binary(SIGNATURE), len(signatures), buffers).cast(pa.binary())]


def near_copies(keys: Any, table: Any, near: NearOptions, folder: Path) -> Any:
    """Return the row keys of dialogues that nearly equal one with a smaller row key.

    Candidates of all bands together are compared once more, by hashes of their own. `keys` must not contain exact
    copies; `folder` is for what is found on the way.
    """
    engine = daft()
    col = engine.col
    long = keys.where(col("words") >= near.min_words).select("row_key", *PRINTS, *band_names(near))
    long.write_parquet(str(folder / "bands"))
    list_candidates(folder, near)
    pairs = engine.read_parquet(f"{folder}/pairs/*.parquet").distinct()
    involved = pairs.select("row_key").concat(pairs.select(col("keep").alias("row_key"))).distinct()
    signed = _with_signature(only_keys(table, involved), near, SIGNATURE, seed=2)
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
