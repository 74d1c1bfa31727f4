"""Text, vectorised: white space and Unicode made uniform, and texts folded for comparison."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["fold_texts", "normalise_texts", "spaced_texts", "word_counts"]

# RE2's \s is ASCII only: other spaces, control characters and blanks (of Braille and Hangul) are named.
_BLANKS = r"\x00-\x20\x7f-\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{2800}\x{3000}\x{3164}\x{ffa0}"
_NEEDS_WORK = r"[\x00-\x1f\x7f]|  |^ | $"
_UNSPACED = r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])"
"""Scripts that put no spaces between words."""

# Invisible characters. Soft hyphens, zero-width spaces, direction marks and the like change nothing that is said.
_FORMATS = (
    r"\xad\x{61c}\x{200b}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{fff0}-\x{fffb}\x{1bca0}-\x{1bca3}"
    r"\x{1d173}-\x{1d17a}\x{e0000}-\x{e001f}\x{e0080}-\x{e00ff}\x{e01f0}-\x{e0fff}"
)
# Others belong to what stands before them: joiners (between emoji and in some scripts), tags (after a flag) and
# selectors of a variant (after anything visible). Where they do not, they are strays.
_JOINERS = r"\x{200c}\x{200d}"
_TAGS = r"\x{e0020}-\x{e007f}"
_VARIANTS = r"\x{34f}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}"
_JOINING_SCRIPTS = """
Arabic Syriac Mandaic Nko Mongolian Phags_Pa Adlam Hanifi_Rohingya Devanagari Bengali Gurmukhi Gujarati Oriya Tamil
Telugu Kannada Malayalam Sinhala Tibetan Myanmar Khmer Balinese Javanese Sundanese Meetei_Mayek Limbu Chakma Newa
Tirhuta
"""
_JOINING = "".join(rf"\p{{{script}}}" for script in _JOINING_SCRIPTS.split())
_EMOJI = r"[\p{So}\x{2194}\x{1f000}-\x{1ffff}][\x{fe0e}\x{fe0f}\x{1f3fb}-\x{1f3ff}]*"
_ATTACHED = (
    rf"({_EMOJI}(?:\x{{200d}}{_EMOJI})+|\x{{1f3f4}}[\x{{e0020}}-\x{{e007e}}]+\x{{e007f}}"
    rf"|[{_JOINING}][{_JOINING}\pM{_JOINERS}]*|[^{_BLANKS}{_JOINERS}{_TAGS}{_VARIANTS}][{_VARIANTS}]+)"
)
_STRAYS = rf"[{_JOINERS}{_TAGS}{_VARIANTS}]"
# What is left of a text must show: marks without a letter and Hangul's fillers do not.
_NOTHING_VISIBLE = rf"^[{_BLANKS}{_FORMATS}{_JOINERS}{_TAGS}{_VARIANTS}\p{{Cf}}\p{{Mn}}\x{{115f}}\x{{1160}}]+$"


def _changed_where(mask: pa.Array, texts: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """The texts, changed where the mask says so; most texts are ASCII, and what changes others is slow."""
    if not pc.any(mask).as_py():
        return texts
    return pc.replace_with_mask(texts, mask, change(texts.filter(mask)))


def _visible(texts: pa.Array) -> pa.Array:
    """Composed texts without invisible characters, but for those that belong to an emoji or to a word's spelling."""

    def remove(some: pa.Array) -> pa.Array:
        some = pc.replace_substring_regex(some, rf"[{_FORMATS}]+", "")
        return pc.replace_substring_regex(some, f"{_STRAYS}|{_ATTACHED}", r"\1")

    shown = _changed_where(pc.match_substring_regex(texts, rf"[{_FORMATS}]|{_STRAYS}"), texts, remove)
    shown = pc.replace_substring_regex(shown, _NOTHING_VISIBLE, "")
    # Composed last: what was removed may have parted a letter and its accent. Not by Arrow, whose normalisation
    # decomposes whatever form is asked for (25.0).
    return pa.array([unicodedata.normalize("NFC", text) for text in shown.to_pylist()], shown.type)


def normalise_texts(texts: pa.Array) -> pa.Array:
    """Unicode in composed form (NFC), no stray invisible characters, runs of white space one space, ends trimmed.

    Example:
        >>> import pyarrow as pa
        >>> normalise_texts(pa.array(["  cafe\\u0301\\n\\tnow ", "as it is", "co\\u00adop", "\\u200e"])).to_pylist()
        ['café now', 'as it is', 'coop', '']
    """

    def normalise(odd: pa.Array) -> pa.Array:
        visible = _changed_where(pc.invert(pc.string_is_ascii(odd)), odd, _visible)
        return pc.utf8_trim(pc.replace_substring_regex(visible, rf"[{_BLANKS}]+", " "), " ")

    odd = pc.or_(pc.invert(pc.string_is_ascii(texts)), pc.match_substring_regex(texts, _NEEDS_WORK))
    return _changed_where(odd, texts, normalise)


def fold_texts(texts: pa.Array) -> pa.Array:
    """Lower case, letters and digits only, single spaces: equal for texts that differ in case and punctuation.

    In scripts without spaces every character stands alone, so that a comma more or less makes no difference there.

    Example:
        >>> import pyarrow as pa
        >>> fold_texts(pa.array(["Hello,   World!", "it's 5 o'clock", "你好，我"])).to_pylist()
        ['hello world', 'it s 5 o clock', '你 好 我']
    """
    lowered = spaced_texts(pc.utf8_lower(normalise_texts(texts)))
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
