"""Text, vectorised: white space and Unicode made uniform, and texts folded for comparison."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["fold_texts", "normalise_texts", "spaced_texts", "word_counts"]

# RE2's \s is ASCII only: other spaces, control characters, zero-width characters and the byte order mark are named.
_ODD_SPACE = r"[\x00-\x20\x7f-\xa0\x{1680}\x{2000}-\x{200b}\x{2028}\x{2029}\x{202f}\x{205f}\x{2060}\x{3000}\x{feff}]+"
_NEEDS_WORK = r"[\x00-\x1f\x7f]|  |^ | $"
_UNSPACED = r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])"
"""Scripts that put no spaces between words."""


def _changed_where(mask: pa.Array, texts: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """The texts, changed where the mask says so; most texts are ASCII, and what changes others is slow."""
    if not pc.any(mask).as_py():
        return texts
    return pc.replace_with_mask(texts, mask, change(texts.filter(mask)))


def _composed(texts: pa.Array) -> pa.Array:
    """Unicode in composed form; not by Arrow, whose normalisation decomposes whatever form is asked for (25.0)."""

    def compose(other: pa.Array) -> pa.Array:
        return pa.array([unicodedata.normalize("NFC", text) for text in other.to_pylist()], other.type)

    return _changed_where(pc.invert(pc.string_is_ascii(texts)), texts, compose)


def normalise_texts(texts: pa.Array) -> pa.Array:
    """Unicode in composed form (NFC), every run of white space and control characters one space, ends trimmed.

    Example:
        >>> import pyarrow as pa
        >>> normalise_texts(pa.array(["  cafe\\u0301\\n\\tnow ", "as it is"])).to_pylist()
        ['café now', 'as it is']
    """

    def normalise(odd: pa.Array) -> pa.Array:
        return pc.utf8_trim(pc.replace_substring_regex(_composed(odd), _ODD_SPACE, " "), " ")

    ascii_only = pc.string_is_ascii(texts)
    odd = pc.or_(pc.invert(ascii_only), pc.match_substring_regex(texts, _NEEDS_WORK))
    return _changed_where(odd, texts, normalise)


def fold_texts(texts: pa.Array) -> pa.Array:
    """Lower case, letters and digits only, single spaces: equal for texts that differ in case and punctuation.

    In scripts without spaces every character stands alone, so that a comma more or less makes no difference there.

    Example:
        >>> import pyarrow as pa
        >>> fold_texts(pa.array(["Hello,   World!", "it's 5 o'clock", "你好，我"])).to_pylist()
        ['hello world', 'it s 5 o clock', '你 好 我']
    """
    lowered = spaced_texts(pc.utf8_lower(_composed(texts)))
    return pc.utf8_trim(pc.replace_substring_regex(lowered, r"[^\pL\pN\pM]+", " "), " ")


def spaced_texts(texts: pa.Array) -> pa.Array:
    """The texts with spaces round the characters of scripts that write none: there a character counts as a word.

    Example:
        >>> import pyarrow as pa
        >>> spaced_texts(pa.array(["OK 你好"])).to_pylist()[0].split()
        ['OK', '你', '好']
    """
    other = pc.invert(pc.string_is_ascii(texts))
    return _changed_where(other, texts, lambda some: pc.replace_substring_regex(some, _UNSPACED, r" \1 "))


def word_counts(texts: pa.Array) -> npt.NDArray[np.int64]:
    """The number of words in each text: what stands between ASCII white space, and characters as in `spaced_texts`.

    Counted in the array's bytes, which is seven times as fast as a regular expression.

    Example:
        >>> import pyarrow as pa
        >>> word_counts(pa.array(["a bb  ccc ", "", "OK 你好"])).tolist()
        [3, 0, 3]
    """
    texts = spaced_texts(texts).cast(pa.large_string())
    _, bounds, data = texts.buffers()
    offsets = np.frombuffer(bounds, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if not len(texts) or data is None:
        return np.zeros(len(texts), np.int64)
    content = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    is_space = content <= 0x20
    starts = ~is_space
    starts[1:] &= is_space[:-1]
    firsts = (offsets[:-1] - offsets[0])[np.diff(offsets) > 0]
    starts[firsts] = ~is_space[firsts]  # The end of one text and the start of the next are no word.
    counts: npt.NDArray[np.int64] = np.diff(np.searchsorted(np.flatnonzero(starts), offsets - offsets[0]))
    return counts
