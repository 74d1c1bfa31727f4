from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.discovery.toy import planted
from turnloom.discovery import neighbours
from turnloom.discovery.grouping import centred, centres_of, find_groups
from turnloom.discovery.levels import dissolve_small
from turnloom.discovery.neighbours import nearest, shared_neighbours


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


def test_the_similarity_of_groups_does_not_depend_on_their_size() -> None:
    vectors, truth = planted(2, 400, noise=2.0, seed=3)
    one = vectors[truth == 0]
    for size in (10, 200):
        halves = np.concatenate([one[:size], one[200 : 200 + size]])
        centres = centres_of(halves, np.repeat([0, 1], size))
        assert centres.similarities()[0, 1] == pytest.approx(1, abs=0.25 if size == 10 else 0.06)
    raw = centres_of(one[:20], np.repeat([0, 1], 10)).means
    assert raw[0] @ raw[1] / np.linalg.norm(raw[0]) / np.linalg.norm(raw[1]) < 0.75


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
