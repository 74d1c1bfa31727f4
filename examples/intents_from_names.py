"""Intents from their names and unlabelled messages, without a single labelled example.

Usage: python examples/intents_from_names.py [MODEL]
"""

from __future__ import annotations

import sys
from pathlib import Path

from turnloom.intents import IntentClassifier

MODEL = Path(__file__).parents[1] / "models" / "turnloom-mini"
THINGS = ["lamp", "desk", "chair", "sofa", "shelf", "rug", "mirror", "bed"]
NAMES = {"track_order": "where is my parcel", "return_item": None, "price": "what does it cost"}
LOGS = [
    "where is my {}",
    "the {} has not arrived yet",
    "when will you deliver the {}",
    "how do i send the {} back",
    "the {} is too large, can i give it back",
    "is the {} on sale",
    "how much is the {}",
]


def main(model: str = str(MODEL)) -> None:
    logs = [text.format(thing) for text in LOGS for thing in THINGS]
    classifier = IntentClassifier(model).fit(names=NAMES, pool=logs)
    report = classifier.pool_report
    assert report is not None
    print(f"{report.believed} of {report.used} messages clearly have an intent: {dict(report.strengthened)}")
    for answer in classifier.answer(["where is my wardrobe", "can i return the cupboard", "tell me a joke"]):
        likeliest = answer.candidates[0]
        print(answer.decision, f"{likeliest.intent} {likeliest.probability:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
