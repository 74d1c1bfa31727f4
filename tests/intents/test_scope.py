"""Thresholds do to new messages what was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.intents.toy import Topics, examples_of, messages, names
from turnloom.errors import TurnloomError
from turnloom.intents import IntentClassifier
from turnloom.intents.examples import Examples
from turnloom.intents.fitted import Options, Unlabelled, fit
from turnloom.intents.scope import Rate

TOPICS = names(80)


def rejected(examples: Examples, new: Examples, options: Options) -> float:
    fitted = fit(examples, options, Unlabelled(), Unlabelled())
    assert fitted.scope.source == "left-out examples"
    return float((Unlabelled(new.messages, new.vectors).familiarity(examples) < fitted.scope.threshold).mean())


@pytest.mark.parametrize("each", [3, 5, 10])
@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_false_reject_is_what_was_asked_for(each: int, rate: float) -> None:
    options = Options(method="prototypes", false_reject_rate=rate)
    new = examples_of(TOPICS, 25, start=1000)
    found = [rejected(examples_of(TOPICS, each, start=100 * draw), new, options) for draw in range(4)]
    assert np.mean(found) == pytest.approx(rate, abs=0.03)


def test_intents_with_one_example_borrow_from_the_others() -> None:
    options = Options(method="prototypes", false_reject_rate=0.1, frequencies=dict.fromkeys(TOPICS, 1.0))
    new = examples_of(TOPICS, 25, start=1000)
    found = []
    for draw in range(4):
        whole = examples_of(TOPICS, 4, start=100 * draw)
        single = np.array([int(turns[0].rpartition(" ")[2]) % 100 == 0 for turns in whole.messages])
        first_half = whole.member[:, :40].any(axis=1)
        found.append(rejected(whole.take(single | first_half), new, options))
    assert np.mean(found) == pytest.approx(0.1, abs=0.03)


def test_single_examples_are_called_a_guess() -> None:
    fitted = fit(examples_of(TOPICS, 1), Options(), Unlabelled(), Unlabelled())
    assert fitted.scope.source == "single examples"
    assert fitted.choice.method == "prototypes"


def test_rates_hold_for_the_frequencies_that_were_said() -> None:
    topics = [*names(40), *names(40, "wide")]
    frequencies = {topic: 9.0 if topic.startswith("wide") else 1.0 for topic in topics}
    new = examples_of(topics, 20, start=1000)
    said, equal = [], []
    for draw in range(3):
        examples = examples_of(topics, 6, start=100 * draw)
        for options, found in (
            (Options(method="prototypes", frequencies=frequencies), said),
            (Options(method="prototypes"), equal),
        ):
            scope = fit(examples, options, Unlabelled(), Unlabelled()).scope
            low = Unlabelled(new.messages, new.vectors).familiarity(examples) < scope.threshold
            wide = np.array([turns[0].startswith("wide") for turns in new.messages])
            found.append(0.9 * low[wide].mean() + 0.1 * low[~wide].mean())
    assert np.mean(said) == pytest.approx(0.1, abs=0.03)
    assert np.mean(equal) > 0.13  # Without being told, it cannot know.


def test_held_out_messages_set_the_threshold() -> None:
    texts, labels = messages(names(10), 3)
    held = messages(names(10), 20, start=50)[0]
    classifier = IntentClassifier(Topics(), false_reject_rate=0.2).fit(texts, labels, held_out=held)
    assert classifier.scope.source == "held-out messages"
    low = [answer.familiarity < classifier.scope.threshold for answer in classifier.answer(held, examples=0)]
    assert np.mean(low) == pytest.approx(0.2, abs=0.01)
    assert classifier.scope.false_reject.low < 0.2 < classifier.scope.false_reject.high


@pytest.mark.parametrize(("rate", "let_in"), [(0.0, 0), (0.05, 0), (0.1, 1), (0.2, 3), (0.5, 9)])
def test_false_accept_is_bounded_by_out_of_scope_examples(rate: float, let_in: int) -> None:
    texts, labels = messages(names(10), 3)
    outside = [f"elsewhere{number} 0" for number in range(19)]
    classifier = IntentClassifier(Topics(), false_accept_rate=rate).fit(texts, labels, out_of_scope=outside)
    found = [answer.decision != "out_of_scope" for answer in classifier.answer(outside)]
    assert sum(found) == let_in  # One less than rate * 20: the expected share among new ones is the rate.
    assert classifier.scope.false_accept is not None
    assert classifier.scope.false_accept.rate == pytest.approx(let_in / 19)


def test_false_accept_needs_messages_to_measure_it() -> None:
    with pytest.raises(TurnloomError, match="false_accept_rate needs out-of-scope messages"):
        IntentClassifier(Topics(), false_accept_rate=0.1).fit(*messages(names(3), 3))


def test_intervals_are_clopper_pearson() -> None:
    found = Rate.of(0.0, 10)
    assert (found.low, found.high) == (0.0, pytest.approx(0.3085, abs=1e-4))
    found = Rate.of(0.5, 10)
    assert (found.low, found.high) == (pytest.approx(0.1871, abs=1e-4), pytest.approx(0.8129, abs=1e-4))


def test_rank_is_the_share_of_less_familiar_messages() -> None:
    scope = fit(examples_of(TOPICS, 5), Options(method="prototypes"), Unlabelled(), Unlabelled()).scope
    assert float(scope.rank(np.array([scope.threshold]))[0]) == pytest.approx(0.1, abs=0.01)
    assert scope.rank(np.array([-1.0, 1.0])).tolist() == [0.0, 1.0]
