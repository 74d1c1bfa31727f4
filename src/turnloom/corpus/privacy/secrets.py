"""Keys and tokens, and with them passwords and codes: what opens an account."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.card_codes import CARD_CODES
from turnloom.corpus.privacy.codes import CODES
from turnloom.corpus.privacy.passphrases import PASSPHRASES
from turnloom.corpus.privacy.passwords import PASSWORDS
from turnloom.corpus.privacy.pattern import Pattern, is_elsewhere, near

__all__ = ["SECRETS"]

# Shapes that vendors give their keys, so that they can be found.
_KEYS = (
    r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,200}|sk-[A-Za-z0-9_-]{20,250}|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}|"
    r"AIza[\w-]{30,45}|"
    r"gh[opusr]_[A-Za-z0-9]{30,260}|github_pat_\w{30,260}|glpat-[\w-]{18,60}|xox[a-z]-[A-Za-z0-9-]{10,260}|"
    r"SG\.[\w-]{16,40}\.[\w-]{30,60}|"
    r"hf_[A-Za-z0-9]{30,60}|npm_[A-Za-z0-9]{30,60}|pypi-[\w-]{30,260}|whsec_[A-Za-z0-9+/=]{20,100}|shp(?:at|ca|pa|"
    r"ss)_[0-9a-fA-F]{20,80}|"
    r"ya29\.[\w-]{20,260}|dop_v1_[0-9a-f]{40,80}|key-[0-9a-f]{32}|(?:AC|SK)[0-9a-f]{32}|EAA[A-Za-z0-9]{40,260}|"
    r"eyJ[\w-]{8,2000}\.[\w-]{4,4000}(?:\.[\w-]{0,2000})?"
)
_KEY_HINT = (
    r"[srp]k_(?:live|test)_|sk-\w|A[KSRI][IDO]A[A-Z0-9]{16}|AIza|gh[opusr]_|github_pat_|glpat-|xox[a-z]-|SG\.|hf_|"
    r"npm_|pypi-|whsec_|shp[acps]{2}_|"
    r"ya29\.|dop_v1_|key-[0-9a-f]|(?:AC|SK)[0-9a-f]{32}|EAA[A-Za-z0-9]{40}|eyJ"
)
_OPAQUE = r"[A-Za-z0-9+/_.~-]{16,4000}={0,2}"


def _is_opaque(value: str, before: str) -> bool:
    """Whether a long word looks random: letters and digits, and no path or sentence."""
    digits = sum(map(str.isdigit, value))
    return 2 <= digits < len(value) or (digits >= 1 and value.lower() != value and value.count(".") < 2)


def _is_random(value: str, before: str) -> bool:
    """Whether a word of 32 characters or more mixes cases and digits as no name does."""
    return sum(map(str.isdigit, value)) >= 3 and sum(map(str.islower, value)) >= 6 and sum(map(str.isupper, value)) >= 6


def _is_another(value: str, before: str) -> bool:
    """Whether a word beside a secret is one: with a digit, and no year or thing's number."""
    plain = re.fullmatch(r"(?:19|20)\d\d|\d+[a-z]{1,5}", value)
    return any(map(str.isdigit, value)) and plain is None and not is_elsewhere(before[-30:])


_OPENERS = (
    r"api|keys?|tokens?|secrets?|bearer|credentials?|webhooks?|csrf|xsrf|jwt|cookies?|session\w*|auth\w*|oauth|"
    r"client[ _]?(?:id|secret)|"
    r"leaked|rotate|revoke[ds]?|invalidate[ds]?|nonce|hmac|sid|licen[cs]e|activation|recovery|private|signing|env|"
    r"access|personal access"
)
_SUMS = re.compile(
    r"(?i)\b(?:commit|sha\w*|md5|hash|checksum|digest|etag|revision|build|image|trace|order|booking|file|version)\b"
    r"[^\n]{0,20}$"
)
_RANDOM = (
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{24,128}|[0-9A-F]{32,128}|"
    r"(?:\d{4,10}:)?(?=[\w+/~.-]{0,60}\d)(?=[\w+/~.-]{0,60}[a-z])[A-Za-z0-9][\w+/~.-]{13,400}[A-Za-z0-9](?:=\d{2,8}|"
    r"={0,2})|(?=[A-Z]{0,20}\d)(?=\d{0,20}[A-Z])[A-Z0-9]{16,40}|"
    r"[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,7}|[a-z0-9]{3,8}(?:-[a-z0-9]{3,8}){2,7}|[A-Za-z]{2,8}[_-][A-Za-z0-9_-]{8,60}"
)


def _is_key(value: str, before: str) -> bool:
    """Whether a word near a key's name looks drawn at random: letters and digits change places."""
    changes = len(re.findall(r"[A-Za-z]\d|\d[A-Za-z]", value))
    return changes >= 3 and not re.search(r"\.(?:com|net|org|io|json|pdf|png|jpe?g|txt|html?|js|py|zip)\b", value)


def _is_strewn(value: str, before: str) -> bool:
    """Whether a word of 20 characters or more mixes cases and digits all along."""
    changes = len(re.findall(r"[a-z][A-Z0-9]|[A-Z0-9][a-z]", value))
    return (
        changes >= 6
        and sum(map(str.isdigit, value)) >= 2
        and sum(map(str.isupper, value)) >= 3
        and sum(map(str.islower, value)) >= 3
    )


