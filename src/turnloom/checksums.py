"""Checksums of files, and lists of them that protect themselves: a single flipped bit in either is found."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from turnloom.errors import TurnloomError

CHECKSUMS = ".checksums.json"
"""The list of files that were not written at once with their folder: an index's, or of a folder from elsewhere."""
_UNSEALED = '"seal": ""'
_SEAL = re.compile(rb'"seal": "([0-9a-f]{32})"')
_AT_A_TIME = 2**20
Checksums = dict[str, str | None]
"""The checksum of each file, by its path in the folder; None if it has none yet."""


def checksum(path: Path) -> str:
    """Return a file's checksum."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while part := file.read(_AT_A_TIME):
            digest.update(part)
    return digest.hexdigest()


def sealed(text: str) -> str:
    """Fill in the field `seal` of a JSON text with the checksum of everything else in it."""
    seal = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return text.replace(_UNSEALED, f'"seal": "{seal}"', 1)


def is_whole(content: bytes) -> bool:
    """Whether a sealed text is as it was written."""
    found = _SEAL.search(content)
    if found is None:
        return False
    rest = content[: found.start()] + _UNSEALED.encode() + content[found.end() :]
    return hashlib.blake2b(rest, digest_size=16).hexdigest().encode() == found[1]


def listing_text(checksums: Mapping[str, str | None]) -> str:
    """Return a list of files as it is written."""
    return sealed(json.dumps({"files": dict(sorted(checksums.items())), "seal": ""}, indent=0) + "\n")


def read_listing(path: Path) -> Checksums:
    """Read a list of files; empty if there is none. Older versions wrote names only.

    Raises:
        TurnloomError: If the list is damaged.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if isinstance(found, list) and all(isinstance(name, str) for name in found):
        return dict.fromkeys(found)
    files = found.get("files") if isinstance(found, dict) and is_whole(content) else None
    if not isinstance(files, dict):
        raise TurnloomError(f"{path} is damaged", "choose another folder, or remove this one if you don't need it")
    return files


def differing(folder: Path, checksums: Mapping[str, str | None]) -> dict[Path, str]:
    """Return the files that are not as they were written, and what is wrong with each."""
    wrong = {}
    for name, expected in checksums.items():
        path = folder / name
        if not path.is_file():
            wrong[path] = "is missing"
        elif expected is not None and checksum(path) != expected:
            wrong[path] = "is damaged"
    return wrong
