"""Read a log in any encoding line by line without trusting it, and what readers make of it."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from turnloom.corpus.schema import Dialogue

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_RECORD_BYTES = 8 * 2**20
"""A longer line is not a conversation; it is skipped without holding it in memory."""


@dataclass(slots=True, frozen=True)
class Rejection:
    """A rejected record: its location, the reason, and the offending text."""

    line: int
    reason: str
    piece: str = ""


@dataclass(slots=True)
class Parsed:
    """An accepted record, or a run of `records` table rows that belong to one dialogue.

    Turns without text (attachments, tool calls, instructions to a model) are dropped. Turns of a table are sorted by
    `order`, and ties by their `lines`.
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


def shorten(piece: str | bytes, limit: int = 200) -> str:
    """Return the printable start of an offending text, for a message or the rejected file."""
    text = piece[: 4 * limit].decode("utf-8", "backslashreplace") if isinstance(piece, bytes) else piece[: 4 * limit]
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else text[:limit] + "…"


class ByteStream(Protocol):
    """The file interface that readers need, shared by `io.BufferedReader` and `gzip.GzipFile`."""

    def peek(self, size: int = ..., /) -> bytes: ...  # noqa: D102
    def read1(self, size: int = ..., /) -> bytes: ...  # noqa: D102
    def readline(self, size: int | None = ..., /) -> bytes: ...  # noqa: D102


def read_lines(stream: ByteStream) -> Iterator[Line | Rejection]:
    """Yield the lines of a stream; lines longer than MAX_RECORD_BYTES are skipped and reported."""
    number = 1
    while content := stream.readline(MAX_RECORD_BYTES):
        if len(content) == MAX_RECORD_BYTES and not content.endswith(b"\n"):
            yield Rejection(number, f"the line is longer than {MAX_RECORD_BYTES // 2**20} MiB", shorten(content))
            while (rest := stream.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
                pass
        else:
            yield Line(number, content.rstrip(b"\r\n"))
        number += 1


UTF_8 = "utf-8"
_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"
JAPANESE = ("cp932", "euc_jp")
CANDIDATES = [
    *(WESTERN, "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r"),
    *(*JAPANESE, "gb18030", "big5", "cp949"),
]
"""The encodings that spreadsheets and help desks export. Guessing among all encodings is wrong more often."""
_SAMPLE = 2**16
_BROKEN = re.compile("[\udc80-\udcff]")
_WHOLE = re.compile("[^\x00-\x7f\udc80-\udcff]")
_SIGN_IN_WORD = re.compile(r"[^\W\d_][¡-©«-´¶-¹»-¿][^\W\d_]")
"""Polish misread as Western European: `przesy³ka`."""
_KANA = re.compile("[\u3041-\u30ff]")


def find_encoding(content: bytes) -> str:
    """Detect the encoding from a text's start; UTF-8 with a few broken bytes, and binary data, count as UTF-8."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return name
    if b"\x00" in content[:_SAMPLE]:
        return _without_mark(content[:_SAMPLE])
    text = codecs.getincrementaldecoder(UTF_8)("surrogateescape").decode(content)
    broken, whole = len(_BROKEN.findall(text)), len(_WHOLE.findall(text))
    return UTF_8 if broken <= whole else _guess(content)


def _without_mark(content: bytes) -> str:
    """Detect UTF-16 without a byte order mark: every second byte is zero for most letters, and few others are."""
    even, odd = (content[start::2].count(0) / (len(content) / 2) for start in (0, 1))
    if max(even, odd) > 0.5 and min(even, odd) < 0.05:
        return "utf-16-le" if odd > even else "utf-16-be"
    return UTF_8


def _guess(content: bytes) -> str:
    from charset_normalizer import from_bytes

    # Lines without non-ASCII letters, and repeated lines, only blur the statistics.
    sample = b"\n".join(dict.fromkeys(line for line in content.splitlines() if not line.isascii()))[:_SAMPLE]
    for name in JAPANESE:
        text = sample.decode(name, "replace")
        if len(_KANA.findall(text)) > 0.2 * len(_WHOLE.findall(text)) and text.count("\ufffd") <= 1:
            return name  # The detector mistakes it for Korean.
    matches = list(from_bytes(sample, cp_isolation=CANDIDATES))
    western = next((match for match in matches if WESTERN in match.could_be_from_charset), None)
    if western is not None and _SIGN_IN_WORD.search(str(western)):
        matches.remove(western)
        western = None
    best = matches[0] if matches else None
    # Prefer the most common encoding if it is about as likely as the best guess.
    if western and best and western.chaos <= best.chaos + 0.01 and western.coherence >= best.coherence - 0.05:
        return WESTERN
    return best.encoding if best else WESTERN


def encoding_note(path: str, encoding: str) -> str:
    """Return a note for the user about a file that is not UTF-8."""
    if encoding.startswith("utf"):
        return f"{path}: read as {encoding.upper()}"
    name = re.sub(r"^cp(125\d)$", r"Windows-\1", encoding)
    return f"{path}: not UTF-8, read as {name} (a guess: if letters look wrong, convert it to UTF-8 first with iconv)"


class _Recoded(io.RawIOBase):
    """Recodes a stream to UTF-8; invalid bytes become U+FFFD."""

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        while not self._waiting:
            piece = self._stream.read1(2**16)
            self._waiting = self._decoder.decode(piece, final=not piece).encode(UTF_8, "replace")
            if not piece:
                break
        given, self._waiting = self._waiting[: len(view)], self._waiting[len(view) :]
        view[: len(given)] = given
        return len(given)


def as_utf8(stream: ByteStream, encoding: str) -> ByteStream:
    """Return the stream as UTF-8: itself, or a recoding one."""
    return stream if encoding == UTF_8 else io.BufferedReader(_Recoded(stream, encoding), 2**16)
