"""Which format a file has, and why we think so."""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass

from turnloom.corpus.encoding import UTF_8, as_utf8, find_encoding
from turnloom.corpus.logfile import is_url, open_raw, unpacked
from turnloom.corpus.readers import Head, find_reader, reader_names
from turnloom.errors import TurnloomError

__all__ = ["Detection", "detect_format", "read_head"]

HEAD_BYTES = 2**20


@dataclass(frozen=True)
class Detection:
    """The format of a file and what gave it away."""

    format: str
    why: str


def read_head(path: str) -> Head:
    """The first megabyte of a file, or as much of it as a broken file gives.

    Raises:
        TurnloomError: If nothing can be read, or nothing that any reader could use.
    """
    content = rest = b""
    try:
        with open_raw(path) as raw, unpacked(path, raw) as stream:
            while len(content) < HEAD_BYTES and (piece := stream.read1(HEAD_BYTES - len(content))):
                content += piece
            # An English log may have its first other letter late; a remote file is not read twice for it.
            while content.isascii() and rest.isascii() and not is_url(path) and (rest := stream.read1(HEAD_BYTES)):
                pass
    except (OSError, EOFError, zlib.error) as error:
        if not content:
            raise TurnloomError(f"{path} cannot be read ({error})", "check the path and the file") from error
    if not content.strip():
        raise TurnloomError(f"{path} is empty", "leave it out or export it again")
    encoding = find_encoding(content if not content.isascii() else content + rest)
    recoded = as_utf8(io.BufferedReader(io.BytesIO(content)), encoding)
    return Head(path, content if encoding == UTF_8 else b"".join(iter(recoded.read1, b"")), encoding)


def detect_format(head: Head) -> Detection:
    """Recognise a log file's format by its first megabyte.

    Raises:
        TurnloomError: If it looks like none of the known formats.
    """
    for name in reader_names():
        why = find_reader(name).recognise(head)
        if why:
            return Detection(name, why)
    raise TurnloomError(
        f"{head.path} looks like none of the known formats ({', '.join(reader_names())})",
        "name it with --format, and the columns of a table with --map dialogue_id=…,text=…",
    )
