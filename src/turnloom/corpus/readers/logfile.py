"""Opening a log file wherever it lies, and reading it line by line without trusting it."""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

import pyarrow as pa
import pyarrow.fs

from turnloom.corpus.schema import Dialogue

__all__ = [
    "MAX_RECORD_BYTES",
    "ByteStream",
    "Line",
    "Parsed",
    "Rejection",
    "is_url",
    "open_raw",
    "read_lines",
    "shorten",
    "stem",
    "unpacked",
]

MAX_RECORD_BYTES = 8 * 2**20
"""A longer line is not a conversation; it is skipped without being held in memory."""

_COMPRESSION = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}


@dataclass(slots=True, frozen=True)
class Rejection:
    """A record that was left out: where it is, why, and the piece that was at fault."""

    line: int
    reason: str
    piece: str = ""


@dataclass(slots=True)
class Parsed:
    """A record that was taken in, or the run of a table's rows that belong to one dialogue.

    Args:
        dialogue: What the record says.
        records: How many records of the file it stands for (rows of a table; 1 elsewhere).
        dropped_turns: Turns without text (attachments, tool calls, instructions to a model) that were left out.
        order: For rows of a table, what the dialogue's turns are to be sorted by.
        lines: For rows of a table, where each turn stood; breaks ties of `order`.
    """

    dialogue: Dialogue
    records: int = 1
    dropped_turns: int = 0
    order: list[int] | None = None
    lines: list[int] | None = None


@dataclass(slots=True, frozen=True)
class Line:
    """A physical line, without its line break."""

    number: int
    content: bytes


def is_url(path: str) -> bool:
    """Whether the path names an object store or a web address rather than a local file."""
    return "://" in path


def stem(path: str) -> str:
    """The file's name without folders, compression and format endings: ``logs/chat.jsonl.gz`` gives ``chat``."""
    name = Path(path.split("?")[0]).name
    suffix = Path(name).suffix
    if suffix.lower() in _COMPRESSION:
        name = name.removesuffix(suffix)
    return Path(name).stem or name


def shorten(piece: str | bytes, limit: int = 200) -> str:
    """The start of an offending piece, printable, for a message or the rejected file."""
    text = piece[: 4 * limit].decode("utf-8", "backslashreplace") if isinstance(piece, bytes) else piece[: 4 * limit]
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else text[:limit] + "…"


def _open_url(url: str) -> IO[bytes]:
    """A remote file: a web address is spooled to disk, an object store is read in place.

    Not through `daft.File`: its reads wait for the very threads that wait for our readers, and two remote files at once
    would wait for each other for ever (seen in Daft 0.7.26).
    """
    if url.startswith(("http://", "https://")):
        with urllib.request.urlopen(url, timeout=60) as response:
            spooled = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
            shutil.copyfileobj(response, spooled)
        spooled.seek(0)
        return spooled
    system, path = pa.fs.FileSystem.from_uri(url.replace("az://", "abfs://", 1))
    return cast("IO[bytes]", io.BufferedReader(system.open_input_file(path), 2**20))


def open_raw(path: str) -> IO[bytes]:
    """The file's bytes as they lie there, compressed or not.

    Raises:
        OSError: If it cannot be opened.
    """
    if not is_url(path):
        return Path(path).open("rb", buffering=2**20)
    try:
        return _open_url(path)
    except (pa.ArrowException, ValueError) as error:
        raise OSError(f"{error}") from error


class ByteStream(Protocol):
    """What readers need of a file: `io.BufferedReader` and `gzip.GzipFile` both have it."""

    def peek(self, size: int = ..., /) -> bytes: ...  # noqa: D102
    def read1(self, size: int = ..., /) -> bytes: ...  # noqa: D102
    def readline(self, size: int | None = ..., /) -> bytes: ...  # noqa: D102


def unpacked(path: str, raw: IO[bytes]) -> Any:
    """The bytes of an opened file, gzip and zstd unpacked by the file's ending."""
    compression = _COMPRESSION.get(Path(path.split("?")[0]).suffix.lower())
    if compression == "gzip":
        # Python's own gzip gives all that a cut file holds before it complains; Arrow's loses the last buffer.
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if compression == "zstd":
        return io.BufferedReader(pa.CompressedInputStream(raw, "zstd"), 2**16)
    return raw


def read_lines(stream: ByteStream) -> Iterator[Line | Rejection]:
    """Yield the lines of a stream; one that is longer than MAX_RECORD_BYTES is passed over and reported."""
    number = 1
    while content := stream.readline(MAX_RECORD_BYTES):
        if len(content) == MAX_RECORD_BYTES and not content.endswith(b"\n"):
            yield Rejection(number, f"the line is longer than {MAX_RECORD_BYTES // 2**20} MiB", shorten(content))
            while (rest := stream.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
                pass
        else:
            yield Line(number, content.rstrip(b"\r\n"))
        number += 1
