"""A file of JSON lines that many processes append to and read on: what is acknowledged is on disk."""

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
    """Hold a lock file; gives False if another process holds it and `wait` is off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


class Journal:
    """Records, the oldest first, in a file that is made when it is first written to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = path.with_suffix(".lock")

    @property
    def size(self) -> int:
        """How many bytes it has."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def writing(self) -> AbstractContextManager[bool]:
        """Keep other processes from writing."""
        return locked(self._lock)

    def append(self, records: list[dict[str, Any]]) -> int:
        """Write records to disk, within `writing`; the size after them.

        What a killed process left of a record was never acknowledged, and goes.
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
        """Where the last whole record ends."""
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
        """The whole records from a position on, and the position after them.

        Raises:
            TurnloomError: If a line is no record. It names the file without its folder: clients may see it.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                text = file.read()
        except FileNotFoundError:  # Nothing yet, or all of it done by another process a moment ago.
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
