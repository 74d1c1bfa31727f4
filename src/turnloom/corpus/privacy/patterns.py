"""Replace personal data in texts by typed placeholders such as <EMAIL>, <PHONE>, <SECRET>, <ID> and <NAME>.

A quick look over the whole column tells which texts can contain any, and a second one which patterns can match; only
those are searched for. What has a check digit is checked. Replaced texts are looked at again until nothing is found, so
that scrubbing a scrubbed text changes nothing. Names in the middle of a sentence need a language model: see
`scrub_names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from turnloom.corpus.privacy.birth_dates import BIRTH_DATES
from turnloom.corpus.privacy.candidates import CANDIDATE_HINT
from turnloom.corpus.privacy.codes import CODES
from turnloom.corpus.privacy.contacts import ADDRESSES, CALLS
from turnloom.corpus.privacy.first_names import FIRST_NAMES, WORDS_TOO
from turnloom.corpus.privacy.greetings import COMMON_NAMES, GREETING_HINT, GREETINGS, SMALL_HINT, SMALL_NAMES
from turnloom.corpus.privacy.introductions import INTRODUCTION_HINT, INTRODUCTIONS
from turnloom.corpus.privacy.judge import find_judged
from turnloom.corpus.privacy.money import MONEY
from turnloom.corpus.privacy.names import NO_NAMES
from turnloom.corpus.privacy.national_ids import NATIONAL_IDS
from turnloom.corpus.privacy.passphrases import PASSPHRASES, PASSWORD_HINT
from turnloom.corpus.privacy.passports import PASSPORTS
from turnloom.corpus.privacy.passwords import PASSWORDS, SIGNS
from turnloom.corpus.privacy.pattern import ANSWERS, BEFORE, Pattern
from turnloom.corpus.privacy.postcodes import POSTCODES
from turnloom.corpus.privacy.secrets import SECRETS
from turnloom.corpus.privacy.streets import STREETS
from turnloom.corpus.privacy.touching import with_touching

__all__ = ["KINDS", "PATTERNS", "find_personal", "scrub_text", "scrub_texts", "with_placeholders"]

PATTERNS = (
    *ADDRESSES,
    *MONEY,
    *NATIONAL_IDS,
    *PASSPORTS,
    *BIRTH_DATES,
    *SECRETS,
    *STREETS,
    *POSTCODES,
    *CALLS,
    *INTRODUCTIONS,
    *GREETINGS,
)
KINDS = tuple(dict.fromkeys(pattern.kind for pattern in PATTERNS))
ROUNDS = 6
"""How often a text is looked at again at most. Two rounds are usual: one replaces what another was waiting for."""
_SENTENCE_END = ".,;:!?…"
_SPEAKER = re.compile(
    r"(?i)(?<![^\s.?!>\])])(?:customer|client|caller|user|agent|me|player|passenger|guest|patient|policyholder|"
    r"resident|visitor|"
    r"member|student|tenant|rider|driver|buyer|seller|host|support|bot|rep|advisor|adviser|operator|traveller|"
    r"voice|c|a|q)"
    r"(?: ?\d)? ?: ?(?:\W{0,2}(?:um|uh|er|erm|ok|okay|yes|yeah|yep|sure|hi|hello|oh|so|well|it is|it's|its|that's|"
    r"thats|this is|here it is|it was)\b[, .:]{0,3}){0,3}$"
)
"""A speaker's label before a value says nothing about it: "customer: 66418" is no customer's number."""
_WORD = re.compile(r"[^\W\d_]+")
_KEPT = ""
"""The kind of a span that stays, and in which nothing is looked for."""
Span = tuple[str, int, int]


def _trimmed(pattern: Pattern, value: str, before: str) -> str:
    """Trim what belongs to the sentence around a match."""
    if pattern.kind in ("IBAN", "CARD"):
        # What follows can look like a last group; the checksum decides.
        parts = re.split(r"(?<=[A-Za-z0-9])(?=[ -])", value)
        shorter = ("".join(parts[:count]) for count in range(len(parts), 0, -1))
        return next((candidate for candidate in shorter if pattern.check(candidate, before)), value)
    if pattern.kind == "URL":
        value = value.rstrip(_SENTENCE_END)
        end, unopened = len(value), value.count(")") - value.count("(")
        while unopened > 0 and value[end - 1] == ")":
            end, unopened = end - 1, unopened - 1
            while value[end - 1] in _SENTENCE_END:
                end -= 1
        return value[:end]
    if pattern.kind == "SECRET":
        return value.rstrip(".,;:)\"'")
    return value


def _finds(pattern: Pattern, text: str, taken: list[Span]) -> Iterator[Span]:
    """Find a pattern's matches outside of spans already taken; both are in order."""
    others = iter(taken)
    other = next(others, None)
    group = "value" if "value" in pattern.shape.groupindex else 0
    for match in pattern.shape.finditer(text):
        named = group if group == 0 or match[group] is not None else match.lastgroup or 0
        start, value = match.start(named), match[named]
        before = text[max(0, start - BEFORE) : start]
        if ":" in before:  # A quick look, as most have none.
            before = _SPEAKER.sub(" ", before)
        value = _trimmed(pattern, value, before)
        while other and other[2] <= start:
            other = next(others, None)
        overlaps = other is not None and other[1] < start + len(value)
        if not overlaps and value and pattern.check(value, before):
            stays = pattern.keep is not None and pattern.keep(value, before)
            yield _KEPT if stays else pattern.kind, start, start + len(value)


