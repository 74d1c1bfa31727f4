"""Benchmark tasks: metadata about what a task measures, and one `evaluate` method."""

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
"""The number of groups of test examples for intervals: few enough to store, and enough to resample."""


@dataclass(frozen=True)
class Draw:
    """The scores of one random draw by name, in percent except for geometry.

    `credits` are the scores of single test examples, whose mean is the main score; intervals are computed from them.
    They are empty for a score that is not a mean over examples.
    """

    scores: dict[str, float]
    credits: Sequence[float] | npt.NDArray[Any] = field(default_factory=list)

    def groups(self) -> list[float]:
        """Return the mean credit of 50 groups, each of every fiftieth example: files are often sorted by label."""
        values = np.asarray(self.credits, np.float64)
        if len(values) < 2:
            return []
        return [round(float(values[start::GROUPS].mean()), 4) for start in range(min(GROUPS, len(values)))]


Draws = list[Draw]
Space = Literal["plain", "heads"]
"""Which outputs to compare: by meaning, or those for contexts and replies, which only some models have."""


def leave_out_credits(score: Callable[[npt.NDArray[np.bool_]], float], examples: int) -> list[float]:
    """Return credits for a score that is not a mean, such as F1: jackknife pseudo-values, one per group of examples.

    `score` returns the score on the examples that a mask keeps.
    """
    places = np.arange(examples) % GROUPS
    count = min(GROUPS, examples)
    whole = score(np.ones(examples, bool))
    return [count * whole - (count - 1) * score(places != group) for group in range(count)]


class TaskInfo(BaseModel):
    """The description of a task.

    Attributes:
        name: The task's name.
        family: The family of tasks that it belongs to.
        level: Whether single utterances or dialogues are encoded.
        dataset: The name of the data set.
        language: The language of the data.
        main_score: The score that represents the task.
        draws: The default number of random draws to average.
        thresholds_from: The split that sets thresholds and other choices; `test` only for transductive variants.
        reference: The paper and table that defines the task.
        own_data: Whether the data is the user's own and not in the catalog.
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
    """One measurement: a data set, a question and a score."""

    info: TaskInfo
    space: Space = "plain"
    lexical = False
    """Whether the task scores texts by their words and needs no encoder."""

    @abstractmethod
    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """Return an encoder's scores for each random draw; the draws' seeds count up from `seed`."""
