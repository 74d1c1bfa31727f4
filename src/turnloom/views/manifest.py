"""What a view on disk is and where it comes from: `manifest.json`, written last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.corpus.table import MANIFEST, engine_versions
from turnloom.errors import TurnloomError

__all__ = ["VIEW_VERSION", "ViewManifest", "read_view_manifest"]

VIEW_VERSION = 2
"""Raised whenever the same input and options give other rows or another order."""


class ViewManifest(BaseModel):
    """What a view is made of and what it holds.

    Attributes:
        view_version: The version of how views are made.
        fingerprint: Equal for views of the same inputs, options and seed: such a view is not built again.
        inputs: The content hashes of the tables, or of the files of labelled pairs.
        options: The view's options, as a recipe would say them.
        seed: For what was drawn, and for the order.
        source_weights: How often rows of a source were taken; once where it says nothing.
        limit: The most rows that each group might have.
        columns: The columns of each row.
        tokens: What texts hold that no tokenizer knows, such as marks of speakers.
        rows: The number of rows by group and source; a view without groups has one with an empty name.
        versions: Of Turnloom, Python and the data engine.
    """

    model_config = ConfigDict(extra="forbid")

    view_version: int = VIEW_VERSION
    fingerprint: str
    inputs: list[str]
    options: dict[str, Any]
    seed: int
    source_weights: dict[str, float]
    limit: int | None
    columns: list[str]
    tokens: list[str] = Field(default_factory=list)
    rows: dict[str, dict[str, int]]
    versions: dict[str, str] = Field(default_factory=engine_versions)

    @property
    def groups(self) -> list[str]:
        """The names of the groups."""
        return list(self.rows)

    def count(self, group: str | None = None) -> int:
        """The number of rows, of one group or of all."""
        chosen = self.rows.values() if group is None else [self.rows[group]]
        return sum(sum(sources.values()) for sources in chosen)


def read_view_manifest(folder: str | Path) -> ViewManifest:
    """The manifest of a view.

    Raises:
        TurnloomError: If the folder holds no whole view.
    """
    path = Path(folder) / MANIFEST
    fix = "build it with turnloom.views.build_view"
    if not path.exists():
        raise TurnloomError(f"{folder} holds no whole view (it has no {MANIFEST})", fix)
    try:
        return ViewManifest.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise TurnloomError(f"{path} is not a view's manifest ({error.errors()[0]['msg']})", fix) from error
