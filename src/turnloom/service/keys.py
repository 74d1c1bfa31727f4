"""API keys: stored as hashes, compared in constant time, rate-limited over all worker processes together."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import mmap
import os
import secrets
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from turnloom.service.config import KeyEntry

PREFIX = "tw-"
_BUCKET = struct.Struct("dd")
LONGEST_KEY = 512


def new_key() -> str:
    """Create a key with 256 random bits. They cannot be guessed, so a fast hash is enough to store it."""
    return PREFIX + secrets.token_urlsafe(32)


def hashed(key: str) -> str:
    """Return the hash that is stored of a key.

    Example:
        >>> hashed("abc")[:14]
        'sha256:ba7816b'
    """
    return "sha256:" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def find_key(entries: Sequence[KeyEntry], key: str) -> tuple[int, KeyEntry] | None:
    """Return the entry of a key and its index. All are compared, so that timing reveals nothing."""
    given = hashed(key[:LONGEST_KEY])
    match = None
    for number, entry in enumerate(entries):
        if hmac.compare_digest(given, entry.hash):
            match = (number, entry)
    return match


class Buckets:
    """Token buckets in a file shared by all worker processes: each holds a minute's requests and refills steadily.

    `per_minute` is the limit of each bucket; None for no limit.
    """

    def __init__(self, path: Path, per_minute: Sequence[float | None]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._limits = list(per_minute)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        size = max(1, len(self._limits)) * _BUCKET.size
        if os.fstat(self._file).st_size < size:
            os.ftruncate(self._file, size)  # Zeros mean that the bucket was last used long ago, so it is full.
        self._memory = mmap.mmap(self._file, size)

    def take(self, number: int) -> float:
        """Take one request; return 0, or the seconds until one is available."""
        limit = self._limits[number]
        if limit is None:
            return 0.0
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            left, when = _BUCKET.unpack_from(self._memory, number * _BUCKET.size)
            now = time.time()
            left = min(max(1.0, limit), left + max(0.0, now - when) * limit / 60)
            enough = left >= 1
            _BUCKET.pack_into(self._memory, number * _BUCKET.size, left - enough, now)
            return 0.0 if enough else (1 - left) * 60 / limit
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        self._memory.close()
        os.close(self._file)
