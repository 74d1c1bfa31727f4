"""CLINC150 with ten examples an intent: ours, SetFit and a linear head, at 10 % false rejects.

All thresholds come from the drawn training examples: ours from examples left out, the others from cross-validation of
their largest probability. Since what is asked for is not met exactly by all, recall is also given where each rejects
exactly 10 % of the in-scope test messages (`*_at_equal_reject`).

SetFit takes minutes for each of its fits: it has the first draw only, beside three of the others.

Usage: TURNLOOM_DATA=... python -m studies.applications.intents_accuracy MODEL MINILM [DRAWS [SETFIT_DRAWS]]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from studies.applications.intents_data import SHOTS, cached, intent_set, mean
from studies.lib.figures import record
from turnloom.benchmarks.data import Labelled
from turnloom.intents import IntentClassifier

RATE = 0.1
PAIRS, BATCH = 20_000, 16
Floats = npt.NDArray[np.float64]
Probabilities = Callable[[list[str]], Floats]


def scores(right: npt.NDArray[np.bool_], inside: Floats, outside: Floats, threshold: float) -> dict[str, float]:
    """In-scope accuracy counts a rejected message as wrong."""
    return {
        "clinc150_in_accuracy": 100 * float((right & (inside >= threshold)).mean()),
        "clinc150_in_accuracy_before_reject": 100 * float(right.mean()),
        "clinc150_oos_recall": 100 * float((outside < threshold).mean()),
        "clinc150_false_reject": 100 * float((inside < threshold).mean()),
        "clinc150_oos_recall_at_equal_reject": 100 * float((outside < np.quantile(inside, RATE)).mean()),
    }


def ours(encoder: Any, examples: Labelled, test: Labelled, outside: list[str]) -> dict[str, float]:
    classifier = IntentClassifier(encoder, false_reject_rate=RATE).fit(examples.texts, examples.labels)
    answers = classifier.answer(test.texts, examples=0)
    right = np.array([answer.candidates[0].intent == label for answer, label in zip(answers, test.labels, strict=True)])
    away = [answer.familiarity for answer in classifier.answer(outside, examples=0)]
    inside = np.array([answer.familiarity for answer in answers])
    return scores(right, inside, np.array(away), classifier.scope.threshold)


def by_probability(
    fit: Callable[[Labelled], Probabilities], folds: int, examples: Labelled, test: Labelled, outside: list[str]
) -> dict[str, float]:
    """A classifier whose scope is its largest probability, thresholded on held-out folds."""
    places = np.arange(len(examples)) % SHOTS % folds  # Examples of an intent stand together.
    held: list[float] = []
    for fold in range(folds):
        parts = [np.flatnonzero(places != fold), np.flatnonzero(places == fold)]
        known, left = (
            Labelled([examples.texts[n] for n in part], [examples.labels[n] for n in part]) for part in parts
        )
        held += fit(known)(left.texts).max(axis=1).tolist()
    predict = fit(examples)
    names = np.array(sorted(set(examples.labels)))
    chance = predict(test.texts)
    right = names[chance.argmax(axis=1)] == np.array(test.labels)
    return scores(right, chance.max(axis=1), predict(outside).max(axis=1), float(np.quantile(held, RATE)))


def linear(encoder: Any) -> Callable[[Labelled], Probabilities]:
    from sklearn.linear_model import LogisticRegression

    def fit(known: Labelled) -> Probabilities:
        head = LogisticRegression(C=10, max_iter=300).fit(encoder.encode(known.texts), known.labels)
        return lambda texts: np.asarray(head.predict_proba(encoder.encode(texts)))

    return fit


def setfit(folder: str) -> Callable[[Labelled], Probabilities]:
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments

    def fit(known: Labelled) -> Probabilities:
        names = sorted(set(known.labels))
        rows = Dataset.from_dict({"text": known.texts, "label": [names.index(label) for label in known.labels]})
        model = SetFitModel.from_pretrained(folder)
        with tempfile.TemporaryDirectory() as out:
            arguments = TrainingArguments(out, batch_size=BATCH, max_steps=PAIRS // BATCH, report_to="none", seed=0)
            Trainer(model=model, args=arguments, train_dataset=rows).train()
        return lambda texts: np.asarray(model.predict_proba(texts, batch_size=64, as_numpy=True), np.float64)

    return fit


def main(model: str, minilm: str, draws: str = "3", setfit_draws: str = "1") -> None:
    data = intent_set("clinc150")
    encoder, start = cached(model), cached(minilm)
    found: dict[str, list[dict[str, float]]] = {"": [], "linear.": [], "setfit.": []}
    for seed in range(int(draws)):
        examples = data.draw(SHOTS, seed)
        found[""].append(ours(encoder, examples, data.test, data.outside))
        found["linear."].append(by_probability(linear(start), 10, examples, data.test, data.outside))
        if seed < int(setfit_draws):
            found["setfit."].append(by_probability(setfit(minilm), 2, examples, data.test, data.outside))
        print(seed, {name: rows[-1] for name, rows in found.items()})
    record(
        "applications",
        {f"{who}{name}": mean([row[name] for row in rows]) for who, rows in found.items() for name in rows[0]},
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
