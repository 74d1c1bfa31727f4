"""What a benchmark task is: what it measures and on what, said in data, and one `evaluate`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from turnloom.benchmarks.cache import CachedEncoder
from turnloom.corpus.catalog import get_dataset

GROUPS = 50
"""Into how many groups test examples are put for intervals: small enough to keep in a file, enough to resample."""


@dataclass(frozen=True)
class Draw:
    """The scores of one draw by name, in percent except for those of geometry.

    `credits` are what each test example adds to the main score, which is their mean: what intervals are made of. They
    are empty for a score that is no mean over examples.
    """

    scores: dict[str, float]
    credits: Sequence[float] | npt.NDArray[Any] = field(default_factory=list)

    def groups(self) -> list[float]:
        """The mean credit of each of 50 groups: every fiftieth example, since files are often sorted by label."""
        values = np.asarray(self.credits, np.float64)
        if len(values) < 2:
            return []
        return [round(float(values[start::GROUPS].mean()), 4) for start in range(min(GROUPS, len(values)))]


Draws = list[Draw]
Space = Literal["plain", "heads"]
"""What is compared: meanings, or a context's and a reply's own spaces, which only some models have."""


def leave_out_credits(score: Callable[[npt.NDArray[np.bool_]], float], examples: int) -> list[float]:
    """Credits for a score that is no mean, such as F1: jackknife pseudo-values, one for each group of examples.

    `score` is the score on the examples that a mask keeps.
    """
    places = np.arange(examples) % GROUPS
    count = min(GROUPS, examples)
    whole = score(np.ones(examples, bool))
    return [count * whole - (count - 1) * score(places != group) for group in range(count)]


class TaskInfo(BaseModel):
    """What a task is.

    Attributes:
        level: Whether single utterances or dialogues are encoded.
        main_score: The score that stands for the task.
        draws: How many random draws are averaged, by default.
        thresholds_from: Which split gives thresholds and other choices; `test` only for named transductive options.
        reference: The paper and table that defines it.
        own_data: Whether the data is a user's own, which no catalog knows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    family: Literal[
        "intent",
        "out-of-scope",
        "response selection",
        "response re-ranking",
        "semantic retrieval",
        "conversation retrieval",
        "appropriate reply",
        "similarity",
        "action prediction",
        "dialogue inference",
        "intent, fine-tuned",
        "action prediction, fine-tuned",
        "response selection, fine-tuned",
        "geometry",
    ]
    level: Literal["utterance", "dialogue"]
    dataset: str
    language: str
    main_score: str
    draws: int = 1
    thresholds_from: Literal["none", "train", "validation", "test"] = "none"
    reference: str = ""
    own_data: bool = False

    @property
    def licence(self) -> str:
        """The data's licence."""
        return "your own data" if self.own_data else get_dataset(self.dataset).licence


class Task(ABC):
    """One thing that is measured."""

    info: TaskInfo
    space: Space = "plain"
    lexical = False
    """Whether it scores texts by their words and needs no encoder."""

    @abstractmethod
    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """The scores of an encoder for each of some random draws, seeded from the first draw's seed on."""
