"""Replace personal data in texts by typed placeholders: <EMAIL>, <PHONE>, <CARD>, <IBAN>, <IP>, <URL>, <HANDLE>.

A cheap test tells whether a text can contain any; only those texts are searched. Each pattern has its check (Luhn for
cards, the checksum for IBANs, valid ranges for addresses). Names and street addresses need a language model: see
`names`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# All personal data contains one of these: an at sign, a dotted name, five digits close together, two colons.
_SUSPICIOUS = r"@|[A-Za-z0-9]\.[A-Za-z0-9]|://|(?:\d[ ().+/-]{0,3}){5}|[0-9A-Fa-f]:[0-9A-Fa-f:]*:|::"
_CALLING = re.compile(
    r"\b(?:call|calling|phone|telephone|tel|mobile|cell|number|fax|ring|text me|whatsapp|dial|reach|contact|sms)\b",
    re.IGNORECASE,
)
_NUMBERING = re.compile(
    r"\b(?:order|ref|reference|ticket|booking|confirmation|tracking|invoice|case|id|isbn|serial|sku|part|version|v|kernel|"
    r"release|build|firmware|zip|code|claim|policy|product|item|model|account|pin|batch|license|licence|section|sum|total|customer|"
    r"member|employee|student|passport|flight|seat|room|loyalty|insurance)"
    r"(?:\s*(?:number|no|nr|num|id|code|is|was|#|:|\.))*\s*#?$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}-\d{4}")


@dataclass(frozen=True)
class Pattern:
    """One type of personal data: a character it needs, its shape, and a check of each match.

    The check gets the match and the 60 characters before it. A `needs` of "0" means any digit. A shape must match in
    linear time on any text: it starts only at the start of a run of its characters, is bounded, or consumes the run.
    """

    kind: str
    needs: str
    shape: re.Pattern[str]
    check: Callable[[str, str], bool] = lambda found, before: True  # noqa: ARG005


BEFORE = 60
"""How many characters before a match its check gets: enough for "you can reach me at this number"."""


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def is_card(found: str, before: str = "") -> bool:  # noqa: ARG001
    """Whether a number passes the Luhn check and starts like a card number.

    Example:
        >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
        (True, False)
    """
    digits = [int(digit) for digit in _digits(found)]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and digits[0] in (2, 3, 4, 5, 6) and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def is_iban(found: str, before: str = "") -> bool:  # noqa: ARG001
    """Whether an IBAN's checksum is correct.

    Example:
        >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
        (True, False)
    """
    packed = re.sub(r"[\s-]", "", found).upper()
    moved = packed[4:] + packed[:4]
    return 15 <= len(packed) <= 34 and int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


def is_ip(found: str, before: str) -> bool:
    """Whether an address is valid, and neither a version number nor the unspecified address (`::`)."""
    try:
        address = ipaddress.ip_address(found)
    except ValueError:
        return False
    is_version = _NUMBERING.search(before[-30:].rstrip()) is not None
    return not address.is_unspecified and not (isinstance(address, ipaddress.IPv4Address) and is_version)


def is_phone(found: str, before: str) -> bool:
    """Whether a run of digits is written like a telephone number, or called one."""
    digits = _digits(found)
    if _DATE.fullmatch(found.strip()) or not 7 <= len(digits) <= 15:
        return False
    if found.startswith("+") or (found.startswith("00") and len(digits) >= 10):
        return len(digits) >= 8
    if _CALLING.search(before) and not _NUMBERING.search(re.sub(_CALLING, "", before[-30:]).rstrip()):
        return True
    if _NUMBERING.search(before[-30:].rstrip()):
        return False
    grouped = re.fullmatch(r"1?[-. ]?\(?\d{3}\)?[-. ]{1,2}\d{3}[-. ]\d{4}", found.strip()) is not None
    national = digits.startswith("0") and 10 <= len(digits) <= 11 and not re.search(r"\d[/,]\d", found)
    return grouped or national


_TOP = (
    "com|org|net|io|co|edu|gov|info|biz|ai|dev|app|me|tv|us|uk|eu|ca|au|in|de|fr|es|it|nl|be|ch|at|se|no|dk|fi|pl|pt|ie|br|jp|"
    "cn|ru|nz|mx|za|shop|store|online|site|tech|cloud|xyz|ly|gl|be|example|test"
)
PATTERNS = (
    # Matches every word, address or not, so that none is scanned again from each of its characters.
    Pattern(
        "EMAIL",
        "@",
        re.compile(r"[\w.%+'-]+(?:(?<=\w)@(?:[\w-]+\.)+[A-Za-z]{2,}\b)?"),
        lambda found, before: "@" in found,  # noqa: ARG005
    ),
    Pattern("URL", "/", re.compile(r"\b(?:https?|ftp)://[^\s<>\"'\]]+", re.IGNORECASE)),
    Pattern("URL", ".", re.compile(r"\bwww\.[^\s<>\"'\]]+", re.IGNORECASE)),
    Pattern(
        "IBAN", "0", re.compile(r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,4})?\b"), is_iban
    ),
    Pattern("CARD", "0", re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w]|\.\d)"), is_card),
    Pattern("IP", ".", re.compile(r"(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)"), is_ip),
    Pattern("IP", ":", re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])"), is_ip),
    Pattern(
        "PHONE",
        "0",
        re.compile(r"(?<![\w.,$€£#-])(?<!\d )(?:\+|\()?\d(?:[ ()./-]{0,3}\d){6,14}(?![\w]|[ .,-]\d)"),
        is_phone,
    ),
    Pattern(
        "URL",
        ".",
        re.compile(
            rf"(?<![\w@.-])(?!(?:asp|ado|vb)\.net\b)(?:[a-z0-9-]+\.)+(?:{_TOP})\b(?:[/?#][^\s<>\"')\]]*|:\d+[^\s<>\"')\]]*)?(?!@)",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "HANDLE",
        "@",
        re.compile(r"(?<![\w@<])(?<!\w\.)@(?=\w*[A-Za-z_]|\d{4})[A-Za-z0-9_](?:[\w.-]{0,28}\w)?(?![\w@])"),
    ),
)
KINDS = tuple(dict.fromkeys(pattern.kind for pattern in PATTERNS))
_SENTENCE_END = ".,;:!?…"


def _trimmed(pattern: Pattern, found: str, before: str) -> str:
    """Trim what belongs to the sentence around a match."""
    if pattern.kind == "IBAN":
        # A short word that follows can look like a last group; the checksum decides.
        parts = re.split(r"(?<=[A-Za-z0-9])(?=[ -])", found)
        shorter = ("".join(parts[:count]) for count in range(len(parts), 1, -1))
        return next((candidate for candidate in shorter if pattern.check(candidate, before)), found)
    if pattern.kind == "URL":
        found = found.rstrip(_SENTENCE_END)
        end, unopened = len(found), found.count(")") - found.count("(")
        while unopened > 0 and found[end - 1] == ")":
            end, unopened = end - 1, unopened - 1
            while found[end - 1] in _SENTENCE_END:
                end -= 1
        return found[:end]
    return found


def _finds(pattern: Pattern, text: str, taken: list[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Find a pattern's matches outside of spans already taken; both are in order."""
    others = iter(taken)
    other = next(others, None)
    for match in pattern.shape.finditer(text):
        start = match.start()
        before = text[max(0, start - BEFORE) : start]
        found = _trimmed(pattern, match.group(), before)
        while other and other[2] <= start:
            other = next(others, None)
        overlaps = other is not None and other[1] < start + len(found)
        if not overlaps and pattern.check(found, before):
            yield pattern.kind, start, start + len(found)


