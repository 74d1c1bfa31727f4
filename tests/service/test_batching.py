"""The queue before a model: nothing mixed up, nothing lost, nothing computed for nobody."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.service.toy import Silent
from turnloom.service.admission import Admission, Work, _current
from turnloom.service.batching import Batcher
from turnloom.service.config import Batching, Limits


class Seen:
    def __init__(self) -> None:
        self.batches: list[tuple[int, int]] = []
        self.drops: list[str] = []
        self.waiting = 0

    def batch(self, model: str, items: int, tokens: int, seconds: float) -> None:
        self.batches.append((items, tokens))

    def queued(self, model: str, tokens: int) -> None:
        self.waiting = tokens

    def dropped(self, model: str, reason: str) -> None:
        self.drops.append(reason)


class Gate:
    """A model that computes only when it is let, and remembers what it was asked."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.started = threading.Event()
        self.calls: list[list[Any]] = []

    def __call__(self, kind: str, items: list[Any]) -> Sequence[Any]:
        self.calls.append(list(items))
        self.started.set()
        assert self.open.wait(10)
        if "poison" in items:
            raise ValueError("poison")
        return [f"{kind}:{item}" for item in items]


def test_requests_that_come_together_share_a_batch_and_kinds_do_not() -> None:
    gate, seen = Gate(), Seen()
    batcher = Batcher("m", gate, Batching(max_wait_ms=0), seen)
    first = batcher.submit("a", ["1"], [4])
    assert gate.started.wait(5)
    others = [batcher.submit(kind, [text], [4]) for kind, text in (("a", "2"), ("b", "3"), ("a", "4"))]
    gate.open.set()
    assert first.result(5) == ["a:1"]
    assert [other.result(5) for other in others] == [["a:2"], ["b:3"], ["a:4"]]
    assert gate.calls == [["1"], ["2", "4"], ["3"]]
    batcher.close()
    assert seen.waiting == 0


def test_a_lone_request_waits_no_longer_than_told() -> None:
    gate = Gate()
    gate.open.set()
    batcher = Batcher("m", gate, Batching(max_wait_ms=50), Seen())
    began = time.monotonic()
    batcher.submit("a", ["1"], [1]).result(5)
    assert 0.045 <= time.monotonic() - began < 2
    batcher.close()


def test_a_large_request_is_cut_and_lets_others_in_between() -> None:
    gate, seen = Gate(), Seen()
    batcher = Batcher("m", gate, Batching(max_batch_tokens=16, max_wait_ms=0), seen)
    large = batcher.submit("a", [str(number) for number in range(8)], [8] * 8)
    assert gate.started.wait(5)
    small = batcher.submit("a", ["small"], [8])
    gate.open.set()
    assert small.result(5) == ["a:small"]
    assert large.result(5) == [f"a:{number}" for number in range(8)]
    assert gate.calls[0] == ["0", "1"]
    assert "small" in gate.calls[1] + gate.calls[2]
    assert all(tokens <= 16 for _, tokens in seen.batches)
    batcher.close()


def test_what_nobody_waits_for_is_not_computed() -> None:
    gate, seen = Gate(), Seen()
    batcher = Batcher("m", gate, Batching(max_wait_ms=0), seen)
    first = batcher.submit("a", ["1"], [4])
    assert gate.started.wait(5)
    left = batcher.submit("a", ["left"], [4])
    stays = batcher.submit("a", ["stays"], [4])
    assert left.cancel()
    assert seen.waiting == 4
    gate.open.set()
    assert stays.result(5) == ["a:stays"]
    assert first.result(5) == ["a:1"]
    assert gate.calls == [["1"], ["stays"]]
    assert seen.drops == ["cancelled"]
    batcher.close()


def test_a_key_that_was_given_less_goes_first() -> None:
    gate = Gate()
    batcher = Batcher("m", gate, Batching(max_batch_tokens=16, max_wait_ms=0), Seen())
    large = [submit_as("greedy", batcher, [f"{job}.{number}" for number in range(4)], [8] * 4) for job in range(4)]
    assert gate.started.wait(5)
    small = submit_as("modest", batcher, ["small"], [8])
    gate.open.set()
    assert small.result(5) == ["a:small"]
    assert [job.result(5) for job in large] == [[f"a:{job}.{number}" for number in range(4)] for job in range(4)]
    assert "small" in gate.calls[1]
    batcher.close()


def submit_as(key: str, batcher: Batcher, items: list[str], sizes: list[int]) -> Any:
    admission = Admission(Limits(), Silent(), fair=True)

    def submit() -> Any:
        _current.set(Work(admission, key, "", 0, time.monotonic() + 60))
        return batcher.submit("a", items, sizes)

    return contextvars.copy_context().run(submit)


def test_short_texts_share_no_batch_with_long_ones_of_another_key() -> None:
    """A modest key's text was padded to 500 tokens and computed with four of these: p95 0.66 s beside a greedy key."""
    gate = Gate()
    batcher = Batcher("m", gate, Batching(max_wait_ms=0), Seen())
    jobs = [submit_as("greedy", batcher, ["g1"], [500])]
    assert gate.started.wait(5)
    jobs += [submit_as("greedy", batcher, ["g2", "g3"], [500, 500])]
    jobs += [submit_as(key, batcher, [text], [16]) for key, text in (("modest", "m1"), ("other", "o1"))]
    gate.open.set()
    for job in jobs:
        job.result(5)
    assert [sorted(call) for call in gate.calls] == [["g1"], ["m1", "o1"], ["g2", "g3"]]
    batcher.close()


def test_a_text_that_fails_fails_its_own_request_alone() -> None:
    gate = Gate()
    batcher = Batcher("m", gate, Batching(max_wait_ms=0), Seen())
    first = batcher.submit("a", ["1"], [4])
    assert gate.started.wait(5)
    good, bad = batcher.submit("a", ["good"], [4]), batcher.submit("a", ["poison"], [4])
    gate.open.set()
    assert good.result(5) == ["a:good"]
    with pytest.raises(ValueError, match="poison"):
        bad.result(5)
    assert first.result(5) == ["a:1"]
    assert batcher.alive
    batcher.close()


def test_closing_computes_what_waits() -> None:
    gate = Gate()
    batcher = Batcher("m", gate, Batching(max_wait_ms=0), Seen())
    futures = [batcher.submit("a", [str(number)], [600]) for number in range(6)]
    gate.open.set()
    batcher.close()
    assert [future.result(0) for future in futures] == [[f"a:{number}"] for number in range(6)]
    with pytest.raises(RuntimeError):
        batcher.submit("a", ["late"], [1])


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.integers(1, 40), min_size=1, max_size=6)), max_size=20),
    st.integers(16, 64),
)
def test_every_request_gets_its_own_answers_in_order(jobs: list[tuple[str, list[int]]], most: int) -> None:
    gate, seen = Gate(), Seen()
    gate.open.set()
    options = Batching(max_batch_tokens=most, max_wait_ms=0)
    batcher = Batcher("m", gate, options, seen)
    futures = [
        (kind, number, sizes, batcher.submit(kind, [f"{number}.{place}" for place in range(len(sizes))], sizes))
        for number, (kind, sizes) in enumerate(jobs)
    ]
    for kind, number, sizes, future in futures:
        assert future.result(5) == [f"{kind}:{number}.{place}" for place in range(len(sizes))]
    batcher.close()
    assert seen.waiting == 0
    assert sum(items for items, _ in seen.batches) == sum(len(sizes) for _, sizes in jobs)
    assert all(tokens <= most or items == 1 for items, tokens in seen.batches)
