"""The first steps of `prepare`, vectorised: normalise Unicode and white space, fold texts, merge turns."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.engine import with_columns
from turnloom.corpus.turn_arrays import (
    Offsets,
    beginnings,
    dialogue_hashes,
    join_turns,
    keep_turns,
    list_parts,
    map_turns,
    split_turns,
    sums,
    with_texts,
)

# RE2's \s is ASCII only, so we list other spaces, control characters and blanks (Braille, Hangul).
_BLANKS = r"\x00-\x20\x7f-\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{2800}\x{3000}\x{3164}\x{ffa0}"
_NEEDS_WORK = r"[\x00-\x1f\x7f]|  |^ | $"
_UNSPACED = r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])"
"""Scripts without spaces between words."""

# Invisible characters. Soft hyphens, zero-width spaces, direction marks and the like do not change the meaning.
_FORMATS = (
    r"\xad\x{61c}\x{200b}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{fff0}-\x{fffb}\x{1bca0}-\x{1bca3}"
    r"\x{1d173}-\x{1d17a}\x{e0000}-\x{e001f}\x{e0080}-\x{e00ff}\x{e01f0}-\x{e0fff}"
)
# Others belong to the character before them: joiners (between emoji and in some scripts), tags (after a flag) and
# variation selectors (after anything visible). Elsewhere they are strays.
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
# The rest of a text must be visible: marks without a letter and Hangul fillers are not.
_NOTHING_VISIBLE = rf"^[{_BLANKS}{_FORMATS}{_JOINERS}{_TAGS}{_VARIANTS}\p{{Cf}}\p{{Mn}}\x{{115f}}\x{{1160}}]+$"


def _changed_where(mask: pa.Array, texts: pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Apply `change` only where the mask is true. Most texts are ASCII, and the change is slow."""
    if not pc.any(mask).as_py():
        return texts
    return pc.replace_with_mask(texts, mask, change(texts.filter(mask)))


def _visible(texts: pa.Array) -> pa.Array:
    """Compose texts and remove invisible characters, except those that belong to an emoji or a word's spelling."""

    def remove(some: pa.Array) -> pa.Array:
        some = pc.replace_substring_regex(some, rf"[{_FORMATS}]+", "")
        return pc.replace_substring_regex(some, f"{_STRAYS}|{_ATTACHED}", r"\1")

    shown = _changed_where(pc.match_substring_regex(texts, rf"[{_FORMATS}]|{_STRAYS}"), texts, remove)
    shown = pc.replace_substring_regex(shown, _NOTHING_VISIBLE, "")
    # Composed last, because a removed character may have separated a letter and its accent. Not with Arrow, whose
    # normalisation always decomposes (25.0).
    return pa.array([unicodedata.normalize("NFC", text) for text in shown.to_pylist()], shown.type)


def normalise_texts(texts: pa.Array) -> pa.Array:
    """Normalise texts: composed Unicode (NFC), no stray invisible characters, single spaces, trimmed ends.

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
    """Fold texts to lower-case letters, digits and single spaces; equal for texts that differ in case or punctuation.

    In scripts without spaces, every character is separated, so that a comma makes no difference there either.

    Example:
        >>> import pyarrow as pa
        >>> fold_texts(pa.array(["Hello,   World!", "it's 5 o'clock", "你好，我"])).to_pylist()
        ['hello world', 'it s 5 o clock', '你 好 我']
    """
    lowered = spaced_texts(pc.utf8_lower(normalise_texts(texts)))
    return pc.utf8_trim(pc.replace_substring_regex(lowered, r"[^\pL\pN\pM]+", " "), " ")


def spaced_texts(texts: pa.Array) -> pa.Array:
    """Add spaces around the characters of scripts without spaces, so that each one counts as a word.

    Example:
        >>> import pyarrow as pa
        >>> spaced_texts(pa.array(["OK 你好"])).to_pylist()[0].split()
        ['OK', '你', '好']
    """
    other = pc.invert(pc.string_is_ascii(texts))
    return _changed_where(other, texts, lambda some: pc.replace_substring_regex(some, _UNSPACED, r" \1 "))


def word_counts(texts: pa.Array) -> npt.NDArray[np.int64]:
    """Count the words of each text, separated by ASCII white space; characters count as in `spaced_texts`.

    It counts in the array's bytes, which is seven times as fast as a regular expression.

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
    starts[firsts] = ~is_space[firsts]  # A word must not span the end of one text and the start of the next.
    counts: npt.NDArray[np.int64] = np.diff(np.searchsorted(np.flatnonzero(starts), offsets - offsets[0]))
    return counts


