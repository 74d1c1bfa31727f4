"""Read a view: its manifest (`manifest.json`), and its rows, memory-mapped or streamed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.corpus.table import MANIFEST, engine_versions
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

CACHE = ".arrow"
"""The folder of `load_view`'s memory-mapped copy."""
VIEW_VERSION = 2
"""Increased whenever the same input and options give other rows or another order."""


class ViewManifest(BaseModel):
    """What a view was built from, and what it contains.

    Attributes:
        fingerprint: Equal for views of the same inputs, options and seed, which are not built again.
        inputs: The content hashes of the tables or of the files of labelled pairs.
        options: The view's options, as in a recipe.
        source_weights: How often rows of a source were taken; by default once.
        tokens: Extra tokens in the texts that no tokenizer knows, such as speaker marks.
        rows: The number of rows by group and source; a view without groups has one group with an empty name.
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
        """Return the number of rows, of one group or of all."""
        chosen = self.rows.values() if group is None else [self.rows[group]]
        return sum(sum(sources.values()) for sources in chosen)


def read_view_manifest(folder: str | Path) -> ViewManifest:
    """Read the manifest of a view; raises TurnloomError if the folder holds no complete view."""
    path = Path(folder) / MANIFEST
    fix = "build it with turnloom.views.build_view"
    if not path.exists():
        raise TurnloomError(f"{folder} holds no whole view (it has no {MANIFEST})", fix)
    try:
        return ViewManifest.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise TurnloomError(f"{path} is not a view's manifest ({error.errors()[0]['msg']})", fix) from error


def _shards(folder: Path, group: str | None) -> list[str]:
    """Return the files of a group, in order."""
    manifest = read_view_manifest(folder)
    if group is None and len(manifest.groups) > 1:
        raise TurnloomError(f"{folder} has several groups", f"name one of {', '.join(manifest.groups)}")
    chosen = manifest.groups[0] if group is None else group
    if chosen not in manifest.groups:
        raise TurnloomError(f"{folder} has no group {chosen!r}", f"its groups are {', '.join(manifest.groups)}")
    if not manifest.count(chosen):
        where = f"{folder}, group {chosen}," if chosen else f"{folder}"
        raise TurnloomError(
            f"{where} has no rows", "use more dialogues, fewer context turns or a smaller min_words in the view"
        )
    return sorted(str(path) for path in (folder / chosen).glob("*.parquet"))


def _read(folder: Path, group: str | None, streaming: bool) -> Any:
    from datasets import Dataset, disable_progress_bars, enable_progress_bars, is_progress_bar_enabled

    files = _shards(folder, group)
    shown = is_progress_bar_enabled()
    disable_progress_bars()
    try:
        return Dataset.from_parquet(files, cache_dir=str(folder / CACHE), streaming=streaming)
    finally:
        if shown:
            enable_progress_bars()


def load_view(folder: str | Path, group: str | None = None) -> Dataset:
    """Load the rows of a view, or of one group, as a memory-mapped dataset in shuffled order.

    The first call writes an uncompressed copy to the view's folder, about three times as large as the view.

    Raises:
        TurnloomError: If the view is incomplete, or the group is unknown or empty.
    """
    loaded: Dataset = _read(Path(folder), group, streaming=False)
    return loaded


def stream_view(folder: str | Path, group: str | None = None) -> IterableDataset:
    """Stream the rows of a view, or of one group, from its shards, without a copy on disk."""
    streamed: IterableDataset = _read(Path(folder), group, streaming=True)
    return streamed