def find_personal(text: str, patterns: Iterable[Pattern] = PATTERNS) -> list[Span]:
    """Find the personal data in a text as (type, start, end), in order and without overlaps.

    Example:
        >>> find_personal("mail jo@example.com or call 415-555-0132")
        [('EMAIL', 5, 19), ('PHONE', 28, 40)]
    """
    searched = tuple(patterns)
    return with_touching(text, lambda some: _find_personal(some, searched))


def _find_personal(text: str, patterns: Iterable[Pattern]) -> list[Span]:
    taken: list[Span] = []
    for pattern in patterns:
        matches = list(_finds(pattern, text, taken))
        if matches:
            taken = sorted([*taken, *matches], key=lambda span: span[1])
    return [span for span in _with_repeats(text, taken) if span[0] != _KEPT] if taken else taken


def _repeatable(text: str, found: list[Span]) -> dict[str, str]:
    """What a text may hold once more without its cue: names, and values with digits, with their types."""
    again: dict[str, str] = {}
    for kind, start, end in found:
        value = text[start:end]
        if kind == _KEPT:
            continue
        if kind == "NAME":
            for word in _WORD.findall(value):
                small = word.lower()
                if len(word) >= 4 and small not in NO_NAMES and small not in WORDS_TOO:
                    again[word] = kind
                    if small in FIRST_NAMES:
                        again[small] = kind
        elif len(value) >= 6 and kind != "URL" and any(map(str.isdigit, value)):
            again[value] = kind
            user = value.split(" at ")[0].split("@")[0]
            if len(user) >= 4:
                again[user] = kind
    return again


