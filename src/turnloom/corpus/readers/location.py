"""Open a log at any location: a file, a member of a zip archive, a web address, an object store."""

from __future__ import annotations

import gzip
import io
import re
import shutil
import tempfile
import urllib.request
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.fs

from turnloom.corpus.readers.archives import open_archive, open_member

READ_ERRORS = (OSError, EOFError, zlib.error)
"""The errors of a broken file or connection."""
UNPACKED_BYTES, EXPANSION = 2**26, 100
"""A compressed file that is read as a whole may hold so many bytes, and beyond that so many times its size."""
_COMPRESSION = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_MEMBER = re.compile(r"(?i)^(.+?\.zip)/(.+)$", re.DOTALL)
_OPEN_ARCHIVES = 8


def is_url(path: str) -> bool:
    """Whether the path is an object store or web address rather than a local file."""
    return "://" in path


def is_archive(path: str) -> bool:
    """Whether the path is a zip archive, by its ending."""
    return path.split("?")[0].lower().endswith(".zip") and (is_url(path) or Path(path).is_file())


def split_member(path: str) -> tuple[str, str] | None:
    """Split ``export.zip/general/2024-05-01.json`` into the archive and its member; None if it is no member."""
    match = _MEMBER.match(path)
    return (match[1], match[2]) if match and is_archive(match[1]) else None


def list_members(path: str) -> list[str]:
    """Return the paths of an archive's files, without what operating systems add."""
    names = [info.filename for info in _archive(path).infolist() if not info.is_dir()]
    return [f"{path}/{name}" for name in names if not re.search(r"(?:^|/)(?:__MACOSX/|\._|\.DS_Store$)", name)]


def stem(path: str) -> str:
    """Return the file's name without folders, compression and format endings: ``logs/chat.jsonl.gz`` gives ``chat``."""
    name = Path(path.split("?")[0]).name
    suffix = Path(name).suffix
    if suffix.lower() in _COMPRESSION:
        name = name.removesuffix(suffix)
    return Path(name).stem or name


def size_of(path: str) -> int:
    """Return the size of a local file or an archive's member; 0 if it is not known."""
    member = split_member(path)
    if member is not None:
        return _archive(member[0]).getinfo(member[1]).file_size
    return Path(path).stat().st_size if Path(path).is_file() else 0


def _open_url(url: str) -> IO[bytes]:
    """Open a remote file: a web address is spooled to disk, an object store is read directly.

    Not through `daft.File`: its reads wait for the very threads that wait for our readers, so two remote files deadlock
    (seen in Daft 0.7.26).
    """
    if url.startswith(("http://", "https://")):
        with urllib.request.urlopen(url, timeout=60) as response:
            spooled = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
            shutil.copyfileobj(response, spooled)
        spooled.seek(0)
        return spooled
    system, path = pa.fs.FileSystem.from_uri(url.replace("az://", "abfs://", 1))
    return cast("IO[bytes]", io.BufferedReader(system.open_input_file(path), 2**20))


def _open_whole(path: str) -> IO[bytes]:
    if not is_url(path):
        return Path(path).open("rb", buffering=2**20)
    try:
        return _open_url(path)
    except (pa.ArrowException, ValueError) as error:
        raise OSError(f"{error}") from error


def _archive(path: str) -> zipfile.ZipFile:
    """Return an open archive. Exports have thousands of members, so its list of them is read once."""
    stamp = (0, 0)
    if not is_url(path):
        status = Path(path).stat()
        stamp = (status.st_mtime_ns, status.st_size)
    return _opened_archive(path, stamp)


@lru_cache(maxsize=_OPEN_ARCHIVES)
def _opened_archive(path: str, stamp: tuple[int, int]) -> zipfile.ZipFile:  # noqa: ARG001 - a changed file is another
    raw = _open_whole(path)
    try:
        return open_archive(raw, path)
    except BaseException:
        raw.close()
        raise


def open_raw(path: str) -> IO[bytes]:
    """Open the file's raw bytes, compressed or not; raises OSError if it cannot be opened."""
    member = split_member(path)
    return _open_whole(path) if member is None else open_member(_archive(member[0]), member[1])


def _refuse_bomb(unpacked: int, packed: IO[bytes]) -> None:
    """Raise OSError if a file unpacks to far more than any log does."""
    if unpacked > max(UNPACKED_BYTES, EXPANSION * packed.tell()):
        raise OSError(f"it unpacks to more than {EXPANSION} times its size; if it is a log, unpack it first")


class _Gzip(gzip.GzipFile):
    def read1(self, size: int = -1) -> bytes:
        data = super().read1(size)
        _refuse_bomb(self.tell(), cast("IO[bytes]", self.fileobj))
        return data


class _Zstd(io.BufferedReader):
    packed: IO[bytes]
    unpacked = 0  # Arrow's stream does not say where it is.

    def read1(self, size: int = -1, /) -> bytes:
        data = super().read1(size)
        self.unpacked += len(data)
        _refuse_bomb(self.unpacked, self.packed)
        return data


def unpacked(path: str, raw: IO[bytes]) -> Any:
    """Decompress an opened file with gzip or zstd, by its ending.

    Who reads it as a whole (`read1`) is protected from files that are small only while they are packed.
    """
    compression = _COMPRESSION.get(Path(path.split("?")[0]).suffix.lower())
    if compression == "gzip":
        # Python's gzip returns everything in a truncated file before it raises; Arrow's loses the last buffer.
        return _Gzip(fileobj=raw, mode="rb")
    if compression == "zstd":
        stream = _Zstd(pa.CompressedInputStream(raw, "zstd"), 2**16)
        stream.packed = raw
        return stream
    return raw
