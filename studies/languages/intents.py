"""Intents from their names alone: Chinese ones in Chinese, and English ones found by messages in other languages.

Usage: TURNLOOM_DATA=... python -m studies.languages.intents --cache FOLDER

`wishes.yaml` has ten intents with English names, and messages in German, Spanish, Chinese and English: half of them are
logs without labels, half are asked about. Of JDDC, the twelve topics with most messages in both files are intents, by
their published Chinese names; all of its dev file are logs, and messages of its test file are asked about. Nothing is
chosen by these scores.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from studies.lib.figures import record
from turnloom.benchmarks.cache import CachedEncoder
from turnloom.benchmarks.data import rows
from turnloom.intents import IntentClassifier
from turnloom.runtime import load_encoder

FROZEN = "universal-sentence-encoder"
LANGUAGES = ("en", "de", "es", "zh")
LOGS, TOPICS, RESAMPLES = 4, 12, 2_000
SHOTS_SEEDS = (0, 1, 2, 3, 4)


def hits(classifier: IntentClassifier, texts: Sequence[str], labels: Sequence[str]) -> np.ndarray[Any, Any]:
    """Whether each message's most likely intent is its own."""
    answers = classifier.answer(list(texts), examples=0)
    return np.array([one.candidates[0].intent == label for one, label in zip(answers, labels, strict=True)], float)


def interval(right: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The 95 % interval of a share, in percent, by a bootstrap over messages."""
    draw = np.random.default_rng(0).integers(0, len(right), (RESAMPLES, len(right)))
    low, high = np.quantile(100 * right[draw].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def named(right: np.ndarray[Any, Any], name: str) -> dict[str, float]:
    low, high = interval(right)
    return {name: 100 * float(right.mean()), f"{name}_low": low, f"{name}_high": high}


def across_languages(encoder: CachedEncoder) -> dict[str, float]:
    """English names; logs of all languages together, as a team with several of them has them."""
    wishes = yaml.safe_load(Path(__file__).with_name("wishes.yaml").read_text(encoding="utf-8"))
    logs = [text for said in wishes.values() for language in LANGUAGES for text in said[language][:LOGS]]
    found: dict[str, float] = {}
    for kind, pool in (("name", ()), ("name_and_logs", logs)):
        classifier = IntentClassifier(encoder).fit(names=list(wishes), pool=pool)
        others = []
        for language in LANGUAGES:
            asked = [(text, intent) for intent, said in wishes.items() for text in said[language][LOGS:]]
            right = hits(classifier, *zip(*asked, strict=True))
            found |= named(right, f"cross.{language}_{kind}")
            others += [right] if language != "en" else []
        found |= named(np.concatenate(others), f"cross.{kind}")
    return found | {"cross.intents": len(wishes), "cross.messages": len(wishes) * (len(LANGUAGES) - 1) * (8 - LOGS)}


def chinese_topics() -> tuple[list[str], list[str], list[tuple[str, str]], list[tuple[str, str]]]:
    """JDDC's topics, the logs, and the labelled messages of its dev and test files."""
    known = {
        split: [(row["text"], row["topic"]) for row in rows("dialoguecse_jddc", f"{split}.select")]
        for split in ("dev", "test")
    }
    counts = {split: Counter(topic for _, topic in said) for split, said in known.items()}
    least = {topic: min(counts["dev"][topic], count) for topic, count in counts["test"].items() if topic}
    topics = sorted(least, key=lambda topic: (-least[topic], topic))[:TOPICS]
    logs = list(dict.fromkeys(text for text, _ in known["dev"]))
    dev, test = ([each for each in dict(known[split]).items() if each[1] in topics] for split in ("dev", "test"))
    return topics, logs, dev, [each for each in test if each[0] not in set(logs)]


def in_chinese(encoder: CachedEncoder) -> dict[str, float]:
    """Names alone, with logs, with one example, and with all three."""
    topics, logs, dev, test = chinese_topics()
    texts, labels = zip(*test, strict=True)
    found: dict[str, float] = {"chinese.intents": len(topics), "chinese.messages": len(test), "chinese.logs": len(logs)}
    for kind, pool in (("name", ()), ("name_and_logs", logs)):
        found |= named(hits(IntentClassifier(encoder).fit(names=topics, pool=pool), texts, labels), f"chinese.{kind}")
    each: dict[str, list[np.ndarray[Any, Any]]] = {"example": [], "name_example_and_logs": []}
    for seed in SHOTS_SEEDS:
        order = np.random.default_rng(seed).permutation(len(dev))
        examples = {dev[place][1]: dev[place][0] for place in order}
        shown = (list(examples.values()), list(examples))
        each["example"].append(hits(IntentClassifier(encoder).fit(*shown, names=False), texts, labels))
        rest = [text for text in logs if text not in examples.values()]
        each["name_example_and_logs"].append(hits(IntentClassifier(encoder).fit(*shown, pool=rest), texts, labels))
    for kind, draws in each.items():
        found |= named(np.mean(draws, axis=0), f"chinese.{kind}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path, required=True)
    encoder = CachedEncoder(load_encoder(FROZEN), parser.parse_args().cache)
    record("languages", {**across_languages(encoder), **in_chinese(encoder)})


if __name__ == "__main__":
    main()