def _places(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Find a word where no letter, digit or sign of an address joins it. Faster than to compile it."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        before, after = text[start - 1 : start] if start else " ", text[end : end + 1]
        if not (before.isalnum() or before in "_<@.-" or after.isalnum() or (after and after in "_>@-")):
            yield start, end
        start = text.find(word, end)


def _with_repeats(text: str, found: list[Span]) -> list[Span]:
    """Add what is found to wherever else the text has it: "it's Ann Petrova, the card says only Petrova"."""
    again = _repeatable(text, found)
    spans = found
    for word in sorted(again, key=len, reverse=True):
        for start, end in _places(text, word):
            if all(end <= one[1] or one[2] <= start for one in spans):
                spans = sorted([*spans, (again[word], start, end)], key=lambda span: span[1])
    return spans


def scrub_text(text: str) -> tuple[str, list[str]]:
    """Replace personal data by placeholders; also return the types of what was replaced.

    Example:
        >>> scrub_text("I am @jo_doe, see www.example.com/help and example.com/p/Xk29dW.")
        ('I am <HANDLE>, see www.example.com/help and <URL>.', ['HANDLE', 'URL'])
    """
    kinds: list[str] = []
    for _ in range(ROUNDS):
        spans = find_personal(text) or find_judged(text)
        if not spans:
            break
        text, more = with_placeholders(text, spans)
        kinds += more
    return text, kinds


def with_placeholders(text: str, spans: list[Span]) -> tuple[str, list[str]]:
    """Replace spans (type, start, end), given in order, by placeholders; also return their types."""
    pieces, at, kinds = [], 0, []
    for kind, start, end in spans:
        pieces += [text[at:start], f"<{kind}>"]
        at = end
        kinds.append(kind)
    return "".join([*pieces, text[at:]]), kinds


_SECRET_WORDS = [pattern for pattern in (*PASSWORDS, *PASSPHRASES) if not pattern.digits and pattern.hint != ANSWERS]
_NAMES = [
    pattern for pattern in (*INTRODUCTIONS, *GREETINGS) if pattern.hint not in (COMMON_NAMES, SMALL_NAMES, ANSWERS)
]
_SLOW = {*_SECRET_WORDS, *INTRODUCTIONS, *GREETINGS}
_LONG = [
    pattern
    for pattern in PATTERNS
    if pattern.digits and (pattern.kind in ("CARD", "IBAN", "ACCOUNT", "ID") or (pattern in CODES and pattern.also))
]
_LOOKS = (
    (r"\d\D?\D?\D?\d\D?\D?\D?\d", [pattern for pattern in _LONG if pattern.hint != ANSWERS]),
    (r"\d", [pattern for pattern in PATTERNS if pattern.digits and pattern.hint != ANSWERS and pattern not in _LONG]),
    ("", [pattern for pattern in PATTERNS if not pattern.digits and pattern.hint != ANSWERS and pattern not in _SLOW]),
    (PASSWORD_HINT, [pattern for pattern in _SECRET_WORDS if not pattern.hint.startswith(SIGNS)]),
    (SIGNS, [pattern for pattern in _SECRET_WORDS if pattern.hint.startswith(SIGNS)]),
    (GREETING_HINT, [pattern for pattern in _NAMES if pattern in GREETINGS]),
    (INTRODUCTION_HINT, [pattern for pattern in _NAMES if pattern in INTRODUCTIONS]),
    (COMMON_NAMES, [pattern for pattern in GREETINGS if pattern.hint == COMMON_NAMES]),
    (SMALL_HINT, [pattern for pattern in GREETINGS if pattern.hint == SMALL_NAMES]),
    (ANSWERS, [pattern for pattern in PATTERNS if pattern.hint == ANSWERS]),
)
"""A quick look over all texts, and the patterns whose own hints are then tried on those that it leaves."""
_TOGETHER = 4
"""How many hints are looked for at once. More make RE2 slow: its automaton no longer fits its memory."""


_RANKS = {pattern: rank for rank, pattern in enumerate(PATTERNS)}


def _matches(texts: pa.Array, expression: str) -> npt.NDArray[np.bool_]:
    matches: npt.NDArray[np.bool_] = pc.match_substring_regex(texts, expression).to_numpy(zero_copy_only=False)
    return matches


def _look(texts: pa.Array, rows: npt.NDArray[np.int64], expression: str) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Keep the texts, and their rows, that match."""
    kept = np.flatnonzero(_matches(texts, expression))
    return texts.take(pa.array(kept)), rows[kept]


def _hinted(texts: pa.Array) -> Iterator[tuple[int, str, list[Pattern]]]:
    """Yield each text that can contain personal data and its row, with the patterns that can match."""
    hinted: dict[int, list[int]] = {}
    every = np.arange(len(texts))
    for expression, patterns in _LOOKS:
        column, rows = _look(texts, every, expression) if expression else (texts, every)
        by_hint: dict[str, dict[str, list[int]]] = {}
        for pattern in patterns:
            by_hint.setdefault(pattern.hint, {}).setdefault(pattern.also, []).append(_RANKS[pattern])
        for start in range(0, len(by_hint), _TOGETHER):
            hints = list(by_hint)[start : start + _TOGETHER]
            likely, likely_rows = column, rows
            if hints != [expression]:
                likely, likely_rows = _look(column, rows, "|".join(f"(?:{hint})" for hint in hints))
            for hint in hints if len(likely_rows) else ():
                own, own_rows = (likely, likely_rows) if len(hints) == 1 else _look(likely, likely_rows, hint)
                for also, ranks in by_hint[hint].items():
                    for row in own_rows[_matches(own, also)] if also else own_rows:
                        hinted.setdefault(int(row), []).extend(ranks)
    found = sorted(hinted)
    for row, text in zip(found, texts.take(pa.array(found, pa.int64())).to_pylist(), strict=True):
        yield row, text, [PATTERNS[rank] for rank in sorted(hinted[row])]


def _found(texts: pa.Array) -> Iterator[tuple[int, str, list[Span]]]:
    """Yield each text with personal data, its row and spans: the judged ones only if no pattern matches."""
    matched = set()
    for row, text, patterns in _hinted(texts):
        if spans := find_personal(text, patterns):
            matched.add(row)
            yield row, text, spans
    likely, rows = _look(texts, np.arange(len(texts)), CANDIDATE_HINT)
    for row, text in zip(rows.tolist(), likely.to_pylist(), strict=True):
        if row not in matched and (spans := find_judged(text)):
            yield row, text, spans


def scrub_texts(texts: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """Replace personal data by placeholders; also count the replacements of each of `KINDS` per text."""
    counts = np.zeros((len(texts), len(KINDS)), np.int32)
    rows = np.arange(len(texts))
    for _ in range(ROUNDS):
        suspects = texts.take(pa.array(rows)) if len(rows) < len(texts) else texts
        replaced: dict[int, str] = {}
        for row, text, spans in _found(suspects):
            replaced[int(rows[row])], kinds = with_placeholders(text, spans)
            for kind in kinds:
                counts[rows[row], KINDS.index(kind)] += 1
        if not replaced:
            break
        mask = np.zeros(len(texts), bool)
        rows = np.array(sorted(replaced))
        mask[rows] = True
        texts = pc.replace_with_mask(texts, pa.array(mask), pa.array([replaced[int(row)] for row in rows], texts.type))
    return texts, counts
