"""Published scores: next to ours if protocol and data are the same, in separate tables otherwise."""

from __future__ import annotations

from functools import cache
from importlib import resources

import yaml
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, model_validator

from turnloom.benchmarks.report.leaderboard import Standing
from turnloom.benchmarks.run import RunResult
from turnloom.pages import paragraph, wide_table


class _Column(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: str
    task: str = ""
    score: str = ""


class PublishedTable(BaseModel):
    """A paper's table, or the part of it to which one remark (`reason`) applies.

    `same` is whether protocol and data are those of our tasks, which the columns then name.
    """

    model_config = ConfigDict(extra="forbid")

    paper: str
    same: bool
    reason: str
    columns: list[_Column]
    rows: dict[str, list[float]]

    @model_validator(mode="after")
    def _consistent(self) -> PublishedTable:
        wrong = [name for name, scores in self.rows.items() if len(scores) != len(self.columns)]
        if wrong:
            raise ValueError(f"{self.paper}: rows with another number of columns: {wrong}")
        if any(bool(column.task and column.score) != self.same for column in self.columns):
            raise ValueError(f"{self.paper}: tasks are named where tables are the same, and only there")
        return self


@cache
def published_tables() -> list[PublishedTable]:
    """Return all published tables that we know of."""
    text = resources.files("turnloom.benchmarks.report").joinpath("published.yaml").read_text(encoding="utf-8")
    return [PublishedTable.model_validate(entry) for entry in yaml.safe_load(text)]


def _ours(run: RunResult, column: _Column) -> float | None:
    task = run.tasks.get(column.task)
    return None if task is None or task.error or column.score not in task.draws[0] else task.mean(column.score)


def _table(table: PublishedTable, ours: dict[str, list[float | None]]) -> Markup:
    def mean(scores: list[float] | list[float | None]) -> float:
        known = [score for score in scores if score is not None]
        return sum(known) / len(known) if known else 0.0

    scored = {f"{name} (here)": scores for name, scores in ours.items()} | dict(table.rows)
    rows = [
        (name, *("" if score is None else f"{score:.2f}" for score in scores))
        # Best first, by the mean of the available scores.
        for name, scores in sorted(scored.items(), key=lambda item: -mean(item[1]))
    ]
    headings = ["model", *(column.label for column in table.columns)]
    return wide_table(table.paper, headings, rows, f"{table.paper}. {table.reason}")


def comparable_tables(standing: Standing) -> Markup:
    """Show our scores and published ones together, for each published table with tasks that we measured."""
    tables = Markup()
    for table in published_tables():
        if not table.same:
            continue
        ours = {name: [_ours(run, column) for column in table.columns] for name, run in standing.runs.items()}
        ours = {name: scores for name, scores in ours.items() if any(score is not None for score in scores)}
        if ours:
            tables += _table(table, ours)
    if not tables:
        return paragraph(
            "Nothing that was measured is printed in a paper under the same protocol and on the same data."
        )
    note = "Protocol and data are the same; encoders and what they were trained on are not. Papers print no intervals."
    return paragraph(note) + tables


def other_tables() -> Markup:
    """Show published scores that are not comparable with ours, each with the reason."""
    note = "Protocol or data differ from ours, for the reason that each table gives: ours must not be held against it."
    return paragraph(note) + Markup().join(_table(table, {}) for table in published_tables() if not table.same)
