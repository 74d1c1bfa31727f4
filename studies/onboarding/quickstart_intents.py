"""How many new messages the intents that `turnloom quickstart` drafts turn away, and how many foreign ones they let in.

Usage: TURNLOOM_DATA=FOLDER python -m studies.onboarding.quickstart_intents MODEL… [--cache FOLDER]

The protocol is in README.md. Figures are those of the first model; results of all are in
results.json.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studies.lib.figures import record
from studies.lib.results import Results
from turnloom.benchmarks import CachedEncoder
from turnloom.benchmarks.data import rows
from turnloom.intents import IntentClassifier
from turnloom.intents.discover import draft_intents, group_messages, smallest_group
from turnloom.runtime import load_encoder

CONVERSATIONS, HELD_OUT = 5_000, 0.15
SEEDS = range(3, 6)
"""Draws that were not looked at while the draft was designed; 0 to 2 were."""
TYPICAL = 20
"""Most typical members of each group, as the only examples: what the draft did before, for comparison."""
FOREIGN = {"banking77": ("banking77", "test"), "clinc150_oos": ("clinc150", "oos_test")}

Vectors = npt.NDArray[np.float32]


def openings(seed: int) -> tuple[list[str], list[str]]:
    """First messages of airline threads, to draft from and held out; none is in both."""
    threads = list(rows("twitter_airlines_twacs", "all"))
    drawn = random.Random(seed).sample(threads, CONVERSATIONS)
    texts = list(dict.fromkeys(thread["turns"][0]["text"] for thread in drawn))
    cut = round(len(texts) * (1 - HELD_OUT))
    return texts[:cut], texts[cut:]


def known_places(train: int, together: Sequence[Sequence[int]], drafted: Sequence[Sequence[int]]) -> list[int]:
    """Held-out messages of groups, made of all messages, whose other members are mostly of one drafted group."""
    group_of = {place: number for number, places in enumerate(drafted) for place in places}
    found: list[int] = []
    for places in together:
        seen = [group_of.get(place, -1) for place in places if place < train]
        most = max((seen.count(number) for number in set(seen) - {-1}), default=0)
        if most > len(seen) / 2:
            found += [place for place in places if place >= train]
    return sorted(found)


def groups(texts: Sequence[str], vectors: Vectors) -> list[tuple[int, ...]]:
    """The places of groups, cut as the draft cuts them."""
    messages = [(text,) for text in texts]
    return [group.places for group in group_messages(messages, vectors, min_size=smallest_group(len(texts)))]


def accepted(classifier: IntentClassifier, texts: Sequence[str]) -> float:
    """The percentage of messages that are not out of scope."""
    answers = classifier.answer(list(texts), examples=0)
    return 100 * float(np.mean([answer.decision != "out_of_scope" for answer in answers]))


def measure(encoder: CachedEncoder, seed: int) -> dict[str, float]:
    """One draw: rates in percent, and how many messages they are of."""
    train, held = openings(seed)
    both = [*train, *held]
    vectors = encoder.encode(both)
    drafted = groups(train, vectors[: len(train)])
    known = known_places(len(train), groups(both, vectors), drafted)
    draft = draft_intents(train, vectors[: len(train)])
    texts, labels = zip(*draft.examples, strict=True)
    classifier = IntentClassifier(encoder).fit(texts, labels, held_out=draft.wordings)
    central = [(train[place], str(number)) for number, places in enumerate(drafted) for place in places[:TYPICAL]]
    tight = IntentClassifier(encoder).fit([text for text, _ in central], [label for _, label in central])
    inside = [both[place] for place in known]
    found = {
        "intents": float(len(drafted)),
        "held_out": float(len(held)),
        "held_out_known": float(len(known)),
        "false_reject": 100 - accepted(classifier, inside),
        "false_reject_typical": 100 - accepted(tight, inside),
        "other_held_out_accept": accepted(classifier, sorted(set(held) - set(inside))),
    }
    for name, source in FOREIGN.items():
        foreign = [row["text"] for row in rows(*source)]
        found[f"{name}_accept"] = accepted(classifier, foreign)
        found[f"{name}_accept_typical"] = accepted(tight, foreign)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "turnloom-embeddings")
    given = parser.parse_args()
    results: dict[str, Any] = {}
    for model in given.models:
        encoder = CachedEncoder(load_encoder(model), given.cache)
        draws = [measure(encoder, seed) for seed in SEEDS]
        means = {name: round(float(np.mean([draw[name] for draw in draws])), 2) for name in draws[0]}
        results[model.name] = {"mean": means, "draws": draws}
        print(model.name, json.dumps(means), flush=True)
    Results("onboarding").put("quickstart_intents", results)
    first = results[given.models[0].name]["mean"]
    record(
        "onboarding",
        {
            "quickstart_false_reject_percent": first["false_reject"],
            "quickstart_foreign_accept_percent": first["banking77_accept"],
        },
    )


if __name__ == "__main__":
    main()
