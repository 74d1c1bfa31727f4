"""Near duplicates: what is compared, and that nothing depends on how the work is cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from turnloom.corpus.cleaning import near
from turnloom.corpus.cleaning.near import FINGERPRINT, PRINTS, NearOptions, band_names, candidates, fingerprints

Pairs = set[tuple[int, int]]


def some_rows(count: int, values: int, seed: int) -> tuple[near.Keys, near.Keys, near.Keys]:
    """Bands of few values, so that many are equal; row keys; and fingerprints, some of which are nearly equal."""
    rng = np.random.default_rng(seed)
    bands = rng.integers(0, values, count, dtype=np.uint64) << np.uint64(55)
    keys = rng.permutation(2**20)[:count].astype(np.uint64)
    prints = rng.integers(0, 2**64, (4, 2), dtype=np.uint64)[rng.integers(0, 4, count)]
    prints ^= np.uint64(1) << rng.integers(0, 64, (count, 2), dtype=np.uint64)
    return bands, keys, prints


def equal_bits(one: near.Keys, other: near.Keys) -> int:
    return sum(128 // 2 - (int(a) ^ int(b)).bit_count() for a, b in zip(one, other, strict=True))


def by_hand(bands: near.Keys, keys: near.Keys, prints: near.Keys, least: int) -> Pairs:
    found = set()
    for band in set(bands.tolist()):
        rows = sorted((int(keys[row]), row) for row in range(len(keys)) if bands[row] == band)
        keep, first = rows[0]
        found |= {(key, keep) for key, row in rows[1:] if equal_bits(prints[row], prints[first]) >= least}
    return found


@pytest.mark.parametrize("least", [0, 100, 126])
def test_each_row_is_compared_with_the_smallest_key_of_its_band(least: int) -> None:
    for values in (1, 7, 400):
        bands, keys, prints = some_rows(300, values, seed=values)
        found = candidates(bands, keys, prints, least)
        assert set(zip(*(side.tolist() for side in found), strict=True)) == by_hand(bands, keys, prints, least)


def test_fingerprints_tell_apart_what_is_less_similar() -> None:
    """The last bit of some of MinHash's hashes is the same for all texts; a bit of the mixed hash is not."""
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**30, (500, 100), dtype=np.uint64) << np.uint64(2)
    others = np.where(
        rng.random(hashes.shape) < 0.7, hashes, rng.integers(0, 2**30, hashes.shape, dtype=np.uint64) << np.uint64(2)
    )
    differing = np.bitwise_count(fingerprints(hashes) ^ fingerprints(others)).sum(axis=1, dtype=np.int64)
    assert differing.mean() == pytest.approx(15, abs=1)  # Half of the 30 hashes that differ.
    least = near._least_equal_bits(NearOptions(threshold=0.7))
    assert (FINGERPRINT - differing >= least).mean() > 0.98
    unlike = np.bitwise_count(fingerprints(hashes) ^ fingerprints(hashes[::-1].copy())).sum(axis=1, dtype=np.int64)
    assert (FINGERPRINT - unlike >= least).mean() < 0.01


def test_a_band_in_parts_gives_the_same_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = NearOptions(bands=10, rows=4)
    rng = np.random.default_rng(1)
    columns = {"row_key": rng.permutation(2**20)[:2_000].astype(np.uint64)}
    columns |= {name: np.zeros(2_000, np.uint64) for name in PRINTS}
    columns |= {name: near.mix(rng.integers(0, 500, 2_000, dtype=np.uint64)) for name in band_names(options)}
    found: list[set[tuple[int, int]]] = []
    for rows_at_a_time in (10_000, 300):
        folder = tmp_path / str(rows_at_a_time)
        (folder / "bands").mkdir(parents=True)
        pq.write_table(pa.table(columns), folder / "bands" / "0.parquet", row_group_size=700)
        monkeypatch.setattr(near, "ROWS_AT_A_TIME", rows_at_a_time)
        near.list_candidates(folder, options)
        tables = [pq.read_table(path) for path in sorted((folder / "pairs").iterdir())]
        found.append(
            {
                pair
                for one in tables
                for pair in zip(*(one[side].to_pylist() for side in ("row_key", "keep")), strict=True)
            }
        )
        assert len(tables) == (10 if rows_at_a_time == 10_000 else 80)
    assert found[0] == found[1]
    assert len(found[0]) > 10_000
