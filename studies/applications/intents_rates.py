"""Do thresholds do what was asked for, and do probabilities mean what they say?

For 2, 3, 5 and 10 examples an intent, on three sets: the share of in-scope test messages that is rejected beside the
rate that was asked for, means over draws. `false_reject_error_max` is the largest distance in points with ten
examples, over sets and rates; the threshold knows how often intents occur in the training split (`frequencies`), and
the figure without that stands beside it. With out-of-scope examples: the share let in, with the interval that the
classifier itself gives.

Usage: TURNLOOM_DATA=... python -m studies.applications.intents_rates MODEL [DRAWS]
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from studies.applications.intents_data import DRAWS, FILES, SHOTS, IntentSet, cached, intent_set, mean
from studies.lib.figures import record
from turnloom.intents import IntentClassifier, evaluate

RATES = (0.05, 0.1, 0.2)
ACCEPT_RATE = 0.1


def rejected(classifier: IntentClassifier, data: IntentSet, seed: int, shots: int, rate: float) -> dict[str, Any]:
    examples = data.draw(shots, seed)
    classifier.set_params(false_reject_rate=rate).fit(examples.texts, examples.labels)
    return evaluate(classifier, data.test.texts, data.test.labels)


def reject_errors(encoder: Any, data: IntentSet, shots: int, draws: int, frequencies: bool) -> list[float]:
    """For each rate, how far the mean over draws is from it, in points."""
    known = data.frequencies() if frequencies else None
    errors = []
    for rate in RATES:
        classifier = IntentClassifier(encoder, method="prototypes", frequencies=known)
        found = [rejected(classifier, data, seed, shots, rate)["false_reject"]["rate"] for seed in range(draws)]
        errors.append(100 * (mean(found) - rate))
    print(data.name, shots, "with" if frequencies else "without", "frequencies", np.round(errors, 2))
    return errors


def calibration(encoder: Any, data: IntentSet, draws: int) -> float:
    classifier = IntentClassifier(encoder, frequencies=data.frequencies())
    found = [rejected(classifier, data, seed, SHOTS, 0.1)["expected_calibration_error"] for seed in range(draws)]
    print(data.name, "calibration error", np.round(found, 4))
    return mean(found)


def shuffled(data: IntentSet) -> IntentSet:
    """Known and tested out-of-scope messages dealt anew: the known are then like the tested ones."""
    pool = [*data.outside_known, *data.outside]
    random.Random(0).shuffle(pool)
    known = len(data.outside_known)
    return replace(data, name=f"{data.name}_shuffled", outside_known=pool[:known], outside=pool[known:])


def false_accept(encoder: Any, data: IntentSet, draws: int) -> dict[str, float]:
    """Asked for 10 %: what is let in, and how often that lies in the interval that was said."""
    rates, inside = [], []
    for seed in range(draws):
        examples = data.draw(SHOTS, seed)
        classifier = IntentClassifier(encoder, method="prototypes", false_accept_rate=ACCEPT_RATE)
        classifier.fit(examples.texts, examples.labels, out_of_scope=data.outside_known)
        said = classifier.scope.false_accept
        assert said is not None
        found = evaluate(classifier, data.outside, ["oos"] * len(data.outside))["false_accept"]
        rates.append(100 * found["rate"])
        inside.append(said.low <= found["high"] and found["low"] <= said.high)
    return {
        f"{data.name}_false_accept_at_10": mean(rates),
        f"{data.name}_false_accept_within_interval": mean(inside),
    }


def main(model: str, draws: str = str(DRAWS)) -> None:
    encoder, count = cached(model), int(draws)
    figures: dict[str, float] = {}
    largest: dict[bool, list[float]] = {True: [], False: []}
    errors = []
    for name in FILES:
        data = intent_set(name)
        for shots in (2, 3, 5, SHOTS):
            found = reject_errors(encoder, data, shots, count, True)
            figures[f"{name}_false_reject_error_max_{shots}shot"] = max(map(abs, found))
        largest[True].append(figures[f"{name}_false_reject_error_max_{SHOTS}shot"])
        largest[False].append(max(map(abs, reject_errors(encoder, data, SHOTS, count, False))))
        errors.append(calibration(encoder, data, count))
        figures[f"{name}_ece_in_scope"] = errors[-1]
        if data.outside_known:
            figures |= false_accept(encoder, data, count) | false_accept(encoder, shuffled(data), count)
    figures["false_reject_error_max"] = max(largest[True])
    figures["false_reject_error_max_without_frequencies"] = max(largest[False])
    figures["ece_in_scope"] = max(errors)
    record("applications", figures)


if __name__ == "__main__":
    main(*sys.argv[1:])
