"""A JSON Lines file that many processes append to and follow: acknowledged records are on disk."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from turnloom.errors import TurnloomError


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


class Journal:
    """Records, oldest first, in a file that is created on the first write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = path.with_suffix(".lock")

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
        """
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
        with self.path.open("ab+") as file:
            whole = self._whole(file)
            file.truncate(whole)
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
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
        """Return the complete records from a position on, and the position after them.

        Raises:
            TurnloomError: If a line is not a record. The message names the file without its folder, because clients may
                see it.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                text = file.read()
        except FileNotFoundError:  # Nothing written yet, or another process has just processed everything.
            return [], start
        text = text[: text.rfind(b"\n") + 1]
        records, position = [], start
        for line in text.splitlines(keepends=True):
            if line.strip():
                records.append(self._record(line, position))
            position += len(line)
        return records, position

    def _record(self, line: bytes, position: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise TurnloomError(
                f"{self.path.name} is damaged at byte {position:,}",
                "remove that line from it in the service's state folder, or restore the file from a backup",
            )
        return record
