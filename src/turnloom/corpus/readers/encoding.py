"""Which encoding a text file is in, and reading any of them as UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from turnloom.corpus.readers.logfile import ByteStream

__all__ = ["UTF_8", "as_utf8", "encoding_note", "find_encoding"]

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
"""What spreadsheets and help desks export in. A guess among all that there are is wrong more often."""
_SAMPLE = 2**16
_BROKEN = re.compile("[\udc80-\udcff]")
_WHOLE = re.compile("[^\x00-\x7f\udc80-\udcff]")
_SIGN_IN_WORD = re.compile(r"[^\W\d_][¡-©«-´¶-¹»-¿][^\W\d_]")
"""Polish read as Western European: `przesy³ka`."""
_KANA = re.compile("[\u3041-\u30ff]")


def find_encoding(content: bytes) -> str:
    """The encoding of a text, judged by its start; UTF-8 with a few broken bytes, and what is no text, stay UTF-8."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return name
    if b"\x00" in content[:_SAMPLE]:
        return _without_mark(content[:_SAMPLE])
    text = codecs.getincrementaldecoder(UTF_8)("surrogateescape").decode(content)
    broken, whole = len(_BROKEN.findall(text)), len(_WHOLE.findall(text))
    return UTF_8 if broken <= whole else _guess(content)


def _without_mark(content: bytes) -> str:
    """UTF-16 without a byte order mark: every second byte of most letters is zero, and hardly any other."""
    even, odd = (content[start::2].count(0) / (len(content) / 2) for start in (0, 1))
    if max(even, odd) > 0.5 and min(even, odd) < 0.05:
        return "utf-16-le" if odd > even else "utf-16-be"
    return UTF_8


def _guess(content: bytes) -> str:
    from charset_normalizer import from_bytes

    # Lines without letters of interest, and the same ones again, only blur the picture.
    sample = b"\n".join(dict.fromkeys(line for line in content.splitlines() if not line.isascii()))[:_SAMPLE]
    for name in JAPANESE:
        text = sample.decode(name, "replace")
        if len(_KANA.findall(text)) > 0.2 * len(_WHOLE.findall(text)) and text.count("\ufffd") <= 1:
            return name  # The guess takes it for Korean.
    matches = list(from_bytes(sample, cp_isolation=CANDIDATES))
    western = next((match for match in matches if WESTERN in match.could_be_from_charset), None)
    if western is not None and _SIGN_IN_WORD.search(str(western)):
        matches.remove(western)
        western = None
    best = matches[0] if matches else None
    # The most frequent encoding of all, if it is about as good a guess as the best one.
    if western and best and western.chaos <= best.chaos + 0.01 and western.coherence >= best.coherence - 0.05:
        return WESTERN
    return best.encoding if best else WESTERN


def encoding_note(path: str, encoding: str) -> str:
    """What to tell the user about a file that is not UTF-8."""
    if encoding.startswith("utf"):
        return f"{path}: read as {encoding.upper()}"
    name = re.sub(r"^cp(125\d)$", r"Windows-\1", encoding)
    return f"{path}: not UTF-8, read as {name} (a guess: if letters look wrong, convert it to UTF-8 first with iconv)"


class _Recoded(io.RawIOBase):
    """A stream of another encoding as UTF-8; bytes that do not belong to it become U+FFFD."""

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
    """The stream as UTF-8: itself, or one that recodes it on the way."""
    return stream if encoding == UTF_8 else io.BufferedReader(_Recoded(stream, encoding), 2**16)
