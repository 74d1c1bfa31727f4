"""Compare everything in a folder with its checksums: tables, vectors, intents, models, indices and journals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from turnloom.checksums import CHECKSUMS, checksum, differing, listing_text, read_listing
from turnloom.errors import TurnloomError
from turnloom.files import LISTING, PARTIAL, write_whole
from turnloom.journal import damaged_lines
from turnloom.replies.manifest import LOCK, read_index_manifest
from turnloom.replies.manifest import MANIFEST as INDEX

NOT_KEPT = ("*.lock", "*.damaged", "rates", "reload", LOCK)
"""Files of a service and an index that hold nothing to protect."""


@dataclass
class Verified:
    """What was compared.

    Attributes:
        checked: The files that are as they were written.
        problems: What is wrong, by file.
        unknown: Files without a checksum.
    """

    checked: list[Path] = field(default_factory=list)
    problems: dict[Path, str] = field(default_factory=dict)
    unknown: list[Path] = field(default_factory=list)


def verify(folder: Path, on_folder: Callable[[Path], object] = lambda _: None) -> Verified:
    """Compare all files of a folder, and of all folders below, with their checksums.

    Raises:
        TurnloomError: If there is no such folder.
    """
    if not folder.is_dir():
        raise TurnloomError(f"{folder} is not a folder", "name the folder of a table, an index, a model or a service")
    found = Verified()
    known: set[Path] = set()
    for path in [folder, *sorted(below for below in folder.rglob("*") if below.is_dir())]:
        listings = [path / name for name in (LISTING, CHECKSUMS) if (path / name).is_file()]
        if listings or (path / INDEX).is_file():
            on_folder(path)
        for listing in listings:
            _compare(path, listing, found, known)
        if (path / INDEX).is_file():
            _check_manifest(path, found, known)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in known and PARTIAL not in path.parts:
            _check_other(path, found)
    return found


def _compare(folder: Path, listing: Path, found: Verified, known: set[Path]) -> None:
    known.add(listing)
    try:
        checksums = read_listing(listing)
    except TurnloomError:
        found.problems[listing] = "is damaged"
        return
    found.checked.append(listing)
    wrong = differing(folder, checksums)
    found.problems.update(wrong)
    for name, value in checksums.items():
        if value is not None:
            known.add(folder / name)
            if folder / name not in wrong:
                found.checked.append(folder / name)


def _check_manifest(folder: Path, found: Verified, known: set[Path]) -> None:
    path = folder / INDEX
    try:
        sealed = bool(read_index_manifest(folder).seal)
    except (TurnloomError, UnicodeDecodeError) as error:
        known.add(path)
        found.problems[path] = error.problem if isinstance(error, TurnloomError) else "is damaged"
        return
    if sealed:
        known.add(path)
        found.checked.append(path)


def _check_other(path: Path, found: Verified) -> None:
    """Check a file that no list names: a journal, or one that nothing protects."""
    lines = damaged_lines(path) if path.suffix == ".jsonl" else None
    if lines:
        found.problems[path] = f"has damaged lines ({', '.join(map(str, lines[:5]))})"
    elif lines is not None:
        found.checked.append(path)
    elif path.stat().st_size and not any(path.match(pattern) for pattern in NOT_KEPT):
        found.unknown.append(path)


def record_checksums(folder: Path) -> int:
    """Note the checksums of the files that no list names, and return how many there are.

    For models and other folders that Turnloom did not write, or an older version wrote.
    """
    found = verify(folder)
    if found.problems:
        path, problem = next(iter(found.problems.items()))
        raise TurnloomError(f"{path} {problem}", "restore it from a backup first")
    listing = folder / CHECKSUMS
    before = read_listing(listing)
    new = {path.relative_to(folder).as_posix(): checksum(path) for path in found.unknown}
    write_whole(listing, listing_text({**before, **new}))
    return len(new)
