"""API keys: stored as hashes, compared in constant time, rate-limited over all worker processes together."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import secrets
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from starlette.datastructures import Headers

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


def sent_key(headers: Headers) -> str:
    """Return the key that a request came with; an empty string if it has none."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def find_key(entries: Sequence[KeyEntry], key: str) -> tuple[int, KeyEntry] | None:
    """Return the entry of a key and its index. All are compared, so that timing reveals nothing."""
    given = hashed(key[:LONGEST_KEY])
    match = None
    for number, entry in enumerate(entries):
        if hmac.compare_digest(given, entry.hash):
            match = (number, entry)
    return match


def tenant_of(key: KeyEntry | None) -> str:
    """Return the tenant of a key; an empty string for the service's own data, as without keys."""
    return (key.tenant or "") if key is not None else ""


class Buckets:
    """Token buckets in a file shared by all worker processes: each holds a minute's amount and refills steadily.

    Written in place into space that was reserved at the start: neither a full disk nor a memory map can end a worker.

    Args:
        path: The file.
        per_minute: The limit of each bucket; None for no limit.
    """

    def __init__(self, path: Path, per_minute: Sequence[float | None]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._limits = list(per_minute)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        size, needed = os.fstat(self._file).st_size, len(self._limits) * _BUCKET.size
        if size < needed:
            # Zeros mean that the bucket was last used long ago, so it is full.
            os.pwrite(self._file, bytes(needed - size), size)

    def take(self, number: int, amount: float = 1.0) -> float:
        """Take an amount; return 0, or the seconds until it is available.

        More than a bucket holds is given to a full one, which then refills for longer.
        """
        limit = self._limits[number]
        if limit is None:
            return 0.0
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            left, when = map(float, _BUCKET.unpack(os.pread(self._file, _BUCKET.size, number * _BUCKET.size)))
            now, most = time.time(), max(1.0, limit)
            left = min(most, left + max(0.0, now - when) * limit / 60)
            missing = min(amount, most) - left
            given = amount if missing <= 0 else 0.0
            with suppress(OSError):  # A file system that copies on write may need space; answers are worth more.
                os.pwrite(self._file, _BUCKET.pack(left - given, now), number * _BUCKET.size)
            return max(0.0, missing) * 60 / limit
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
