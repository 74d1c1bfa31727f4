from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.discovery.toy import planted
from turnloom.discovery import neighbours
from turnloom.discovery.grouping import centred, find_groups
from turnloom.discovery.levels import dissolve_small
from turnloom.discovery.merging import SIZE_POWER, merge_groups
from turnloom.discovery.neighbours import nearest, shared_neighbours, smooth_means


@pytest.mark.parametrize(("groups", "size"), [(4, 60), (12, 40), (60, 20)])
def test_planted_groups_are_found_and_counted(groups: int, size: int) -> None:
    vectors, truth = planted(groups, size)
    found = find_groups(centred(vectors))
    assert abs(int(found.max()) + 1 - groups) <= groups // 20
    assert adjusted_rand_score(truth, found) > 0.95


def test_very_few_vectors_are_one_group() -> None:
    assert find_groups(np.eye(3, dtype=np.float32)).tolist() == [0, 0, 0]
    assert find_groups(np.zeros((0, 4), np.float32)).tolist() == []


def test_neighbours_by_cells_are_nearly_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, _ = planted(20, 100, noise=1.2)
    exact, similarity = nearest(vectors, 8)
    assert not (exact == np.arange(len(vectors))[:, None]).any()
    naive = np.sort(vectors @ vectors.T - 2 * np.eye(len(vectors)), axis=1)[:, -8:]
    assert np.allclose(np.sort(similarity, axis=1), naive, atol=1e-5)
    monkeypatch.setattr(neighbours, "COMPARE_ALL", 500)
    monkeypatch.setattr(neighbours, "PER_CELL", 50)
    cells, _ = nearest(vectors, 8)
    recall = np.mean([len(set(one) & set(other)) / 8 for one, other in zip(exact, cells, strict=True)])
    assert 0.8 < recall < 1


def test_neighbours_are_joined_by_what_they_share() -> None:
    near = np.array([[1, 2], [0, 2], [0, 1], [2, 1]])
    graph = shared_neighbours(near).toarray()
    assert graph[0, 1] == 1  # {0, 1, 2} and {0, 1, 2}
    assert graph[3, 2] == graph[2, 3] == pytest.approx(2 / 4)  # {1, 2, 3} and {0, 1, 2}
    assert graph[0, 3] == 0


def test_smoothing_averages_with_neighbours_twice() -> None:
    vectors, truth = planted(3, 20)
    vectors = centred(vectors)
    indices, _ = nearest(vectors, 4)
    joined = np.zeros((60, 60))
    for row, listed in enumerate(indices):
        joined[row, listed] = joined[listed, row] = 1
    smooth = vectors
    for _ in range(2):
        smooth = (smooth + joined @ smooth / joined.sum(axis=1, keepdims=True)) / 2
    smooth = smooth - smooth.mean(axis=0)
    smooth /= np.linalg.norm(smooth, axis=1, keepdims=True)
    naive = np.stack([smooth[truth == group].mean(axis=0) for group in range(3)])
    assert np.allclose(smooth_means(vectors, indices, truth), naive, atol=1e-5)


def test_groups_merge_by_mean_distance_and_size() -> None:
    vectors, truth = planted(6, 12, noise=1.0)
    fine = truth * 4 + np.arange(len(truth)) % 4
    sizes = np.bincount(fine, minlength=24)
    sums = np.stack([vectors[fine == group].sum(axis=0) for group in range(24)])
    kept = sizes > 0
    merges = merge_groups((sums[kept] / sizes[kept, None]).astype(np.float32), sizes[kept])
    groups = [np.flatnonzero(fine == group) for group in np.flatnonzero(kept)]
    names = list(range(len(groups)))
    for pair, cost in zip(merges.pairs, merges.costs, strict=True):
        best = min(
            (
                (len(one) * len(other) / (len(one) + len(other)) * len(groups) / len(truth)) ** SIZE_POWER
                * (1 - vectors[one] @ vectors[other].T).mean(),
                names[first],
                names[second],
            )
            for second, other in enumerate(groups)
            for first, one in enumerate(groups[:second])
        )
        assert pair == best[1:]
        assert cost == pytest.approx(best[0], rel=1e-4)
        kept_at, gone_at = names.index(pair[0]), names.index(pair[1])
        groups[kept_at] = np.concatenate([groups[kept_at], groups.pop(gone_at)])
        names.pop(gone_at)
    cut = merges.cut(6)
    assert len(set(cut.tolist())) == 6
    assert merges.cut(int(kept.sum())).tolist() == list(range(int(kept.sum())))


def test_merging_needs_no_matrix_of_all_distances() -> None:
    rng = np.random.default_rng(0)
    means = rng.standard_normal((6_000, 8)).astype(np.float32) / 8
    tracemalloc.start()
    merges = merge_groups(means, np.full(len(means), 3))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(merges.pairs) == len(means) - 1
    assert peak < 6_000**2 * 8 / 4


def test_groups_that_are_equally_close_are_all_merged() -> None:
    merges = merge_groups(np.tile(np.eye(1, 8, dtype=np.float32), (50, 1)), np.full(50, 2))
    assert len(merges.pairs) == 49
    assert set(merges.cut(1).tolist()) == {0}


def test_groups_of_different_size_are_found() -> None:
    vectors, truth = planted(8, 200)
    sizes = [48, 48, 48, 24, 24, 12, 12, 12]
    rows = np.concatenate([np.flatnonzero(truth == group)[:size] for group, size in enumerate(sizes)])
    found = find_groups(centred(vectors[rows]))
    assert adjusted_rand_score(truth[rows], found) > 0.9


def test_small_groups_are_dissolved_into_groups_that_they_fit() -> None:
    vectors, truth = planted(3, 30, noise=0.3)
    groups = truth.copy()
    groups[np.flatnonzero(truth == 0)[:2]] = 3  # Two members that were split off.
    stray = np.zeros((2, vectors.shape[1]), np.float32)
    stray[:, 0] = [1, -1]
    found = dissolve_small(np.concatenate([vectors, stray]), np.concatenate([groups, [4, 5]]), 5)
    assert found[-2:].tolist() == [-1, -1]
    assert (found[:-2] == truth).mean() > 0.97
    assert found.max() == 2
