"""A JSON Lines file that many processes append to and follow: acknowledged records are on disk.

Each line ends with a checksum of what is before it. A damaged line is skipped, reported, and copied to a file beside.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

_CHECKSUM = re.compile(rb', "crc32": "([0-9a-f]{8})"\}$')
_TAIL = 32
"""This many bytes tell whether what was counted is still there: nearly all of them are of a checksum."""
_log = logging.getLogger("turnloom.journal")


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold a lock file; yields False if another process holds it and `wait` is off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
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

    def read(self, start: int = 0) -> tuple[list[dict[str, Any]], int]:
        """Return the complete and undamaged records from a position on, and the position after them."""
        try:
            with self.path.open("rb") as file:
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
                else:
                    records.append(record)
            position += len(line) + 1
        return records, position

    def count(self) -> int:
        """Return the number of lines, damaged ones too; only those are read that were added since the last count."""
        try:
            with self.path.open("rb") as file:
                self._counted = self._counted.up_to_the_end_of(file)
                return self._counted.lines
        except FileNotFoundError:
            return 0

    def _keep_aside(self, line: bytes, position: int) -> None:
        """Copy a damaged line to a file of its own, once however often it is read, and report it."""
        aside = self.path.with_name(f"{self.path.stem}-{zlib.crc32(line):08x}.damaged")
        if aside.name in self.damaged:
            return
        self.damaged.add(aside.name)
        _log.error("damaged line skipped", extra={"file": self.path.name, "byte": position, "kept_in": aside.name})
        with suppress(OSError):
            aside.write_bytes(line + b"\n")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
