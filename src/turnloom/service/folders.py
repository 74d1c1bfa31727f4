"""Find out what folders hold, and erase conversations from all of them together, without a running service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from turnloom.corpus.erasure import Erased, Erasure, erase_from_table, find_in_table
from turnloom.corpus.table import MANIFEST, read_manifest
from turnloom.errors import TurnloomError
from turnloom.feedback import FEEDBACK, Feedback
from turnloom.files import list_again
from turnloom.intents.erasure import erase_from_intents
from turnloom.intents.saving import JSON as INTENTS
from turnloom.journal import locked
from turnloom.replies.erasure import erase_from_index, find_in_index
from turnloom.replies.manifest import MANIFEST as INDEX
from turnloom.runtime.protocols import Encoder
from turnloom.service.erasure import INDEXING, erase_from_feedback, erase_from_waiting, find_in_waiting
from turnloom.service.journal import Journal
from turnloom.service.live_intents import erase_from_changes
from turnloom.service.snapshots import MARKER as SNAPSHOT
from turnloom.vectors.erasure import erase_from_vectors

WAITING = ("replies/pending.jsonl", "replies/adding.jsonl")
"""The journals of conversations that wait to be indexed, in a service's `state`."""
CHANGES = "intents.jsonl"
"""The journal of changed examples, in a service's `state`."""


@dataclass
class Holdings:
    """What folders hold, by what it is. `others` were made from conversations too, but cannot be changed."""

    tables: list[Path] = field(default_factory=list)
    vectors: list[Path] = field(default_factory=list)
    indices: list[Path] = field(default_factory=list)
    intents: list[Path] = field(default_factory=list)
    states: list[Path] = field(default_factory=list)
    snapshots: list[Path] = field(default_factory=list)
    feedback: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)


def find_holdings(folders: Iterable[Path]) -> Holdings:
    """Look through folders and all below them.

    Raises:
        TurnloomError: If a folder does not exist, or nothing is found.
    """
    found = Holdings()
    for folder in folders:
        if not folder.is_dir():
            raise TurnloomError(f"{folder} is not a folder", "name the folders of tables, vectors, indices or services")
        for path in [folder, *sorted(below for below in folder.rglob("*") if below.is_dir())]:
            _note(path, found)
    if found == Holdings():
        names = ", ".join(map(str, folders))
        raise TurnloomError(f"{names} hold nothing of Turnloom's", "name the folders of tables, indices or services")
    return found


def _note(path: Path, found: Holdings) -> None:
    if (path / FEEDBACK).is_file():  # Of a service or a studio.
        found.feedback.append(path / FEEDBACK)
    if (path / SNAPSHOT).is_file():
        found.snapshots.append(path)
    elif (path / INDEX).is_file():
        found.indices.append(path)
    elif (path / INTENTS).is_file():
        found.intents.append(path)
    elif (path / CHANGES).is_file() or any((path / name).is_file() for name in WAITING):
        found.states.append(path)
    elif (path / MANIFEST).is_file():
        fields = _fields(path / MANIFEST)
        kind = (
            found.tables if "schema_version" in fields else found.vectors if "fingerprint" in fields else found.others
        )
        kind.append(path)


def _fields(path: Path) -> set[str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return set()
    return set(content) if isinstance(content, dict) else set()


def erase_from_folders(
    holdings: Holdings,
    erasure: Erasure,
    load: Callable[[str | None], Encoder],
    on_step: Callable[[Path], object] = lambda _: None,
) -> tuple[Erased, int]:
    """Erase conversations from folders, whether or not a service uses them.

    Everything is found before anything is changed, and the conversations themselves go last: if it is interrupted, the
    same call finishes it.

    Args:
        holdings: The folders.
        erasure: What to erase.
        load: Loads the encoder for intents that have a pool, given the folder that they name.
        on_step: Called with each folder before it is changed.

    Returns:
        What was erased, and how many examples of intents.
    """
    with ExitStack() as held:
        for folder in holdings.states:  # A service that runs indexes nothing meanwhile.
            held.enter_context(locked(folder / "replies" / INDEXING))
        there = [folder for folder in holdings.tables if folder.exists()]  # What it was indexing may be done.
        return _erase(replace(holdings, tables=there), erasure, load, on_step)


def _erase(
    holdings: Holdings,
    erasure: Erasure,
    load: Callable[[str | None], Encoder],
    on_step: Callable[[Path], object],
) -> tuple[Erased, int]:
    found, erasure = _find(holdings, erasure)
    examples = 0
    for folder in holdings.intents:
        on_step(folder)
        examples += erase_from_intents(folder, found.texts, load)
    for folder in holdings.states:
        changes = Journal(folder / CHANGES)
        with changes.writing():
            # A service that runs loads its intents again, whatever folder they are in.
            examples += erase_from_changes(changes, found.texts, always=bool(holdings.intents))
    for path in holdings.feedback:
        on_step(path)
        erase_from_feedback(Feedback(path), erasure, found.texts)
    hashes: dict[str, str] = {}
    for folder in holdings.tables:
        on_step(folder)
        before = read_manifest(folder).content_hash
        erase_from_table(folder, erasure)
        hashes[before] = read_manifest(folder).content_hash
    for folder in holdings.vectors:
        on_step(folder)
        erase_from_vectors(folder, erasure, hashes)
    for folder in holdings.states:
        on_step(folder)
        for name in WAITING:
            erase_from_waiting(Journal(folder / name), erasure)
        for copy in (folder / "replies").glob("*.damaged"):
            copy.unlink(missing_ok=True)
    for folder in holdings.indices:
        on_step(folder)
        erase_from_index(folder, erasure)
    for folder in holdings.snapshots:
        list_again(folder)
    return found, examples


def _find(holdings: Holdings, erasure: Erasure) -> tuple[Erased, Erasure]:
    """Find what is to be erased; whoever spoke is known in some folders only, so all are asked twice."""
    finders: Sequence[tuple[list[Path], Callable[[Any, Erasure], Erased]]] = [
        (holdings.tables, find_in_table),
        ([folder / name for folder in holdings.states for name in WAITING], _find_in_file),
        (holdings.indices, find_in_index),
    ]
    found = Erased()
    for _ in range(2):
        found = Erased()
        for paths, find in finders:
            for path in paths:
                found = found.plus(find(path, erasure))
        erasure = erasure.plus(found.conversations)
    return found, erasure


def _find_in_file(path: Path, erasure: Erasure) -> Erased:
    return find_in_waiting(Journal(path), erasure)
