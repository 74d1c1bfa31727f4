"""Downloading a file: resumed where it broke off, checked before it is believed."""

from __future__ import annotations

import hashlib
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from turnloom.errors import TurnloomError

__all__ = ["download", "git_blob_id"]

_CHUNK = 2**18
_TRIES = 4


def git_blob_id(path: Path) -> str:
    """The id git gives a file's content: a checksum that public repositories publish for every file they hold."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _continue(url: str, partial: Path, on_bytes: Callable[[int], None]) -> None:
    """Fetch what is missing of a partial file; a server that ignores the range starts over."""
    have = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # Nothing is missing: the checksum decides.
            return
        raise
    with response, partial.open("ab" if response.status == 206 else "wb") as file:
        if response.status != 206 and have:
            on_bytes(-have)
        while chunk := response.read(_CHUNK):
            file.write(chunk)
            on_bytes(len(chunk))
        expected = response.headers.get("Content-Length")
        received = file.tell() - (have if response.status == 206 else 0)
        if expected is not None and received < int(expected):
            raise OSError(f"the connection ended after {received:,} of {int(expected):,} bytes")


def download(url: str, target: Path, blob_id: str, on_bytes: Callable[[int], None] = lambda _: None) -> None:
    """Fetch a file to `target` unless it is there and right.

    Args:
        url: Where from.
        target: Where to; an interrupted download is kept beside it and resumed.
        blob_id: Its git blob id.
        on_bytes: Called with the number of bytes of each piece, for a progress bar.

    Raises:
        TurnloomError: If it cannot be had, or what comes is not what was published.
    """
    if target.exists() and git_blob_id(target) == blob_id:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    for attempt in range(1, _TRIES + 1):
        try:
            _continue(url, partial, on_bytes)
            break
        except (OSError, urllib.error.URLError) as error:
            gone = isinstance(error, urllib.error.HTTPError) and error.code in (401, 403, 404, 410)
            if gone or attempt == _TRIES:
                raise TurnloomError(
                    f"{url} cannot be downloaded ({error})", "run the command again; it resumes"
                ) from error
            time.sleep(0.2 * 2**attempt)
    if git_blob_id(partial) != blob_id:
        partial.unlink()
        raise TurnloomError(f"{url} is not the published file (its checksum differs)", "run the command again")
    partial.rename(target)
