"""Short SGD user turns whose intent needs the history: with up to three earlier turns, and without.

Examples are user turns of the train split with the turns before them, twenty an intent. Tested are user turns of the
test split of at most four words that the train split has under two intents or more ("yes", "the first one"), of
intents that train knows.

Usage: TURNLOOM_DATA=... python -m studies.applications.intents_context MODEL [DRAWS]
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from typing import Any

import numpy as np

from studies.applications.intents_data import cached, mean
from studies.lib.figures import record
from turnloom.benchmarks.data import split_rows
from turnloom.intents import IntentClassifier

SHOTS, WORDS, TURNS, MOST = 20, 4, 3, 2_000
Talk = tuple[tuple[str, ...], str]


def user_turns(split: str) -> list[Talk]:
    """User turns with the turns before them, and their intent."""
    found = []
    for dialogue in split_rows("sgd", split):
        turns = [turn["text"] for turn in dialogue["turns"]]
        for place, turn in enumerate(dialogue["turns"]):
            if turn["speaker"] == "user" and turn.get("intent"):
                found.append((tuple(turns[max(place - TURNS, 0) : place + 1]), turn["intent"][0]))
    return found


def plain(text: str) -> str:
    return " ".join("".join(sign if sign.isalnum() else " " for sign in text.lower()).split())


def ambiguous(train: list[Talk], test: list[Talk]) -> list[Talk]:
    """Short test turns that train has under several intents."""
    intents = defaultdict(set)
    for turns, intent in train:
        intents[plain(turns[-1])].add(intent)
    known = {intent for _, intent in train}
    return [
        (turns, intent)
        for turns, intent in test
        if intent in known
        and len(turns) > 1
        and len(plain(turns[-1]).split()) <= WORDS
        and len(intents[plain(turns[-1])]) > 1
    ]


def draw(train: list[Talk], seed: int) -> list[Talk]:
    by_intent = defaultdict(list)
    for talk in train:
        by_intent[talk[1]].append(talk)
    rng = random.Random(seed)
    return [
        talk for name in sorted(by_intent) for talk in rng.sample(by_intent[name], min(SHOTS, len(by_intent[name])))
    ]


def accuracy(encoder: Any, examples: list[Talk], test: list[Talk], turns: int) -> float:
    classifier = IntentClassifier(encoder, context_turns=turns)
    classifier.fit([talk for talk, _ in examples], [intent for _, intent in examples])
    likeliest = classifier.classes_[classifier.predict_proba([talk for talk, _ in test]).argmax(axis=1)]
    return 100 * float(np.mean(likeliest == np.array([intent for _, intent in test])))


def main(model: str, draws: str = "3", most: str = str(MOST)) -> None:
    train, encoder = user_turns("train"), cached(model)
    test = ambiguous(train, user_turns("test"))
    test = random.Random(0).sample(test, min(int(most), len(test)))
    found: dict[int, list[float]] = {0: [], TURNS: []}
    for seed in range(int(draws)):
        examples = draw(train, seed)
        for turns, scores in found.items():
            scores.append(accuracy(encoder, examples, test, turns))
        print(f"draw {seed}, {len(test)} turns: " + str({turns: scores[-1] for turns, scores in found.items()}))
    without, with_ = mean(found[0]), mean(found[TURNS])
    record(
        "applications",
        {
            "context_gain_points": with_ - without,
            "context_accuracy_with": with_,
            "context_accuracy_without": without,
        },
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
