"""Intents from a few examples, with a threshold that needs no out-of-scope examples, and what may be missing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from turnloom.benchmarks.baselines import TfIdf
from turnloom.intents import IntentClassifier

THINGS = ["lamp", "desk", "chair", "sofa", "shelf", "rug"]
ASKED = {
    "where_is_it": ["where is my {}", "has the {} been sent", "the {} has not arrived yet"],
    "send_back": ["how do i return the {}", "i want to send the {} back", "can i give the {} back"],
    "price": ["what does the {} cost", "is the {} on sale", "how much is the {}"],
}
NEW = [f"can you repair the {thing} please" for thing in THINGS]


def main() -> None:
    texts = [text.format(thing) for wordings in ASKED.values() for text in wordings for thing in THINGS[:4]]
    labels = [label for label, wordings in ASKED.items() for _ in wordings for _ in THINGS[:4]]
    # Any object with encode(texts) will do; a model's folder is the usual one.
    encoder = TfIdf([*texts, *NEW])
    classifier = IntentClassifier(encoder, false_reject_rate=0.05).fit(texts, labels)
    scope = classifier.scope
    print(f"{classifier.fitted.choice.method}; in scope from {scope.threshold:.2f} on, by {scope.source}")

    for answer in classifier.answer(["well, where is my sofa", "how much is the lamp?", "sing a song"], examples=1):
        likeliest = answer.candidates[0]
        print(answer.decision, f"{likeliest.intent} {likeliest.probability:.2f}", "like:", answer.nearest[0].text)

    # Messages that fit no intent, in groups: the name of the largest may be the next intent.
    for cluster in classifier.discover(NEW, min_size=3):
        print(f"{cluster.size} messages about {cluster.name!r}, such as {cluster.typical[0]!r}")

    # A new intent needs no training, and what is saved says which model it belongs to.
    classifier.partial_fit(NEW[:3], ["repair"] * 3)
    print("now:", classifier.predict(NEW[3:])[0])
    with tempfile.TemporaryDirectory() as folder:
        classifier.save(Path(folder) / "intents")
        again = IntentClassifier.load(Path(folder) / "intents", encoder)
        print("again:", again.predict(NEW[3:])[0])


if __name__ == "__main__":
    main()