SECRETS = (
    Pattern("SECRET", _KEY_HINT, re.compile(rf"(?<![A-Za-z0-9_])(?:{_KEYS})(?![A-Za-z0-9])"), digits=False),
    Pattern(
        "SECRET",
        r"-----BEGIN",
        re.compile(r"-----BEGIN [A-Z ]{0,30}KEY-----\s{0,3}(?P<value>[A-Za-z0-9+/=]{8,}(?:\s[A-Za-z0-9+/=]{8,})*)"),
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:key|token|secret|bearer|basic|session|cookie|jwt|authori[sz]ation|sid|credential)",
        re.compile(
            r"(?i:key|token|secret|bearer|basic|sessionid|session|cookie|jwt|authori[sz]ation|sid|credential)"
            r"s?\b[^\n<]{0,24}?"
            rf"(?<![A-Za-z0-9+/_.~-])(?P<value>{_OPAQUE})(?![A-Za-z0-9])"
        ),
        _is_opaque,
    ),
    Pattern(
        "SECRET",
        r"[A-Za-z0-9_-]{32}",
        re.compile(r"(?<![\w/.+-])[A-Za-z0-9_-]{32,}(?![\w/.+-])"),
        _is_random,
    ),
    Pattern(
        "SECRET",
        r"(?i:seed|recovery|mnemonic|backup|secret) (?i:phrase|words)",
        re.compile(
            r"(?<![\w<])(?i:seed|recovery|mnemonic|backup|secret) (?i:phrase|words)\b(?: is| are)?[\s:=\"']{0,4}"
            r"(?P<value>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?!\w)"
        ),
        digits=False,
    ),
    *near("SECRET", _OPENERS, _RANDOM, _is_key, ahead=85, behind=60),
    # Hexadecimal digits, of which nothing but a key or a checksum has as many.
    Pattern(
        "SECRET",
        r"[0-9a-f]{32}|[0-9A-F]{32}",
        re.compile(r"(?<![\w/.+-])(?:[0-9a-f]{32,128}|[0-9A-F]{32,128})(?![\w/.+-])"),
        lambda value, before: _is_key(value, before) and _SUMS.search(before) is None,
    ),
    # "api_key=pR9xK2mQ7vL4" and "...?code=4f9a8b7c".
    Pattern(
        "SECRET",
        r"(?i:key|token|secret|sig|signature|sid|session|sessid|auth|code|hash|cookie|jwt|credential|nonce)[\"']? "
        r"?[=:]",
        re.compile(
            r"(?i:key|token|secret|sig|signature|sid|session|sessid|auth|hash|cookie|jwt|credential|nonce|[?&#]code|"
            r"[?&#]state)"
            r"[\"']? ?[=:] "
            r"?[\"']?(?P<value>(?=[\w+/~.-]{0,20}\d)(?=[\w+/~.-]{0,20}[A-Za-z])[A-Za-z0-9][\w+/~.-]{6,200}[A-Za-z0-9]={0,2})"
            r"(?![\w+/~-])"
        ),
        lambda value, before: len(re.findall(r"[A-Za-z]\d|\d[A-Za-z]", value)) >= 2 and not is_elsewhere(before[-25:]),
    ),
    # Random parts after a vendor's prefix, or with dots: "lv_9f8e7d6c5b4a3928", "MG.SC7W2gkb54Ohe6lT".
    Pattern(
        "SECRET",
        r"[A-Za-z]{2,8}[_.-][A-Za-z0-9]{12}",
        re.compile(
            r"(?<![\w/.+@-])(?P<value>[A-Za-z]{2,8}(?:[_-][A-Za-z]{2,8}){0,2}[_.-](?=[A-Za-z0-9]{0,40}\d)[A-Za-z0-9]{12,80}"
            r"(?:[_.-][A-Za-z0-9]{8,80}){0,3})(?![\w/@-]|\.\w)"
        ),
        lambda value, before: (
            len(re.findall(r"[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z]", value)) >= 6
            and value.upper() != value
            and not is_elsewhere(before[-30:])
        ),
    ),
    Pattern(
        "SECRET",
        r"[A-Za-z0-9]{20}",
        re.compile(r"(?<![\w/.+-])[A-Za-z0-9]{20,31}(?![\w/.+-])"),
        _is_strewn,
    ),
    # What a key holds beside its random part: "928719:<SECRET>", "<SECRET>=7209".
    Pattern("SECRET", r"\d:<SECRET>", re.compile(r"(?<![\w.,-])(?P<value>\d{4,12}:)(?=<SECRET>)")),
    Pattern("SECRET", r"<SECRET>=\d", re.compile(r"<SECRET>(?P<value>=\d{2,10})(?!\w)")),
    *PASSWORDS,
    *PASSPHRASES,
    # What a sign joins to one: "<SECRET>&Lemon".
    Pattern(
        "SECRET",
        r"<SECRET>[!$%&*#^~+_]+[A-Za-z0-9]",
        re.compile(r"<SECRET>(?P<value>[!$%&*#^~+_]{1,3}[A-Za-z0-9][^\s<>,;\"']{0,40})"),
        digits=False,
    ),
    *CARD_CODES,
    *CODES,
    # One more, beside it: "tried <SECRET>, PA55WORD and <SECRET>".
    Pattern(
        "SECRET",
        r"<SECRET>",
        re.compile(
            r"(?<![\w<$€£#.,-])(?P<value>[A-Za-z0-9][\w!$%&*#^~+-]{3,30})(?=,? (?:and|or|then|nor|to|&) <SECRET>)|"
            r"<SECRET>(?:, |,? (?:and|or|then|nor) )(?P<next>[A-Za-z0-9][\w!$%&*#^~+-]{3,30})(?![\w%]|[.,:]\d)"
        ),
        _is_another,
    ),
)
