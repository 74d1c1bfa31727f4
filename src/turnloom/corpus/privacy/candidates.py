"""Find numbers and words with digits or signs in a text, and say what stands around them, for `judge`."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.passwords import PRODUCTS
from turnloom.corpus.privacy.pattern import NUMERAL

__all__ = ["CANDIDATE_HINT", "candidates", "features", "kind_features"]

CANDIDATE_HINT = (
    r"\d\D?\D?\d|\d[.-]?[A-Za-z]|[A-Za-z][.-]?\d|[A-Za-z0-9][!$%^&*#~+=_@][A-Za-z0-9]|"
    rf"(?i:{NUMERAL}[ ,.-]+{NUMERAL}[ ,.-]+{NUMERAL})"
)
"""Matches every text with a candidate, in RE2."""
_EDGE = r"\s<>\"“”„«»()\[\]{}|，。：？！、（）「」"
_WORD = re.compile(
    rf"(?<![^{_EDGE},;:=/])(?P<spelled>(?i:{NUMERAL})(?:[ ,.-]{{1,3}}(?i:{NUMERAL})){{2,19}})(?!\w)|"
    rf"(?<![^{_EDGE},;:=/'‘*_#-])(?:[A-Za-z_]{{1,20}}[=:](?=[^{_EDGE}]{{0,60}}\d))?"
    rf"(?P<value>(?=[^{_EDGE}]{{0,60}}\d|[A-Za-z0-9]{{1,60}}[!$%^&*#~+=_@][A-Za-z0-9])[^{_EDGE}]+)"
)
_LINK = re.compile(r"(?i)^(?:[a-z]+:/|www\.)|[a-z]\.[a-z]{2,5}(?:[/?:]|$)|@[\w-]+\.\w|&(?:amp|lt|gt|quot);")
_HARMLESS = re.compile(
    r"(?i)\d{1,2}|(?:19[5-9]|20[0-4])\d|\d{1,2}[:.]\d\d(?::\d\d)?|[$€£].*|#\w{1,3}|[\d.,-]+ ?(?:%|°|€|£)|"
    r"\d+(?:st|nd|rd|th|[ap]m|[kmg]b|[kmg]|ml|[ck]?m|kg|lbs?|h|hrs?|mins?|s|x|p|d|in|ft|oz|inch|gig|yo?|yrs?|ish)|"
    r"\d{1,3}(?:,\d{3})+|\d+[.,]\d{1,2}|\d{1,2}[-/–]\d{1,2}(?:[ap]m|h)?|@.*|[^\d]*[a-z]@[a-z][^\d]*|[a-z]+[/&+][a-z]+|"
    r"\d{1,2} 20[1-4]\d|\d{1,2}/\d{1,2}/(?:1[6-9]|2\d)|\d\.\d\.\d{1,2}[.-].*|"
    r"\d[a-z]|\d{1,2}[./-]\d{1,2}[./-](?:201[6-9]|20[2-9]\d)|(?:201[6-9]|20[2-9]\d)[./-]\d{1,2}[./-]\d{1,2}"
)
_PRODUCT = re.compile(PRODUCTS)
_PIECE = re.compile(r"[\d.,/()+-]+|[A-Z]{0,2}\d+[A-Z]?|\d*[A-Z]{1,2}")
_TRIMMED = ".,;:!?'’…-*_"
_TOKEN = re.compile(r"<[A-Z]+>|[^\W_]+(?:['’][^\W\d_]+)?|[?!:]")
_BEFORE, _AFTER = 150, 70


def candidates(text: str) -> list[tuple[int, int]]:
    """Find what may be a number or password of somebody's, as (start, end), in order.

    Example:
        >>> [text[start:end] for text in ("its 551207, ok? or hunter2x",) for start, end in candidates(text)]
        ['551207', 'hunter2x']
    """
    joined: list[tuple[int, int]] = []
    for match in _WORD.finditer(text):
        start, end = match.span("value" if match["value"] else "spelled")
        while end > start and text[end - 1] in _TRIMMED:
            end -= 1
        while start < end and text[start] in "'‘‚*_-#.,:;=":
            start += 1
        value = text[start:end]
        if not value or _LINK.search(value):
            continue
        last = joined[-1] if joined else (0, 0)
        continues = re.fullmatch(r" - |[ -]", text[last[1] : start]) and _PIECE.fullmatch(value)
        if continues and re.search(r"\d[)/.-]?$", text[max(last[0], last[1] - 2) : last[1]]):
            joined[-1] = (last[0], end)
        else:
            joined.append((start, end))
    values = ((start, end, text[start:end]) for start, end in joined)
    return [(start, end) for start, end, value in values if not (_HARMLESS.fullmatch(value) or _PRODUCT.match(value))]


def _shape(value: str) -> str:
    return "".join("9" if c.isdigit() else "a" if c.islower() else "A" if c.isupper() else c for c in value)


def _outline(value: str) -> str:
    """Name a value's outline: how many digits, in groups or not, or which characters it mixes."""
    digits = min(sum(map(str.isdigit, value)), 13)
    if value.isdigit():
        return f"d{digits}"
    if re.fullmatch(r"\(?\d+(?:[ ./():-]+\d+)+", value):
        return f"g{digits}"
    if not digits and " " in value:
        return f"w{min(value.count(' '), 9)}"
    signs = "s" if re.search(r"[!$%^&*#~+=_]", value) else ""
    upper, lower = value.lower() != value, value.upper() != value
    return f"x{'u' * upper}{'l' * lower}{'9' * bool(digits)}{signs}"