def find_personal(text: str) -> list[tuple[str, int, int]]:
    """Find the personal data in a text as (type, start, end), in order and without overlaps.

    Example:
        >>> find_personal("mail jo@example.com or call 415-555-0132")
        [('EMAIL', 5, 19), ('PHONE', 28, 40)]
    """
    taken: list[tuple[str, int, int]] = []
    present = {"0" if character.isdigit() else character for character in text}
    for pattern in PATTERNS:
        if pattern.needs in present:
            taken = sorted([*taken, *_finds(pattern, text, taken)], key=lambda found: found[1])
    return taken


def scrub_text(text: str) -> tuple[str, list[str]]:
    """Replace personal data by placeholders; also return the types of what was replaced.

    Example:
        >>> scrub_text("I am @jo_doe, see www.example.com.")
        ('I am <HANDLE>, see <URL>.', ['HANDLE', 'URL'])
    """
    return with_placeholders(text, find_personal(text))


def with_placeholders(text: str, spans: list[tuple[str, int, int]]) -> tuple[str, list[str]]:
    """Replace spans (type, start, end), given in order, by placeholders; also return their types."""
    pieces, at, kinds = [], 0, []
    for kind, start, end in spans:
        pieces += [text[at:start], f"<{kind}>"]
        at = end
        kinds.append(kind)
    return "".join([*pieces, text[at:]]), kinds


def scrub_texts(texts: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """Replace personal data by placeholders; also count the replacements of each of `KINDS` per text."""
    counts = np.zeros((len(texts), len(KINDS)), np.int32)
    suspicious = pc.match_substring_regex(texts, _SUSPICIOUS)
    places = np.flatnonzero(suspicious.to_numpy(zero_copy_only=False))
    if not len(places):
        return texts, counts
    changed = []
    for place, text in zip(places, texts.filter(suspicious).to_pylist(), strict=True):
        scrubbed, kinds = scrub_text(text)
        changed.append(scrubbed)
        for kind in kinds:
            counts[place, KINDS.index(kind)] += 1
    return pc.replace_with_mask(texts, suspicious, pa.array(changed, texts.type)), counts
