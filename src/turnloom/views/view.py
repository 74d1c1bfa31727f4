"""What every view has: options that a recipe can say, how its rows are made, and how training reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from turnloom.corpus.table import read_manifest
from turnloom.runtime.context_format import ContextFormat
from turnloom.views.workspace import Workspace

__all__ = ["Reading", "Rows", "View"]

Rows = dict[str, list[Any]]
"""Some rows, by column."""


@dataclass(frozen=True)
class Reading:
    """How a model reads rows in training.

    Attributes:
        context: How contexts become text.
        tokenizer: The model's.
        limit: Tokens that the model reads.
        seed: For what a view draws as it is read.
        objective: The options of the loss that learns from the rows.
    """

    context: ContextFormat
    tokenizer: Any
    limit: int
    seed: int = 0
    objective: Any = None

    def length(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self.tokenizer.tokenize(text))

    def text(self, turns: Sequence[str]) -> str:
        """A context as one text; the oldest turns of a long one are left out."""
        if len(turns) == 1:
            return turns[0]
        return self.context.apply(turns, self.length, self.limit, self.tokenizer.sep_token)


class View(BaseModel):
    """A view; its fields are what a recipe may say, its properties follow from them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reads_tables: ClassVar[bool] = True
    """Whether it is made of dialogue tables, and not of other files."""

    def input_hashes(self, inputs: Sequence[Path]) -> list[str]:
        """What tells its inputs from others."""
        return [read_manifest(path).content_hash for path in inputs]

    def make_rows(self, workspace: Workspace) -> Any:
        """Its rows as a Daft DataFrame, each with its place in the shuffled order."""
        raise NotImplementedError

    def transform(self, rows: Any, reading: Reading) -> Callable[[Rows], Rows]:  # noqa: ARG002 - for views that draw
        """What turns some rows into the columns that a loss takes, as they are read.

        Args:
            rows: All rows of a group of the view.
            reading: How the model reads them.
        """
        return partial(self._columns, reading)

    def _columns(self, reading: Reading, rows: Rows) -> Rows:
        columns: Rows = {"context": [reading.text(turns) for turns in rows["context"]]}
        columns |= {name: list(rows[name]) for name in ("reply", "negative") if name in rows}
        if getattr(reading.objective, "wants_frequencies", False):
            columns["label"] = [float(count) for count in rows["frequency"]]
        return columns

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups that rows are written in; one without a name unless a view says otherwise."""
        return ("",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of every row."""
        return ("context", "reply", "frequency", "source")

    @property
    def tokens(self) -> list[str]:
        """What texts hold that no tokenizer knows: marks of speakers, for instance."""
        return []

    @property
    def context_turns(self) -> int | None:
        """The most turns that are read together as one context; None for any number."""
        return 1

    @property
    def one_per_text(self) -> bool:
        """Whether of rows with the same reply only one is kept."""
        return False