def clean(table: Any) -> Any:
    """Normalise the texts of a table, and drop empty turns."""

    def cleaned(offsets: Offsets, flat: pa.StructArray) -> tuple[Offsets, pa.StructArray]:
        flat = with_texts(flat, normalise_texts(flat.field("text")), normalise_texts)
        filled = pc.greater(pc.binary_length(flat.field("text")), 0).to_numpy(zero_copy_only=False)
        return keep_turns(offsets, flat, filled)

    return map_turns(table, cleaned)


def count_merged_turns(table: Any) -> Any:
    """Add `turn_count`, the number of turns per dialogue after merging."""

    def runs(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        return [pa.array(sums(_run_starts(offsets, flat.field("speaker")), offsets).astype(np.int32))]

    return with_columns(table, {"turn_count": pa.int32()}, runs, "turns")


def with_text_keys(table: Any) -> Any:
    """Add `text_key`, a hash of a dialogue's lower-case texts."""

    def keys(turns: pa.Array) -> list[pa.Array]:
        offsets, flat = split_turns(turns)
        return [pa.array(dialogue_hashes([join_turns(offsets, pc.utf8_lower(flat.field("text")))]))]

    return with_columns(table, {"text_key": pa.uint64()}, keys, "turns")


def _run_starts(offsets: Offsets, speakers: pa.Array) -> npt.NDArray[np.bool_]:
    """Mark turns that start a run: the first of a dialogue, a change of speaker, or an unknown speaker."""
    codes = pc.dictionary_encode(speakers).indices.to_numpy(zero_copy_only=False)
    starts = np.ones(len(speakers), bool)
    starts[1:] = codes[1:] != codes[:-1]
    starts[beginnings(offsets)] = True
    unknown = pc.equal(speakers, "").to_numpy(zero_copy_only=False)
    return np.asarray(starts | unknown)


def _joined_lists(lists: pa.Array, bounds: npt.NDArray[np.int64]) -> pa.Array:
    """Concatenate the lists of each run; null if all of them are null."""
    offsets, values = list_parts(lists)
    present = np.concatenate([[0], np.cumsum(lists.is_valid().to_numpy(zero_copy_only=False))])
    missing = present[bounds[1:]] == present[bounds[:-1]]
    return pa.LargeListArray.from_arrays(pa.array(offsets[bounds]), values, mask=pa.array(missing))


def _shifted_slots(slots: pa.Array, lengths: npt.NDArray[np.int64], run_of: npt.NDArray[np.int64]) -> pa.Array:
    """Shift slot positions to the start of the run's text."""
    before = np.cumsum(lengths + 1) - (lengths + 1)
    first = np.concatenate([[0], np.flatnonzero(np.diff(run_of)) + 1])
    offsets, values = list_parts(slots)
    by = pa.array(np.repeat(before - before[first][run_of], np.diff(offsets)).astype(np.int32))
    columns = [
        pc.add(values.field(field.name), by) if field.name in ("start", "end") else values.field(field.name)
        for field in values.type
    ]
    moved = pa.StructArray.from_arrays(columns, names=[field.name for field in values.type])
    return pa.LargeListArray.from_arrays(pa.array(offsets), moved, mask=slots.is_null())


def merge_speakers(offsets: Offsets, flat: pa.StructArray) -> tuple[Offsets, pa.StructArray]:
    """Join consecutive turns of one speaker with a space; keeps the first turn's time and the first known intent.

    Turns of an unknown speaker stay separate.
    """
    if not len(flat):
        return offsets, flat
    starts = _run_starts(offsets, flat.field("speaker"))
    if starts.all():
        return offsets, flat
    bounds = np.concatenate([np.flatnonzero(starts), [len(flat)]]).astype(np.int64)
    run_of = np.cumsum(starts) - 1
    first = pa.array(bounds[:-1])
    texts = flat.field("text")
    grouped = pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), texts.cast(pa.large_string()))
    known = np.flatnonzero(flat.field("intent").is_valid().to_numpy(zero_copy_only=False))
    runs, first_known = np.unique(run_of[known], return_index=True)
    intent_at = np.full(len(first), -1)
    intent_at[runs] = known[first_known]
    lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
    columns = {
        "speaker": flat.field("speaker").take(first),
        "text": pc.binary_join(grouped, pa.scalar(" ", pa.large_string())),
        "acts": _joined_lists(flat.field("acts"), bounds),
        "slots": _joined_lists(_shifted_slots(flat.field("slots"), lengths, run_of), bounds),
        "intent": flat.field("intent").take(pa.array(intent_at, mask=intent_at < 0)),
        "time": flat.field("time").take(first),
    }
    counted = np.concatenate([[0], np.cumsum(starts)]).astype(np.int64)
    names = [field.name for field in flat.type]
    return counted[offsets], pa.StructArray.from_arrays([columns[name] for name in names], names=names)
