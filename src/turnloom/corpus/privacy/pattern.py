"""What a pattern of personal data is, and how to write one that a word before it announces."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["BEFORE", "IDENTIFIER", "NUMBERING", "Pattern", "count_digits", "cued", "digits_of"]

BEFORE = 60
"""How many characters before a match its check gets: enough for "you can reach me at this number"."""


def _accept(value: str, before: str) -> bool:
    return True


@dataclass(frozen=True)
class Pattern:
    """One type of personal data: a quick look, its shape, and a check of each match.

    Args:
        kind: The placeholder without its brackets.
        hint: A regular expression of RE2 (no look-around) that matches every text in which the shape could. It runs
            over whole columns, and decides which texts are searched. Counted repetitions make it slow.
        shape: What to search for. Its group `value`, or all of it, is replaced. It must match in linear time on any
            text: it starts only at the start of a run of its characters, is bounded, or consumes the run.
        check: Takes the value and the `BEFORE` characters before it.
        digits: Whether every text with a match has a digit. Most texts have none, and are done with at once.
    """

    kind: str
    hint: str
    shape: re.Pattern[str]
    check: Callable[[str, str], bool] = _accept
    digits: bool = True


def digits_of(text: str) -> str:
    """Return the digits of a text."""
    return re.sub(r"\D", "", text)


def count_digits(least: int, most: int = 40) -> Callable[[str, str], bool]:
    """Make a check for how many digits a value has."""
    return lambda value, before: least <= sum(map(str.isdigit, value)) <= most


# A number that identifies: groups of digits and letters, each with a digit, and perhaps a prefix and a check letter.
_GROUP = r"[A-Za-z]{0,6}\d[A-Za-z0-9]{0,20}"
IDENTIFIER = rf"(?:[A-Za-z]{{1,3}}[ -])?{_GROUP}(?:[ ./-]{{1,2}}{_GROUP}){{0,7}}(?:[ -][A-Za-z]\b|\([0-9A]\))?"

_SEPARATOR = r"[\s:=.#\"'“”„«»()\[\]*’>-]"
_WORDS = (
    r"(?:is|was|are|be|it's|its|it|ist|lautet|war|es|est|era|to|too|no|nr|nro|num|number|numbers|nummer|numer|"
    r"num[eé]ro|n[uú]mero|n|code|"
    r"card|details|should|reads?|has|the|of|my|our|your|for|numaram|numarası|now|new|old|please|este|är|er|jest|on|"
    r"adalah|saya|meu|mi|ma|mon|"
    r"mijn|mein|meine|moj|ul|id|from|text|message|shows|I|use|used|set|got|get|received|by|par|por|per|via|sms|me|"
    r"says|full|"
    r"this|le|la|el|il|der|die|das|num|kod|e|é|è|to|мой|моя|number's|you|sent|se|at|with|full|and|app|phone|right)\b"
    r"|[°º]|是|号码?|號|字號|は|の|는|은"
)


def cued(
    kind: str,
    cues: str,
    value: str,
    check: Callable[[str, str], bool] = _accept,
    *,
    script: str = "",
    exact: bool = False,
    digits: bool = True,
) -> Pattern:
    """Make a pattern of a value after a cue and a few words such as "number is".

    Args:
        kind: The placeholder without its brackets.
        cues: Alternatives, in either case; whole words.
        value: The value's shape.
        check: Takes the value and the characters before it.
        script: Further cues, in scripts that don't put spaces between words.
        exact: Whether the case of the cues counts.
        digits: Whether every value has a digit.
    """
    anycase = f"(?:{cues})" if exact else f"(?i:{cues})"
    cue = rf"(?<![A-Za-z0-9_<])(?=\S){anycase}\b"
    hint = rf"(?:^|[^A-Za-z0-9_<]){anycase}(?:[^A-Za-z]|$)"
    if script:
        cue, hint = rf"(?:{cue}|{script})", rf"(?:{hint}|{script})"
    gap = rf"(?:{_SEPARATOR}{{0,4}}(?i:{_WORDS})){{0,6}}{_SEPARATOR}{{0,4}}"
    return Pattern(
        kind, hint, re.compile(rf"{cue}{gap}(?<![A-Za-z0-9])(?P<value>{value})(?![A-Za-z0-9])"), check, digits
    )


NUMBERING = re.compile(
    r"\b(?:order|ref|reference|ticket|booking|confirmation|tracking|invoice|case|id|isbn|ean|upc|serial|s/?n|sku|"
    r"part|version|v|kernel|"
    r"release|build|firmware|zip|code|claim|policy|product|item|model|account|pin|batch|lot|license|licence|"
    r"section|sum|total|customer|"
    r"reservation|confirm|conf|member|employee|student|passport|flight|seat|room|loyalty|insurance|meter|reading|"
    r"rma|po|purchase|contract|transaction|parcel|"
    r"shipment|tag|article|stand|z[äa]hlerstand|z[äa]hlernummer|rechnung|bestellung|auftrag|balance|dhl|ups|fedex|"
    r"usps)"
    r"(?:\s*(?:numbers?|no|nr|num|id|code|is|was|says|shows|#|:|\.))*\s*#?$",
    re.IGNORECASE,
)
"""What ends before a number that stays: orders, tickets, flights, meters, versions."""
