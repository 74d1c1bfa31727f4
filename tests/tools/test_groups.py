"""Tests that share what takes long to make, or a cluster, run in one process of pytest-xdist."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("ray")
def test_groups_are_kept_together(request: pytest.FixtureRequest) -> None:
    """A release of pytest split them once, without a word: clusters met, and everything shared was made three times."""
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("all tests run in one process, or groups were not asked for")
    assert request.node.nodeid.endswith("@ray")