def _tokens(text: str) -> list[str]:
    return [token if token[0] == "<" else re.sub(r"\d", "9", token.lower()) for token in _TOKEN.findall(text)]


def _around(text: str, start: int, end: int) -> tuple[list[str], list[str]]:
    """The words before a candidate and those after it; one that is cut off at the left is left out."""
    left = _tokens(text[max(0, start - _BEFORE) : start])
    return left[start > _BEFORE :], _tokens(text[end : end + _AFTER])


def features(text: str, start: int, end: int) -> list[str]:
    """Describe a candidate: its shape, the words around it, and shape and words together."""
    value = text[start:end]
    shape, outline = _shape(value), _outline(value)
    letters = re.sub(r"[^a-z]", "", value.lower())
    left, right = _around(text, start, end)
    runs = re.sub(r"(.)\1+", r"\1", shape)
    found = ["b", f"c={outline}", f"s={shape[:24]}", f"r={runs[:16]}", f"l={min(len(value), 24)}"]
    found.append(f"n={min(sum(map(str.isdigit, value)), 20)}")
    found += [f"pre={text[max(0, start - 1) : start]}", f"post={text[end : end + 2]}"]
    if letters:
        found += [f"p={letters[:3]}", f"w={letters[:12]}", f"na={min(len(letters), 12)}"]
    if value[0] == "0":
        found.append("z")
    if not left:
        found += ["^", f"^{outline}"]
    if not right:
        found += ["$", f"${outline}"]
    for side, words, count in (("L", left[::-1], 3), ("R", right, 2)):
        for position, word in enumerate(words[:count]):
            found += [f"{side}{position}={word}", f"{side}{position}={word}|{outline}"]
    found += ["LL=" + "_".join(left[-2:]), "LLL=" + "_".join(left[-3:]), "RR=" + "_".join(right[:2])]
    if left and right:
        found.append(f"LR={left[-1]}_{right[0]}")
    close, far, following = set(left[-7:]), set(left[-20:-7]), set(right[:6])
    for side, nearby in (("bl", close), ("br", following)):
        for word in nearby:
            found += [f"{side}={word}", f"{side}={word}|{outline}"]
    found += [f"bf={word}" for word in far]
    found += [f"bs={word[:4]}" for word in close | far | following if len(word) > 4]
    found += [f"any={word}" for word in {*left[-20:], *right[:8]}]
    if "?" in left[-12:]:
        found.append("q")
    return found


def kind_features(text: str, start: int, end: int) -> list[str]:
    """Describe a candidate for the choice of its placeholder."""
    left, right = _around(text, start, end)
    outline = _outline(text[start:end])
    return [
        "b",
        f"c={outline}",
        f"s={_shape(text[start:end])[:12]}",
        *(f"w={word}" for word in {*left[-12:], *right[:5]}),
    ]
