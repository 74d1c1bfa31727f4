from __future__ import annotations

import numpy as np
import pytest

from tests.discovery.toy import TOPICS, planted
from turnloom.discovery import Discovery, Messages, discover, load_discovery, save_discovery
from turnloom.discovery.drift import measure_drift, measure_intents
from turnloom.discovery.drift_page import drift_page
from turnloom.runtime.protocols import Vectors

VECTORS, TRUTH = planted(6, 80, noise=0.5)
"""The sixth topic is new."""
WORDINGS = [*TOPICS.values(), ["my app crashed", "the app has crashed", "app crashed again", "why has the app crashed"]]


def of(rows: list[int], each: int = 1) -> tuple[Messages, Vectors]:
    texts = [f"{WORDINGS[TRUTH[row]][row % 4].format('')} {row}" for row in rows]
    return Messages(texts, [""] * len(rows), np.full(len(rows), each), len(rows)), VECTORS[rows]


def rows_of(**counts: int) -> list[int]:
    found: list[int] = []
    for topic, count in counts.items():
        number = [*TOPICS, "crash"].index(topic)
        found += np.flatnonzero(number == TRUTH)[-count:].tolist()
    return found


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Discovery:
    rows = [row for topic in range(5) for row in np.flatnonzero(topic == TRUTH)[:60].tolist()]
    folder = tmp_path_factory.mktemp("drift") / "d"
    save_discovery(discover(*of(rows, each=4)), folder)
    return load_discovery(folder)


def test_groups_grow_shrink_appear_and_stay(old: Discovery) -> None:
    messages, vectors = of(rows_of(cancel=60, refund=4, invoice=25, address=35, parcel=25, crash=30), each=4)
    drift = measure_drift(old, messages, vectors)
    verdicts = {group.name: group.verdict for group in drift.groups}
    assert verdicts["cancel an order"] == "grew"
    assert verdicts["change an address"] == "steady"
    assert [group.verdict for group in drift.groups if "refund" in group.name] == ["shrank"]
    appeared = [group for group in drift.groups if group.verdict == "appeared"]
    assert len(appeared) == 1
    assert "app" in appeared[0].name
    assert appeared[0].old_size == 0
    assert appeared[0].new_size == pytest.approx(120, abs=8)
    assert drift.new_messages == 716
    assert drift.unfamiliar == pytest.approx(30 / 179, abs=0.08)
    changes = [abs(group.new_share - group.old_share) for group in drift.groups]
    assert changes == sorted(changes, reverse=True)
    page = drift_page(drift)
    assert "Appeared" in page
    assert "Grew" in page
    assert "Disappeared" not in page


def test_the_same_messages_change_nothing(old: Discovery) -> None:
    rows = [row for topic in range(5) for row in np.flatnonzero(topic == TRUTH)[:60].tolist()]
    drift = measure_drift(old, *of(rows, each=4))
    assert {group.verdict for group in drift.groups} == {"steady"}
    assert drift.unfamiliar < 0.06
    assert "Nothing changed" in drift_page(drift)


def test_a_group_that_nobody_asks_for_disappears(old: Discovery) -> None:
    messages, vectors = of(rows_of(cancel=60, refund=60, invoice=60, address=60), each=4)
    drift = measure_drift(old, messages, vectors)
    assert [group.name for group in drift.groups if group.verdict == "disappeared"] == ["parcel late"]


def test_intents_that_lost_confidence_come_first() -> None:
    before, now = (
        Messages([f"{when} {n}" for n in range(40)], [""] * 40, np.ones(40, np.int64)) for when in ("a", "b")
    )

    def answer(texts: list[str]) -> list[tuple[str, float]]:
        sure = 0.9 if texts[0].startswith("a") else 0.6
        return [("refund", sure + n % 5 / 100) if n % 2 else ("cancel", 0.8 + n % 5 / 100) for n in range(len(texts))]

    changes = measure_intents(answer, before, now)  # type: ignore[arg-type]
    assert [(change.intent, change.lost) for change in changes] == [("refund", True), ("cancel", False)]
    assert changes[0].old_confidence == pytest.approx(0.92)
    assert changes[0].new_confidence == pytest.approx(0.62)
    assert changes[0].old_share == 0.5
