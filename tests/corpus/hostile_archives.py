"""Archives made to do harm, and broken ones: each must be refused in little time and memory."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from tests.corpus.formats import json_lines, sample, turns_record

LOG = json_lines([turns_record(sample(number)) for number in range(3)])


def _archive(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content, method)
    return buffer.getvalue()


def _renamed(name: str) -> bytes:
    """An archive whose member has a name that `zipfile` would not write."""
    plain = "a" * len(name.encode())
    return _archive((plain, LOG)).replace(plain.encode(), name.encode())


def _typed(file_type: int) -> bytes:
    info = zipfile.ZipInfo("chat.jsonl")
    info.create_system = 3
    info.external_attr = (file_type | 0o777) << 16
    return _archive((info, b"/etc/passwd"))


def _patched(content: bytes, *fields: tuple[bytes, int, str, Any]) -> bytes:
    """Overwrite fields of headers: the header's signature, the field's offset, its format and its value."""
    changed = bytearray(content)
    for signature, offset, form, value in fields:
        at = changed.find(signature)
        while at >= 0:
            struct.pack_into(form, changed, at + offset, value)
            at = changed.find(signature, at + 4)
    return bytes(changed)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def _bomb() -> bytes:
    return _archive(("chat.jsonl", b" " * 64 * 2**20))


def _many_bombs() -> bytes:
    """Each member is harmless alone, together they are not."""
    return _archive(*((f"{number}.jsonl", b" " * 8 * 2**20) for number in range(8)))


def _overlapping() -> bytes:
    """Two members share their bytes, as in the bombs that reach any ratio."""
    content = _archive(("a.jsonl", LOG), ("b.jsonl", LOG))
    at = content.rfind(CENTRAL)
    changed = bytearray(content)
    struct.pack_into("<I", changed, at + 42, 0)
    return bytes(changed)


def _small_lie() -> bytes:
    """The list says five bytes, and the member unpacks to more."""
    return _patched(_archive(("chat.jsonl", LOG * 1_000)), (CENTRAL, 24, "<I", 5), (LOCAL, 22, "<I", 5))


def _wrong_checksum() -> bytes:
    return _patched(_archive(("chat.jsonl", LOG)), (CENTRAL, 16, "<I", zlib.crc32(b"other")))


def _too_many() -> bytes:
    """The end record announces four billion members in a list that would fill the memory."""
    large = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 2**32, 2**32, 2**40, 0)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, 0, 1)
    return large + locator + END + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)


def _duplicates() -> bytes:
    return _archive(("a.jsonl", LOG), ("b.jsonl", LOG)).replace(b"b.jsonl", b"a.jsonl")


HOSTILE: dict[str, Callable[[], bytes]] = {
    "parent folder": lambda: _renamed("../../chat.jsonl"),
    "parent folder inside": lambda: _renamed("logs/../../chat.jsonl"),
    "absolute": lambda: _renamed("/tmp/chat.jsonl"),
    "drive": lambda: _renamed("C:/chat.jsonl"),
    "backslashes": lambda: _renamed("..\\..\\chat.jsonl"),
    "nul in a name": lambda: _renamed("chat.jsonl\x00.png"),
    "line break in a name": lambda: _renamed("chat\n.jsonl"),
    "symbolic link": lambda: _typed(stat.S_IFLNK),
    "device": lambda: _typed(stat.S_IFCHR),
    "bomb": _bomb,
    "many bombs": _many_bombs,
    "overlapping members": _overlapping,
    "lie about the size": _small_lie,
    "wrong checksum": _wrong_checksum,
    "encrypted": lambda: _patched(_archive(("a.jsonl", LOG)), (LOCAL, 6, "<H", 1), (CENTRAL, 8, "<H", 1)),
    "unusual compression": lambda: _archive(("a.jsonl", LOG), method=zipfile.ZIP_LZMA),
    "too many members": _too_many,
    "two of one name": _duplicates,
    "cut off": lambda: _archive(("a.jsonl", LOG))[:-40],
    "list moved": lambda: _patched(_archive(("a.jsonl", LOG)), (END, 16, "<I", 2**31)),
    "no archive": lambda: b"PK\x03\x04" + b"nothing" * 100,
}
"""By what is wrong with it."""
