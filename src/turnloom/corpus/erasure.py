"""Erase conversations from dialogue tables, and say which conversations an erasure is about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from turnloom.corpus.convert import REJECTED
from turnloom.corpus.table import WORK, TableWriter, read_manifest, remove_workspace
from turnloom.errors import TurnloomError

ROLES = frozenset(
    [
        *("agent", "assistant", "bot", "caller", "client", "customer", "gpt", "human", "model", "operator", "support"),
        *("system", "user", "visitor", "wizard"),
    ]
)
"""Lower-case names that say what a speaker does, not who it is: to erase one of them would erase nearly everything."""


@dataclass(frozen=True)
class Conversation:
    """A conversation is identified by its id within its source."""

    source: str
    dialogue_id: str


@dataclass(frozen=True)
class Erasure:
    """Which conversations to erase. One in which a person spoke is erased as a whole: the others spoke to that person.

    Attributes:
        ids: The ids of conversations.
        speakers: The ids of persons, as the tables have them.
        source: Erase only conversations of this source.
        conversations: Further conversations, such as those in which a person spoke in another table.

    Raises:
        TurnloomError: If nothing is named, or a speaker is a role that many share.

    Example:
        >>> Erasure(ids=frozenset(["chat-7"])).names("shop", "chat-7", ["customer"])
        True
    """

    ids: frozenset[str] = frozenset()
    speakers: frozenset[str] = frozenset()
    source: str | None = None
    conversations: frozenset[Conversation] = frozenset()

    def __post_init__(self) -> None:
        if not self.ids and not self.speakers and not self.conversations:
            raise TurnloomError("nothing to erase was named", "name conversations or speakers by their ids")
        role = next((name for name in sorted(self.speakers) if name.lower() in ROLES), None)
        if role is not None:
            raise TurnloomError(f"{role!r} is a role, not a person", "name the conversations by their ids")

    def plus(self, conversations: Iterable[Conversation]) -> Erasure:
        """Return the same with more conversations."""
        return replace(self, conversations=self.conversations | frozenset(conversations))

    def names(self, source: str, dialogue_id: str, speakers: Iterable[str] = ()) -> bool:
        """Whether a conversation is to be erased."""
        if Conversation(source, dialogue_id) in self.conversations:
            return True
        meant = dialogue_id in self.ids or not self.speakers.isdisjoint(speakers)
        return meant and self.source in (None, source)

    def rows(self, table: pa.Table) -> npt.NDArray[np.bool_]:
        """Return which rows are to be erased, of a table with `dialogue_id`, `source` and perhaps `turns`."""
        ids, sources = table["dialogue_id"].to_pylist(), table["source"].to_pylist()
        spoke = _spoke(table["turns"], self.speakers) if "turns" in table.column_names and self.speakers else None
        found = np.zeros(len(ids), bool)
        for row, (name, source) in enumerate(zip(ids, sources, strict=True)):
            found[row] = self.names(source, name, () if spoke is None or not spoke[row] else self.speakers)
        return found


@dataclass(frozen=True)
class Erased:
    """What is erased.

    Attributes:
        conversations: The conversations.
        texts: What was said in them and in no conversation that stays.
        shared: What was said in them and in others, too.
    """

    conversations: frozenset[Conversation] = frozenset()
    texts: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()

    def plus(self, other: Erased) -> Erased:
        """Return what was erased in either; a text that stays somewhere is nobody's own."""
        shared = self.shared | other.shared
        return Erased(self.conversations | other.conversations, (self.texts | other.texts) - shared, shared)


def _spoke(turns: pa.ChunkedArray, speakers: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Return in which rows one of these speakers speaks."""
    lists = turns.combine_chunks() if isinstance(turns, pa.ChunkedArray) else turns
    wanted = pa.array(sorted(speakers), pa.large_string())
    spoken = pc.is_in(lists.flatten().field("speaker").cast(pa.large_string()), value_set=wanted)
    rows = np.asarray(pc.list_parent_indices(lists))[np.asarray(spoken)]
    found = np.zeros(len(lists), bool)
    found[rows] = True
    return found


def find_in_table(folder: Path, erasure: Erasure) -> Erased:
    """Find the conversations of a dialogue table that are to be erased, and what was said in them."""
    columns = ["dialogue_id", "source", "turns"]
    conversations: set[Conversation] = set()
    said: set[str] = set()
    for part in _parts(folder):
        rows = pq.read_table(part, columns=columns)
        gone = rows.filter(pa.array(erasure.rows(rows)))
        conversations.update(Conversation(**row) for row in gone.select(columns[:2]).to_pylist())
        said.update(_texts(gone["turns"]))
    shared: set[str] = set()
    for part in _parts(folder) if said else []:
        rows = pq.read_table(part, columns=columns)
        left = rows.filter(pa.array(~erasure.rows(rows)))
        shared.update(_texts(left["turns"], said))
    return Erased(frozenset(conversations), frozenset(said - shared), frozenset(shared))


def erase_from_table(folder: Path, erasure: Erasure) -> None:
    """Write a dialogue table again without some conversations, and remove what else could hold their texts.

    Intermediate results of commands are removed, and so are rejected records that name one of the conversations or
    repeat its texts.
    """
    manifest, found = read_manifest(folder), find_in_table(folder, erasure)
    remove_workspace(folder / WORK)
    needles = {*erasure.ids, *erasure.speakers, *found.texts, *(one.dialogue_id for one in found.conversations)}
    rejected, changed = _rejected_without(folder / REJECTED, needles)
    if not found.conversations and not changed:
        return
    writer = TableWriter(folder, overwrite=True)
    (writer.partial / "table").mkdir()
    for part in _parts(folder):
        rows = pq.read_table(part)
        left = rows.filter(pa.array(~erasure.rows(rows)))
        pq.write_table(left, writer.partial / "table" / part.name, compression="zstd")
    if rejected:
        (writer.new / REJECTED).write_text(rejected, encoding="utf-8")
    writer.finish(manifest.command, manifest.counts)


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


def _texts(turns: pa.ChunkedArray, among: set[str] | None = None) -> Iterable[str]:
    """Return the distinct texts of turns, or those of them that are among others."""
    texts = turns.combine_chunks().flatten().field("text").cast(pa.large_string())
    if among is not None:
        texts = texts.filter(pc.is_in(texts, value_set=pa.array(sorted(among), pa.large_string())))
    return (text for text in texts.unique().to_pylist() if text is not None)


def _rejected_without(path: Path, needles: set[str]) -> tuple[str, bool]:
    """Return rejected records without those that contain one of these texts, and whether there were any."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    kept = [line for line in lines if not _contains(line, needles)]
    return "".join(kept), len(kept) < len(lines)


def _contains(line: str, needles: set[str]) -> bool:
    return any(form in line for needle in needles for form in written_forms(needle))


def written_forms(text: str) -> Sequence[str]:
    """Return how a text appears in files: as it is, and in JSON with and without escapes.

    Example:
        >>> written_forms('a "b"')[1]
        'a \\\\"b\\\\"'
    """
    return [text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]]
