"""Left-out scores against classifiers that really are made anew without the example."""

from __future__ import annotations

import tracemalloc

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.intents.toy import Topics, examples_of, names
from turnloom.intents.examples import Examples
from turnloom.intents.scope import left_out_familiarity
from turnloom.intents.scores import Spread, class_scores, left_out_scores, scores_as_if_new
from turnloom.runtime.protocols import unit_rows

Vectors = npt.NDArray[np.float32]


def naive_scores(vector: Vectors, examples: Examples, neighbours: int | None) -> list[float]:
    """One intent after the other, as the definition says."""
    found = []
    for column in range(len(examples.intents)):
        own = examples.vectors[examples.member[:, column]]
        if not len(own):
            found.append(float("nan"))
        elif neighbours is None:
            mean = own.mean(axis=0)
            found.append(float(vector @ mean / np.linalg.norm(mean)))
        else:
            found.append(float(np.sort(own @ vector)[::-1][:neighbours].mean()))
    return found


@st.composite
def labelled_vectors(draw: st.DrawFn) -> Examples:
    """Up to twelve messages with one or several of up to four intents; every intent has an example."""
    intents = draw(st.integers(1, 4))
    count = draw(st.integers(intents, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    member = rng.random((count, intents)) < 0.4
    member[np.arange(count), np.arange(count) % intents] = True
    vectors = unit_rows(rng.standard_normal((count, 6)))
    return Examples(tuple((f"m{n}",) for n in range(count)), vectors, tuple(names(intents)), member)


@given(labelled_vectors(), st.sampled_from([None, 1, 2, 3]))
def test_left_out_is_a_classifier_made_without_the_example(examples: Examples, neighbours: int | None) -> None:
    places = np.arange(len(examples))
    found = left_out_scores(examples, places, neighbours)
    for place in places:
        expected = naive_scores(examples.vectors[place], examples.take(places != place), neighbours)
        assert found[place] == pytest.approx(expected, abs=2e-4, nan_ok=True)


@given(labelled_vectors(), st.sampled_from([None, 1, 2, 3]))
def test_scores_of_new_messages_are_as_defined(examples: Examples, neighbours: int | None) -> None:
    new = unit_rows(np.random.default_rng(1).standard_normal((3, 6)))
    found = class_scores(new, examples, neighbours)
    for row, vector in enumerate(new):
        assert found[row] == pytest.approx(naive_scores(vector, examples, neighbours), abs=1e-5)


@pytest.mark.parametrize("each", [2, 3])
@pytest.mark.parametrize("neighbours", [None, 1])
def test_as_if_new_is_what_new_messages_get(each: int, neighbours: int | None) -> None:
    topics = names(250)
    examples = examples_of(topics, each)
    places = np.arange(len(examples))
    new = examples_of(topics, 6, start=100)
    real = class_scores(new.vectors, examples, neighbours)[new.member]
    corrected = scores_as_if_new(examples, places, neighbours)[examples.member]
    plain = left_out_scores(examples, places, neighbours)[examples.member]
    assert corrected.mean() == pytest.approx(real.mean(), abs=0.012)
    assert plain.mean() < real.mean() - 0.015  # What is corrected is there to be corrected.
    assert abs(corrected.std() - real.std()) < abs(plain.std() - real.std())


def test_an_intent_without_examples_fits_nothing() -> None:
    examples = examples_of(names(3), 2)
    without = examples.take(~examples.member[:, 0])
    for neighbours in (None, 1, 2):
        scores = class_scores(examples.vectors, without, neighbours)
        assert (scores[:, 0] == -2).all()
        assert (scores[:, 1:] > -1.01).all()


def test_copies_under_one_label_count_once() -> None:
    vectors = unit_rows(np.eye(4, dtype=np.float32))
    turns = [("Hello there",), ("hello  there",), ("bye",), ("hello there",)]
    examples = Examples.of(turns, vectors, [("a",), ("a",), ("a",), ("b",)])
    assert examples.messages == (("Hello there",), ("bye",), ("hello there",))
    assert examples.counts.tolist() == [2, 1]
    assert examples.labels() == [("a",), ("a",), ("b",)]


def test_the_toy_encoder_has_topics() -> None:
    examples = examples_of(names(4), 5, encoder=Topics())
    assert class_scores(examples.vectors, examples, None).argmax(axis=1).tolist() == sorted([0, 1, 2, 3] * 5)


@given(labelled_vectors(), st.integers(1, 20))
def test_blocks_change_nothing(examples: Examples, block: int) -> None:
    places = np.arange(len(examples))

    def computed() -> tuple[Vectors, Spread]:
        return left_out_scores(examples, places, 1), Spread.of(examples, places)

    scores, spread = computed()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("turnloom.intents.scores.BLOCK", block)
        again = computed()
    np.testing.assert_allclose(again[0], scores, atol=1e-5)
    assert again[1] == pytest.approx(spread, abs=1e-6)


def test_many_examples_of_an_intent_take_little_memory() -> None:
    """All their pairs at once took 150 MB at 3,000, in every worker of a service and at each change."""
    count = 2_000
    vectors = unit_rows(np.random.default_rng(0).standard_normal((count, 6)))
    examples = Examples(tuple((f"m{n}",) for n in range(count)), vectors, ("a",), np.ones((count, 1), bool))
    tracemalloc.start()
    try:
        left_out_familiarity(examples, np.arange(count), np.ones(count))
        assert tracemalloc.get_traced_memory()[1] < 16e6
    finally:
        tracemalloc.stop()


@given(labelled_vectors())
def test_spread_is_that_of_similarities_within_the_first_intent(examples: Examples) -> None:
    first, similarities = examples.member.argmax(axis=1), examples.vectors @ examples.vectors.T
    each = [
        [similarities[row, other] for other in np.flatnonzero(examples.member[:, first[row]]) if other != row]
        for row in range(len(examples))
    ]
    together = np.concatenate([*map(np.asarray, each), np.zeros(0)])
    spread = Spread.of(examples, np.arange(len(examples)))
    total = together.var() if len(together) else 0.0
    assert sum(spread) == pytest.approx(total, abs=1e-5)
    several = [np.var(own, ddof=1) for own in each if len(own) > 1]
    expected = min(np.mean(several), total) if several else total / 2
    assert spread.within == pytest.approx(expected, abs=1e-5)
