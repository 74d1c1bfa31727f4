"""What a benchmark task is: what it measures and on what, said in data, and one `evaluate`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

from pydantic import BaseModel, ConfigDict

from turnwise.benchmarks.cache import CachedEncoder
from turnwise.corpus.catalog import get_dataset

__all__ = ["Draws", "Task", "TaskInfo"]

Draws = list[dict[str, float]]
"""The scores of each draw, by name; in percent, except those of geometry."""


class TaskInfo(BaseModel):
    """What a task is.

    Attributes:
        name: Its name, unique.
        family: What kind of task it is.
        level: Whether single utterances or dialogues are encoded.
        dataset: The public set it is made of.
        language: The language of the set.
        main_score: The score that stands for the task.
        draws: How many random draws are averaged, by default.
        thresholds_from: Which split gives thresholds and other choices; `test` only for named transductive options.
        reference: The paper and table that defines it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    family: Literal["intent", "out-of-scope", "response selection", "semantic retrieval", "similarity", "geometry"]
    level: Literal["utterance", "dialogue"]
    dataset: str
    language: str
    main_score: str
    draws: int = 1
    thresholds_from: Literal["none", "train", "validation", "test"] = "none"
    reference: str = ""

    @property
    def licence(self) -> str:
        """The data's licence."""
        return get_dataset(self.dataset).licence

    @property
    def citation(self) -> str:
        """Whom to cite for the data."""
        return get_dataset(self.dataset).citation


class Task(ABC):
    """One thing that is measured."""

    info: TaskInfo

    @abstractmethod
    def evaluate(self, encoder: CachedEncoder, draws: int, seed: int) -> Draws:
        """The scores of an encoder.

        Args:
            encoder: Any encoder, its vectors cached.
            draws: How many random draws to make.
            seed: The first draw's seed; the others follow it.
        """
