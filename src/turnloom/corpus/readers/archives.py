"""Zip archives of exports, read in place: nothing is unpacked to disk, and an archive made to do harm is refused."""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
from typing import IO, cast

from turnloom.errors import TurnloomError

MAX_MEMBERS = 200_000
MAX_DIRECTORY_BYTES = 64 * 2**20
"""The list of members is held in memory; 64 MiB lists half a million files."""
MAX_BYTES = 64 * 2**30
MAX_RATIO = 200
"""Chat logs rarely shrink by more than 30 times; deflate can reach 1,000."""
_SMALL = 16 * 2**20
"""A member or archive that unpacks to less than this is harmless at any ratio."""
_DRIVE = re.compile(r"^[A-Za-z]:")
_FILE_TYPES = (0, stat.S_IFREG, stat.S_IFDIR)
_END_BYTES = 22 + 65_535 + 20
"""The end record, its longest comment, and the pointer to the larger record of a large archive."""
_LOCAL_HEADER_BYTES = 30


def _refuse(path: str, why: str) -> TurnloomError:
    return TurnloomError(
        f"{path} is not read, because {why}",
        "export it again, or unpack it with a program you trust and convert the folder",
    )


def _check_directory_size(raw: IO[bytes], path: str) -> None:
    """Refuse a list of members that would fill the memory, before it is read."""
    size = raw.seek(0, io.SEEK_END)
    start = max(0, size - _END_BYTES)
    raw.seek(start)
    tail = raw.read(_END_BYTES)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 22:
        raise _refuse(path, "its end is missing: it is cut off, or no zip archive")
    members, length = struct.unpack("<HI", tail[at + 10 : at + 16])
    large = tail.rfind(b"PK\x06\x07", 0, at)
    if large >= 0 and (members == 0xFFFF or length == 0xFFFFFFFF):
        raw.seek(min(struct.unpack("<Q", tail[large + 8 : large + 16])[0], size))
        record = raw.read(56)
        if len(record) < 56 or not record.startswith(b"PK\x06\x06"):
            raise _refuse(path, "its list of members is damaged")
        members, length = struct.unpack("<QQ", record[32:48])
    if members > MAX_MEMBERS or length > MAX_DIRECTORY_BYTES:
        raise _refuse(path, f"it lists {members:,} members in {length:,} bytes (the most is {MAX_MEMBERS:,})")


def _fault_of_member(info: zipfile.ZipInfo) -> str | None:
    """Return what is wrong with a member; None if it is an ordinary file or folder."""
    name = info.orig_filename
    parts = name.split("/")
    if name.startswith("/") or _DRIVE.match(name) or ".." in parts or "\\" in name:
        return "its name points out of the archive"
    if name != info.filename or not name.isprintable():
        return "its name holds control characters"
    if stat.S_IFMT(info.external_attr >> 16) not in _FILE_TYPES:
        return "it is a link or a device, not a file"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"it is compressed with method {info.compress_type}, which is neither stored nor deflated"
    if info.file_size > _SMALL and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return f"it unpacks to {info.file_size:,} bytes from {info.compress_size:,}"
    return None


def _check_members(archive: zipfile.ZipFile, path: str) -> None:
    infos = archive.infolist()
    for info in infos:
        if fault := _fault_of_member(info):
            raise _refuse(path, f"its member {info.filename[:100]!r} is not safe: {fault}")
    if len({info.filename for info in infos}) < len(infos):
        raise _refuse(path, "two of its members have the same name")
    total, packed = (sum(getattr(info, size) for info in infos) for size in ("file_size", "compress_size"))
    if total > MAX_BYTES or (total > _SMALL and total > MAX_RATIO * max(packed, 1)):
        raise _refuse(path, f"it unpacks to {total:,} bytes from {packed:,}")
    places = sorted((info.header_offset, info.compress_size) for info in infos)
    ends = [start + _LOCAL_HEADER_BYTES + size for start, size in places]
    starts = [start for start, _ in places[1:]]
    if any(end > start for end, start in zip(ends, [*starts, archive.start_dir], strict=False)):
        raise _refuse(path, "its members overlap")


def open_archive(raw: IO[bytes], path: str) -> zipfile.ZipFile:
    """Open a zip archive; raises TurnloomError if it is broken, or made to fill the memory or to write elsewhere."""
    _check_directory_size(raw, path)
    try:
        archive = _Archive(raw)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, EOFError, OSError) as error:
        raise _refuse(path, f"it is no whole zip archive ({error})") from error
    _check_members(archive, path)
    return archive


class _Archive(zipfile.ZipFile):
    """A zip archive that closes its file."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        super().__init__(raw)

    def close(self) -> None:
        super().close()
        self._raw.close()


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a file in an archive; it yields at most the bytes that the archive declares."""
    try:
        return cast("IO[bytes]", io.BufferedReader(_Member(archive.open(name)), 2**16))
    except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise OSError(f"{error}") from error


class _Member(io.RawIOBase):
    """A member as a raw stream, whose damage is an `OSError` like that of any other file."""

    def __init__(self, member: IO[bytes]) -> None:
        self._member = member

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            piece = self._member.read(len(buffer))
        except (zipfile.BadZipFile, RuntimeError) as error:
            raise OSError(f"{error}") from error
        buffer[: len(piece)] = piece
        return len(piece)

    def tell(self) -> int:
        return self._member.tell()

    def close(self) -> None:
        self._member.close()
        super().close()
