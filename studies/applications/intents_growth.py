"""An intent added later, a label chosen well, and intents found again.

CLINC150: ten intents are kept away. (1) They are added to a logistic classifier without training: accuracy on them
and on the others beside learning everything at once. (2) They are hidden among test messages: how pure the discovered
groups are, and how many of the ten get one. (3) From five examples an intent, 300 more labels: the suggested ones
beside random ones.

Usage: TURNLOOM_DATA=... python -m studies.applications.intents_growth MODEL
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any

import numpy as np

from studies.applications.intents_data import SHOTS, IntentSet, cached, intent_set
from studies.lib.figures import record
from turnloom.benchmarks.data import Labelled, only_labels
from turnloom.intents import IntentClassifier

AWAY, FEW, MORE = 10, 5, 300


def likeliest(classifier: IntentClassifier, data: Labelled) -> float:
    said = classifier.classes_[classifier.predict_proba(data.texts).argmax(axis=1)]
    return 100 * float(np.mean(said == np.array(data.labels)))


def added_later(encoder: Any, data: IntentSet, away: set[str], rest: set[str]) -> dict[str, float]:
    examples = data.draw(SHOTS, 0)
    first, later = only_labels(examples, rest), only_labels(examples, away)
    classifier = IntentClassifier(encoder, method="logistic").fit(first.texts, first.labels)
    classifier.partial_fit(later.texts, later.labels)
    found = {}
    for name in ("added", "refitted"):
        found[f"later_{name}_new"] = likeliest(classifier, only_labels(data.test, away))
        found[f"later_{name}_known"] = likeliest(classifier, only_labels(data.test, rest))
        classifier.refit()
    return found


def discovered(encoder: Any, data: IntentSet, away: set[str], rest: set[str]) -> dict[str, float]:
    examples = only_labels(data.draw(SHOTS, 0), rest)
    classifier = IntentClassifier(encoder).fit(examples.texts, examples.labels)
    hidden = only_labels(data.test, away)
    given = hidden + only_labels(data.test, rest)
    clusters = classifier.discover(given.texts)
    best = [Counter(given.labels[place] for place in cluster.places).most_common(1)[0] for cluster in clusters]
    grouped = sum(cluster.size for cluster in clusters)
    return {
        "discover_purity": 100 * sum(count for _, count in best) / max(grouped, 1),
        "discover_intents_found": len({name for name, _ in best if name in away}),
    }


def suggested(encoder: Any, data: IntentSet) -> dict[str, float]:
    examples = data.draw(FEW, 0)
    taken = set(examples.texts)
    pool = [place for place, text in enumerate(data.train.texts) if text not in taken]
    classifier = IntentClassifier(encoder).fit(examples.texts, examples.labels)
    picked = [pool[each.place] for each in classifier.suggest_labels([data.train.texts[n] for n in pool], MORE)]
    found = {"labels_before": likeliest(classifier, data.test)}
    for name, places in (("suggested", picked), ("random", random.Random(0).sample(pool, MORE))):
        more = Labelled([data.train.texts[n] for n in places], [data.train.labels[n] for n in places])
        grown = examples + more
        found[f"labels_{name}"] = likeliest(IntentClassifier(encoder).fit(grown.texts, grown.labels), data.test)
    return found


def main(model: str) -> None:
    data, encoder = intent_set("clinc150"), cached(model)
    names = sorted(set(data.train.labels))
    away = set(random.Random(0).sample(names, AWAY))
    rest = set(names) - away
    figures = added_later(encoder, data, away, rest) | discovered(encoder, data, away, rest) | suggested(encoder, data)
    record("applications", figures)


if __name__ == "__main__":
    main(*sys.argv[1:])
