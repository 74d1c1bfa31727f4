from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.discovery.toy import planted, said
from turnloom.discovery import Messages, discover, load_discovery, save_discovery
from turnloom.discovery import levels as levels_module
from turnloom.discovery.grouping import centres_of
from turnloom.discovery.hierarchy import ALONE, BLANK
from turnloom.discovery.levels import nest
from turnloom.errors import TurnloomError


def test_every_message_is_in_a_named_group_or_has_a_reason(tmp_path: Path) -> None:
    messages, vectors, truth = said()
    strays = np.zeros((2, vectors.shape[1]), np.float32)
    strays[0, 0], strays[1, 1] = 1, 1
    every = Messages([*messages.texts, "a stray", "..."], [""] * 122, np.full(122, 2), 122)
    found = discover(every, np.concatenate([vectors, strays]))
    summary = found.summary
    assert summary.levels[-1] == 5
    assert 2 <= len(summary.levels) <= 4
    assert adjusted_rand_score(truth, found.group[:120]) > 0.95
    assert found.group[121] == -1
    assert found.reasons[121] == BLANK
    assert all((group < 0) == bool(reason) for group, reason in zip(found.group, found.reasons, strict=True))
    assert set(summary.unassigned) <= {ALONE, BLANK}
    assert summary.occurrences == 244
    assert sum(leaf.size for leaf in summary.leaves()) + sum(summary.unassigned.values()) == 244
    names = {leaf.name for leaf in summary.leaves()}
    assert {"cancel an order", "change an address"} <= names
    assert len({group.name for group in summary.groups}) == len(summary.groups)
    for leaf in summary.leaves():
        members = [every.texts[place] for place in np.flatnonzero(found.group == leaf.id)]
        assert leaf.messages == len(members)
        assert leaf.size == 2 * len(members)
        assert set(leaf.typical) <= set(members)
    for group in summary.groups:
        below = [one for one in summary.groups if one.parent == group.id]
        assert not below or sum(one.size for one in below) == group.size
    save_discovery(found, tmp_path / "d")
    loaded = load_discovery(tmp_path / "d")
    assert loaded.summary == summary
    assert loaded.group.tolist() == found.group.tolist()
    assert loaded.messages.texts == every.texts
    assert np.allclose(loaded.centres, found.centres)
    unit = vectors - loaded.mean
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    nearest = np.array([leaf.id for leaf in summary.leaves()])[(unit @ loaded.centres.T).argmax(axis=1)]
    assert (nearest == found.group[:120]).mean() > 0.95  # Centres are in the order of the leaves.
    page = (tmp_path / "d" / "index.html").read_text()
    assert "cancel an order" in page
    assert "in no group" in page


@pytest.mark.parametrize("most", [4_000, 100])
def test_levels_are_nested_and_there_are_two_to_four(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(levels_module, "MOST_IN_TREE", most)
    for count, levels in ((3, 1), (40, 2), (200, 3), (500, 4)):
        vectors, truth = planted(count, 3, noise=0.2)
        found = nest(centres_of(vectors, truth))
        assert len(found) == levels
        sizes = [len(set(level.tolist())) for level in found]
        assert sizes == sorted(sizes)
        assert sizes[-1] == count
        for above, below in pairwise(found):
            assert all(len(set(above[below == group].tolist())) == 1 for group in set(below.tolist()))


def test_a_damaged_discovery_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TurnloomError, match="holds no discovery"):
        load_discovery(tmp_path)
    messages, vectors, _ = said(8)
    save_discovery(discover(messages, vectors), tmp_path / "d")
    np.save(tmp_path / "d" / "centres.npy", np.zeros((1, 3)))
    with pytest.raises(TurnloomError, match="damaged"):
        load_discovery(tmp_path / "d")
    (tmp_path / "d" / "messages.parquet").write_bytes(b"no")
    with pytest.raises(TurnloomError, match="cannot be read"):
        load_discovery(tmp_path / "d")
