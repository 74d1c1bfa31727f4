"""A JSON Lines file that many processes append to and follow: acknowledged records are on disk.

Each line ends with a checksum of what is before it. A damaged line is skipped, reported, and copied to a file beside.
A file that was written again, to erase something, begins with the name of its generation: who follows it starts again.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from turnloom.files import replacing

_GENERATION = re.compile(rb'\{"generation": "([0-9a-f]{32})", "crc32": "[0-9a-f]{8}"\}\n')
_CHECKSUM = re.compile(rb', "crc32": "([0-9a-f]{8})"\}$')
_TAIL = 32
"""This many bytes tell whether what was counted is still there: nearly all of them are of a checksum."""
_log = logging.getLogger("turnloom.journal")


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold a lock file; yields False if another process holds it and `wait` is off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", opener=_private) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def _line_of(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False).encode()
    return text[:-1] + b', "crc32": "%08x"}\n' % zlib.crc32(text)


def _record_of(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line; None if it is damaged. Lines of older versions have no checksum."""
    checksum = _CHECKSUM.search(line)
    if checksum is not None:
        line = line[: checksum.start()] + b"}"
        if zlib.crc32(line) != int(checksum[1], 16):
            return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


@dataclass(frozen=True)
class _Counted:
    """The lines of a file up to a position, and the last bytes before it."""

    lines: int = 0
    position: int = 0
    tail: bytes = b""

    def up_to_the_end_of(self, file: BinaryIO) -> _Counted:
        """Count on; from the start if the file is another one."""
        start = self.position - len(self.tail)
        file.seek(start)
        if file.read(len(self.tail)) != self.tail:
            return _Counted().up_to_the_end_of(file)
        lines, position, tail = self.lines, self.position, self.tail
        for part in iter(partial(file.read, 2**20), b""):
            lines += part.count(b"\n")
            position += len(part)
            tail = (tail + part)[-_TAIL:]
        return _Counted(lines, position, tail)


class RewrittenError(Exception):
    """The file was written again, so that positions in it mean something else: read it from the start."""


class Journal:
    """Records, oldest first, in a file that is created on the first write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged: set[str] = set()
        """The names of the files that hold damaged lines."""
        self._lock = path.with_suffix(".lock")
        self._counted = _Counted()

    @property
    def size(self) -> int:
        """The file size in bytes."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def generation(self) -> str:
        """The name of the file's generation; empty if it was never written again."""
        try:
            with self.path.open("rb") as file:
                return _generation_of(file)
        except FileNotFoundError:
            return ""

    @property
    def stamp(self) -> tuple[int, ...]:
        """What changes with every write."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns

    def writing(self) -> AbstractContextManager[bool]:
        """Keep other processes from writing."""
        return locked(self._lock)

    def append(self, records: list[dict[str, Any]]) -> int:
        """Write records to disk, inside `writing`; return the new size.

        A partial record left by a killed process was never acknowledged, and is removed.

        Raises:
            OSError: If they cannot be written; then nothing of them is.
        """
        text = b"".join(map(_line_of, records))
        # Unbuffered: what a buffer could not write, it would write when it is closed.
        with open(self.path, "ab+", buffering=0, opener=_private) as file:
            whole = self._whole(file)
            try:
                if whole < file.seek(0, os.SEEK_END):
                    file.truncate(whole)
                rest = memoryview(text)
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(whole)
                raise
        return whole + len(text)

    def rewrite(self, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
        """Write all records again inside `writing`, as a new generation.

        Damaged lines, and the copies of such lines beside, are removed: nobody can tell what they hold.

        Args:
            change: Returns a record as it should be; None to remove it.
        """
        changed = [record for old in self.read()[0] if (record := change(old)) is not None]
        lines = [{"generation": uuid.uuid4().hex}, *changed]
        with replacing(self.path) as temporary, open(temporary, "wb", opener=_private) as file:
            file.write(b"".join(map(_line_of, lines)))
        for copy in self.path.parent.glob(f"{self.path.stem}-*.damaged"):
            copy.unlink(missing_ok=True)
        self.damaged.clear()

    @staticmethod
    def _whole(file: Any) -> int:
        """Find where the last complete record ends."""
        end = int(file.seek(0, os.SEEK_END))
        step = 65_536
        for start in range(end, 0, -step):
            low = max(0, start - step)
            file.seek(low)
            newline = int(file.read(start - low).rfind(b"\n"))
            if newline >= 0:
                return low + newline + 1
        return 0

    def read(self, start: int = 0, generation: str | None = None) -> tuple[list[dict[str, Any]], int]:
        """Return the complete and undamaged records from a position on, and the position after them.

        Raises:
            RewrittenError: If the file is not of the expected `generation`.
        """
        try:
            with self.path.open("rb") as file:
                if generation is not None and _generation_of(file) != generation:
                    raise RewrittenError
                file.seek(start)
                text = file.read()
        except FileNotFoundError:  # Nothing written yet, or another process has just processed everything.
            return [], start
        text = text[: text.rfind(b"\n") + 1]
        records, position = [], start
        for line in text.split(b"\n")[:-1]:
            if line.strip():
                record = _record_of(line)
                if record is None:
                    self._keep_aside(line, position)
                elif position or not _GENERATION.match(line + b"\n"):
                    records.append(record)
            position += len(line) + 1
        return records, position

    def count(self) -> int:
        """Return the number of lines, damaged ones too; only those are read that were added since the last count."""
        try:
            with self.path.open("rb") as file:
                self._counted = self._counted.up_to_the_end_of(file)
                return self._counted.lines - bool(_generation_of(file))
        except FileNotFoundError:
            return 0

    def _keep_aside(self, line: bytes, position: int) -> None:
        """Copy a damaged line to a file of its own, once however often it is read, and report it."""
        aside = self.path.with_name(f"{self.path.stem}-{zlib.crc32(line):08x}.damaged")
        if aside.name in self.damaged:
            return
        self.damaged.add(aside.name)
        _log.error("damaged line skipped", extra={"file": self.path.name, "byte": position, "kept_in": aside.name})
        with suppress(OSError), open(aside, "wb", opener=_private) as file:
            file.write(line + b"\n")


def damaged_lines(path: Path) -> list[int] | None:
    """Return the numbers of a journal's damaged lines; None if the file is no journal.

    A line without a checksum counts as damaged, and so does a last line without its end: the process that wrote it was
    killed, or the end is damaged.
    """
    lines = path.read_bytes().split(b"\n")
    if not any(_CHECKSUM.search(line) for line in lines):
        return None
    whole = [_CHECKSUM.search(line) is not None and _record_of(line) is not None for line in lines[:-1]]
    return [number for number, right in enumerate(whole, 1) if not right] + ([len(lines)] if lines[-1] else [])


def _generation_of(file: Any) -> str:
    file.seek(0)
    found = _GENERATION.match(file.read(100))
    return found[1].decode() if found else ""


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
