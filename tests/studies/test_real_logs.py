"""The figures of a rating sheet, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from studies.lib.agreement import agreement
from studies.onboarding.real_logs import rated


def answers(replies: str, groups: str) -> dict[str, Any]:
    said = {"f": "fits", "h": "harmless", "w": "wrong", "y": "yes", "n": "no"}
    both = [{"coherent": said[one], "readable": said[two]} for one, two in groups.split()]
    return {
        "replies": {str(item): said[letter] for item, letter in enumerate(replies)},
        "groups": {str(item): one for item, one in enumerate(both)},
    }


def test_figures_are_means_of_both_raters() -> None:
    key = ["suggested", "true", "suggested", "suggested", "suggested"]
    found = rated(key, [answers("ffhwf", "yy yn"), answers("fwfwf", "yy ny")])
    assert found["replies_rated"] == 4
    assert found["replies_rated_fit_percent"] == pytest.approx(100 * 5 / 8)
    assert found["replies_rated_wrong_percent"] == pytest.approx(25)
    assert found["true_replies_rated_fit_percent"] == pytest.approx(50)
    assert found["groups_rated_coherent_percent"] == pytest.approx(75)
    assert found["names_rated_readable_percent"] == pytest.approx(75)
    assert found["replies_rated_agreement"] == pytest.approx(60)
    assert found["groups_rated_agreement"] == pytest.approx(50)


def test_every_reply_must_be_rated() -> None:
    with pytest.raises(AssertionError, match="every reply"):
        rated(["suggested", "true"], [answers("f", "yy"), answers("ff", "yy")])


def test_kappa_is_what_is_beyond_chance() -> None:
    first = dict(enumerate("yyyyynnnnn"))
    second = dict(enumerate("yyyynnnnny"))
    same, kappa = agreement({str(k): v for k, v in first.items()}, {str(k): v for k, v in second.items()})
    assert same == pytest.approx(0.8)
    assert kappa == pytest.approx((0.8 - 0.5) / 0.5)
    assert agreement({"0": "y"}, {"0": "y"}) == (1.0, 1.0)
