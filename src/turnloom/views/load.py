"""Read a view: memory-mapped, or as a stream."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnloom.errors import TurnloomError
from turnloom.views.build import CACHE
from turnloom.views.manifest import read_view_manifest

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

__all__ = ["load_view", "stream_view"]


def _shards(folder: Path, group: str | None) -> list[str]:
    """The files of a view's group, in order."""
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
    """The rows of a view as a memory-mapped dataset, in their shuffled order.

    The first call writes an uncompressed copy into the view's folder, which is about three times as large as the view.

    Args:
        folder: The view's folder.
        group: Which group, where the view has several.

    Raises:
        TurnloomError: If there is no whole view, no such group, or no row in it.
    """
    loaded: Dataset = _read(Path(folder), group, streaming=False)
    return loaded


def stream_view(folder: str | Path, group: str | None = None) -> IterableDataset:
    """The rows of a view read from its shards as they are needed, without a copy on disk.

    Args:
        folder: The view's folder.
        group: Which group, where the view has several.

    Raises:
        TurnloomError: If there is no whole view, no such group, or no row in it.
    """
    streamed: IterableDataset = _read(Path(folder), group, streaming=True)
    return streamed
