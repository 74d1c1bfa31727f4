"""A dialogue table whose turns have slots: from annotated utterances, or from any table and a tagger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from turnloom.corpus.catalog import get_dataset, load_catalog
from turnloom.corpus.engine import daft
from turnloom.corpus.logfile import stem
from turnloom.corpus.schema import dialogues_to_arrow
from turnloom.corpus.table import Manifest, TableWriter, count_by_source, read_table
from turnloom.corpus.tagging import Tagger, read_utterances, with_slots
from turnloom.errors import TurnloomError

__all__ = ["slot_table"]


def slot_table(
    inputs: Sequence[str],
    out: Path,
    *,
    tagger: Tagger | None = None,
    split: str = "train",
    command: str = "",
    overwrite: bool = False,
) -> Manifest:
    """Write a table of utterances and their slots.

    Args:
        inputs: Folders of dialogue tables, JSON Lines of utterances with a tag for each word, or names of public sets.
        out: The new table's folder.
        tagger: Finds slots in turns that have none; without it they stay as they are.
        split: Of public sets.
        command: What to name in the manifest as the table's origin.
        overwrite: Replace a table that is there.

    Raises:
        TurnloomError: If an input is neither of them, or the folder holds something else.
    """
    parts = [part for name in inputs for part in _read(name, split)]
    table = parts[0]
    for part in parts[1:]:
        table = table.concat(part)
    if tagger is not None:
        table = with_slots(table, tagger)
    writer = TableWriter(out, overwrite=overwrite)
    writer.write(table)
    return writer.finish(command, {"sources": count_by_source(writer.staged())})


def _read(name: str, split: str) -> list[Any]:
    path = Path(name)
    if path.is_dir():
        return [read_table(path)]
    if path.is_file():
        return [_utterances(path, stem(str(path)))]
    if name not in load_catalog():
        raise TurnloomError(f"{name} is no folder, file or public set", "'turnloom data list' shows the sets")
    known = get_dataset(name)
    return [_utterances(known.path(file), f"{name}-{file}") for file in known.split_files(split)]


def _utterances(path: Path, source: str) -> Any:
    """Utterances as a DataFrame; sets of them are small, what is large comes as a table."""
    return daft().from_arrow(dialogues_to_arrow(list(read_utterances(path, source))))
