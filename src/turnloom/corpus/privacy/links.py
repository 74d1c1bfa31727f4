"""Tell public links, which stay, from those that open something or say whose they are."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.first_names import FIRST_NAMES, WORDS_TOO

__all__ = ["is_public_link"]

_LINK = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+-]*)://)?(?P<host>[^/?#:]+)(?P<port>:\d+)?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?"
    r"(?:#(?P<anchor>.*))?",
    re.IGNORECASE | re.DOTALL,
)
_OWN_HOSTS = re.compile(
    r"(?:^|\.)(?:t\.co|bit\.ly|goo\.gl|tinyurl\.com|ow\.ly|is\.gd|buff\.ly|fb\.me|wa\.me|t\.me|youtu\.be|forms\.gle|"
    r"paypal\.me|cash\.app|venmo\.com|pastebin\.com|calendly\.com|linktr\.ee|(?:facebook|instagram|twitter|x|linkedin|"
    r"tiktok|snapchat|strava|imgur|dropbox|wetransfer|discord|zoom)\.(?:com|us)|discord\.gg|"
    r"(?:meet|docs|drive|photos|calendar|forms|maps)\.google\.[a-z.]+|(?:meet|zoom|hooks)\.[\w.-]+)$"
)
"""Where a path is a person's profile, file or meeting, or hides one."""
_OWNED_PATH = re.compile(
    r"(?i)/(?:u|users?|profiles?|people|members?|customers?|patients?|in)/[^/]|"
    r"/(?:[cdijprst]|pay|orders?|invoices?|bookings?|reset|verify|invite|join|activate|share|doc|documents?)/[^/]*\d"
)
"""A person's name or number, or something of theirs, in a path."""
_SETTINGS = frozenset(
    "lang hl locale page tab sort view section topic category ref source utm_source utm_medium utm_campaign".split()
)
"""Settings of a page that say nothing of its reader."""
_WORD = re.compile(
    r"[a-zA-Z]?[a-z]{2,19}(?:[A-Z][a-z]{2,19}){0,2}|[A-Z]{1,12}|[a-z]|\d{1,4}|[a-z]{1,4}\d{1,2}|[^\W\d_a-zA-Z]\w*"
)
_NAMES = FIRST_NAMES - WORDS_TOO
_OWN = re.compile(
    r"(?i)\b(?:my|our|his|her|their|mine|i'm|i am)\b[^.?!\n]{0,30}\b(?:(?:web ?)?sites?|blog|portfolio|profile|"
    r"home ?page|page|domain|shop|store|channel|album|gallery|photos?|pictures|business|company|server|link|cv|"
    r"resume)\b[^.?!\n]{0,20}$"
)


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[-_.+,~!'()&%]", text) if part]


def _is_words(segment: str) -> bool:
    """Whether a segment of a path is words and short numbers, as a title is, and no token or name."""
    parts = _parts(segment)
    odd = [part for part in parts if not _WORD.fullmatch(part)]
    is_title = len(parts) - len(odd) >= 3 and all(map(str.isdigit, odd))
    return (not odd or is_title) and not any(part.lower() in _NAMES for part in parts)


def _are_settings(query: str) -> bool:
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    return all(name.lower() in _SETTINGS and _is_words(value) for name, _, value in pairs)


def is_public_link(link: str, before: str) -> bool:
    """Whether a link leads everybody to the same page: no user, token, number or query of somebody's own in it.

    Example:
        >>> is_public_link("https://example.com/help/returns", "see ")
        True
        >>> is_public_link("https://example.com/reset?token=yoYZ4ynInCPg", "see ")
        False
    """
    parts = _LINK.fullmatch(link)
    if parts is None or "@" in link or _OWN.search(before[-60:]):
        return False
    host = parts["host"].lower().removeprefix("www.")
    segments = [segment for segment in parts["path"].split("/") if segment]
    is_open = (parts["scheme"] or "https").lower() in ("http", "https") and parts["port"] is None
    has_domain = re.fullmatch(r"(?:[\w-]+\.)+[^\W\d][\w-]*", host) is not None
    if not is_open or not has_domain or any(part in _NAMES for part in _parts(host)):
        return False
    if _OWNED_PATH.search(parts["path"]) or (segments and _OWN_HOSTS.search(host)):
        return False
    anchor = parts["anchor"] or ""
    return all(map(_is_words, [*segments, anchor])) and "=" not in anchor and _are_settings(parts["query"] or "")
