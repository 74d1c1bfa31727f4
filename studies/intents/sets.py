"""Labelled messages, drawn examples and unlabelled pools, clean and messy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import yaml

from turnloom.benchmarks.data import (
    Labelled,
    codes_of,
    hashed_parts,
    label_codes,
    labelled,
    rows,
    split_pool,
    split_rows,
)
from turnloom.benchmarks.suites import INTENTS

Codes = npt.NDArray[np.int64]
Split = Literal["validation", "test"]
AIRLINE = "twitter_airlines_twacs"
HELD_OUT_SETS = ("dstc11_intent", "bitext_support")
VALIDATION = {"clinc150": "val", "hwu64": "valid", "snips": "valid"}
MESSY = ("half foreign", "zipf", "both", "small")
POOLS = ("clean", *MESSY)
LARGE, SMALL, FOREIGN = 8_000, 300, 4_000


@dataclass(frozen=True)
class IntentSet:
    """Messages to draw examples and pools from, and messages to measure on.

    Attributes:
        name: The set's name.
        train: Messages to draw examples from, and pools unless there are others.
        test: Messages to measure on.
        outside: Messages that fit no intent.
        unlabelled: Other messages to draw pools from.
        descriptions: What intents are called; by default the words of their labels.
    """

    name: str
    train: Labelled
    test: Labelled
    outside: list[str]
    unlabelled: list[str] = field(default_factory=list)
    descriptions: dict[str, str] = field(default_factory=dict)

    @property
    def intents(self) -> list[str]:
        """All labels, sorted."""
        return label_codes(self.train.labels)[0]

    @property
    def codes(self) -> Codes:
        """The number of each training message's label."""
        return label_codes(self.train.labels)[1]

    @property
    def truths(self) -> Codes:
        """The number of each test message's label."""
        return codes_of(self.test.labels, self.intents)


def read_set(name: str, split: Split) -> IntentSet:
    """Read a set; BANKING77 has no validation split, so an eighth of its training messages is one."""
    if split == "test":
        pool = split_pool(name)
        outside = labelled(name, "oos_test").texts if name == "clinc150" else []
        return IntentSet(name, pool.train, pool.test, outside)
    if name in VALIDATION:
        train, test = labelled(name, "train"), labelled(name, VALIDATION[name])
    else:
        test, *rest = hashed_parts("validation", labelled(name, "train"), 8)
        train = sum(rest, Labelled([], []))
    outside = labelled(name, "oos_val").texts if name == "clinc150" else []
    return IntentSet(name, train, test.where(set(train.labels).__contains__), outside)


def read_airline() -> IntentSet:
    """Read the airline threads: every other labelled first message is for tests, the unlabelled ones are the pool."""
    threads = sorted(rows(AIRLINE, "labelled"), key=lambda row: str(row["id"]))
    train, test = (
        Labelled([row["turns"][0]["text"] for row in half], [row["label"] for row in half])
        for half in (threads[1::2], threads[::2])
    )
    known = {*train.texts, *test.texts}
    openings = list(dict.fromkeys(row["turns"][0]["text"] for row in rows(AIRLINE, "all")))
    random.Random(0).shuffle(openings)
    descriptions = yaml.safe_load((Path(__file__).parent / "airline.yaml").read_text(encoding="utf-8"))
    return IntentSet("airline", train, test, [], [text for text in openings if text not in known], descriptions)


@cache
def _dialogue_messages() -> tuple[list[str], list[str]]:
    """Users' turns of SGD, and first messages of airline threads."""
    users = (turn["text"] for row in split_rows("sgd", "train") for turn in row["turns"] if turn["speaker"] == "user")
    openings = (row["turns"][0]["text"] for row in rows(AIRLINE, "all"))
    found = [list(dict.fromkeys(texts)) for texts in (users, openings)]
    rng = random.Random(0)
    for texts in found:
        rng.shuffle(texts)
    return found[0][:FOREIGN], found[1][:FOREIGN]


def foreign_messages(known: IntentSet, count: int, rng: np.random.Generator) -> list[str]:
    """A third each from the other sets, SGD and airline threads: near and far, single requests and turns of talks."""
    others = [text for name in INTENTS if name != known.name for text in labelled(name, "train").texts]
    own = {*known.train.texts, *known.test.texts}
    drawn = [
        texts[place]
        for texts in (others, *_dialogue_messages())
        for place in rng.choice(len(texts), count // 3 + 1, replace=False)
        if texts[place] not in own
    ]
    return [drawn[place] for place in rng.permutation(len(drawn))[:count]]


def _zipf(codes: Codes, count: int, rng: np.random.Generator) -> Codes:
    """Draw messages so that the intent of rank r (in random order) has a share of 1/r, as far as there are enough."""
    shares = 1 / (rng.permutation(codes.max() + 1) + 1)
    counts = np.round(count * shares / shares.sum()).astype(int)
    groups = (rng.permutation(np.flatnonzero(codes == code))[:most] for code, most in enumerate(counts))
    return np.concatenate(list(groups))


def draw_pool(known: IntentSet, kind: str, draw: int) -> list[str]:
    """Draw unlabelled messages: `clean` of the training split, or one of the messy kinds."""
    rng = np.random.default_rng(1000 + draw)
    if known.unlabelled:
        return known.unlabelled[:LARGE]
    every = rng.permutation(len(known.train))
    sizes = {"clean": LARGE, "small": SMALL, "half foreign": LARGE // 2, "zipf": LARGE // 2, "both": LARGE // 4}
    skewed = kind in ("zipf", "both")
    places: Sequence[int] = (_zipf(known.codes, sizes[kind], rng) if skewed else every[: sizes[kind]]).tolist()
    texts = [known.train.texts[place] for place in places]
    if kind in ("half foreign", "both"):
        texts += foreign_messages(known, len(texts), rng)
    return list(dict.fromkeys(texts))
