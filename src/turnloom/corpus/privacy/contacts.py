"""Addresses on the network, telephones and handles."""

from __future__ import annotations

import ipaddress
import re

from turnloom.corpus.privacy.links import is_public_link
from turnloom.corpus.privacy.pattern import NUMBERING, NUMERAL, SPELLED_HINT, Pattern, is_elsewhere
from turnloom.corpus.privacy.phones import is_phone
from turnloom.corpus.privacy.spelled_mail import AT, DOT, MAILERS, SMALL_NUMBER, SPELLED_MAIL

__all__ = ["ADDRESSES", "CALLS"]


def _is_ip(value: str, before: str) -> bool:
    """Whether an address is valid, and neither a version number nor the unspecified address (`::`)."""
    try:
        address = ipaddress.ip_address(value.split("/")[0])
    except ValueError:
        return False
    is_version = NUMBERING.search(before[-30:].rstrip()) is not None
    return not address.is_unspecified and not (isinstance(address, ipaddress.IPv4Address) and is_version)


def _is_packed_mac(value: str, before: str) -> bool:
    """Whether twelve hexadecimal digits follow the word MAC."""
    if re.fullmatch(r"[A-Za-z]{2}\d{10}", value):  # A security's number.
        return re.search(r"(?i)\bmac\b", before[-25:]) is not None
    return not value.isdigit() or re.search(r"(?i)\bmac\b", before[-25:]) is not None


_TOP = (
    "com|org|net|io|co|edu|gov|info|biz|ai|dev|app|me|tv|us|uk|eu|ca|au|in|de|fr|es|it|nl|be|ch|at|se|no|dk|fi|pl|"
    "pt|ie|br|jp|"
    "cn|ru|nz|mx|za|shop|store|online|site|tech|cloud|xyz|ly|gl|be|example|test"
)

ADDRESSES = (
    # "https://user:secret@host/path", "postgres://...": before the e-mail address that it seems to hold.
    Pattern(
        "URL",
        r"://[^\s/@]+:[^\s/@]+@",
        re.compile(r"(?<![\w+.-])[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s<>\"'/@:]{0,80}:[^\s<>\"'/@]{1,200}@[^\s<>\"'\]]+"),
        digits=False,
    ),
    # Matches every word, address or not, so that none is scanned again from each of its characters.
    Pattern(
        "EMAIL",
        r"[^\s@]@@?[^\s@]+\.",
        re.compile(r"[\w.%+'-]+(?:(?<=\w)@@?(?:[\w-]+\.)+(?:xn--[A-Za-z0-9-]{2,}|[^\W\d_]{2,})\b)?"),
        lambda value, before: "@" in value,
        digits=False,
    ),
    Pattern(
        "EMAIL",
        r"@ | @|@[A-Za-z0-9-]+,",
        re.compile(
            r"(?<![\w.@+-])[\w+-][\w.+-]{0,63}(?:(?: \. ?[\w+-]{1,30}){0,2}(?: @ ?|@ )[\w-]{1,63}(?: ?\. ?"
            rf"[a-z]{{2,12}}){{0,2}} ?\. ?(?:{_TOP})|"
            r"@[\w-]{2,63},(?:com|org|net|de|co\.uk|fr|es|it))\b"
        ),
        digits=False,
    ),
    Pattern(
        "EMAIL",
        rf"@(?i:{MAILERS})",
        re.compile(rf"(?<![\w.@+-])\w[\w.+-]{{0,63}}@(?i:{MAILERS})(?: (?i:{DOT}) [a-z]{{2,4}}\b)?(?![\w@-]|\.\w)"),
        digits=False,
    ),
    Pattern(
        "EMAIL",
        rf"[\[({{<] ?(?i:@|{AT}) ?[\])}}>]",
        re.compile(
            rf"(?<![\w.@+-])[\w+-][\w.+-]{{0,63}}(?: ?[\[({{] ?(?i:\.|{DOT}) ?[\])}}] ?[\w-]{{1,30}}){{0,3}} "
            rf"?[\[({{<] ?(?i:@|{AT}) ?[\])}}>] ?"
            rf"[\w-]{{1,63}}(?:(?: ?[\[({{<] ?(?i:\.|{DOT}) ?[\])}}>] ?|\.| (?i:{DOT}) )[A-Za-z]{{2,20}}){{1,3}}"
        ),
        digits=False,
    ),
    *SPELLED_MAIL,
    Pattern(
        "URL",
        "://",
        re.compile(r"\b[a-z][a-z0-9+-]{1,20}://[^\s<>\"'\]]+", re.IGNORECASE),
        digits=False,
        keep=is_public_link,
    ),
    Pattern(
        "URL",
        r"(?i:www\.)",
        re.compile(r"\bwww\.[^\s<>\"'\]]+", re.IGNORECASE),
        digits=False,
        keep=is_public_link,
    ),
    # Any domain, if a path follows.
    Pattern(
        "URL",
        r"[^\s/.]{2}\.[^\s/.]{2,24}[/?]",
        re.compile(
            r"(?<![\w@.-])(?=[^\s/]{1,253}[/?])(?:[^\W_](?:[\w-]{0,62})\.){1,6}(?:xn--[\w-]{2,40}|[^\W\d_]{2,24})"
            r"[/?][^\s<>\"')\]]+"
        ),
        lambda value, before: len(value.split(".")[0]) > 1,
        digits=False,
        keep=is_public_link,
    ),
    Pattern(
        "MAC",
        r"[0-9A-Fa-f]{2}[:. -][0-9A-Fa-f]{2}[:. -][0-9A-Fa-f]{2}|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.",
        re.compile(
            r"(?<![\w:.-])(?:[0-9A-Fa-f]{2}([:. -])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}|"
            r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![\w:-]|\.\w)"
        ),
        lambda value, before: re.search(r"[A-Fa-f:]", value) is not None or "mac" in before.lower(),
    ),
    Pattern(
        "MAC",
        r"(?i:\bmac\b|bssid)|[0-9A-Fa-f]{12}",
        re.compile(
            r"(?<![A-Za-z0-9])[0-9A-Fa-f]{12}(?![A-Za-z0-9])(?=[^\n]{0,25}\b(?i:mac|bssid)\b)|(?<=[\s:=(#])"
            r"[0-9A-Fa-f]{12}(?![A-Za-z0-9])"
        ),
        _is_packed_mac,
    ),
    # Two by two with anything between, after the word.
    Pattern(
        "MAC",
        r"(?i:\bmac\b|bssid|hardware address|hw address|ethernet|physical address)",
        re.compile(
            r"(?<![\w<])(?i:mac|bssid|hardware address|hw address|ethernet|physical address)\b[^\n<]{0,40}?(?<![\w.])"
            r"(?P<value>[0-9A-Fa-f]{2}(?:(?:, ?|[ ._;-]{1,2})[0-9A-Fa-f]{2}){5}|"
            r"[0-9A-Fa-f]{4}[ -][0-9A-Fa-f]{4}[ -][0-9A-Fa-f]{4}|[0-9A-Fa-f]{6}[ :-][0-9A-Fa-f]{6})(?!\w)"
        ),
    ),
    Pattern(
        "PHONE",
        r"\+ ?\d",
        re.compile(r"(?<![\w+])\+ ?\d(?:[ ()./-]{0,3}\d){7,14}(?![\w]|[ .-]?\d)"),
        lambda value, before: len(value) - value.count(" ") >= 9,
    ),
    Pattern(
        "IP",
        r"\d\.\d",
        re.compile(r"(?<![\w.:])(?:::ffff:)?(?:\d{1,3}\.){3}\d{1,3}(?:/(?:3[0-2]|[12]?\d)(?!\d))?(?![\w]|\.\d)"),
        _is_ip,
    ),
    # Written to get past a filter, or cut short: "84[.]22[.]19[.]7", "ip 84,22,19,7", "ip 84.22.19.xxx".
    Pattern(
        "IP",
        r"\d\[\.\]\d|\d(?:\[|\()dot(?:\]|\))\d|(?i:(?:^|[^A-Za-z])ips?(?:v4|'s)?[^A-Za-z])",
        re.compile(
            r"(?<![\w.:])(?P<value>\d{1,3}(?:(?:\[\.\]|\[dot\]|\(dot\)|\(\.\))\d{1,3}){3}(?![\w.]))|"
            r"(?<![\w<])(?i:ips?(?:v4)?(?: address(?:es)?| addr| no| "
            r"number)?)\b[^\d\n<]{0,25}(?P<said>\d{1,3}(?:(?: ?[.,·-] ?| (?:dot|point) | )"
            r"\d{1,3}){2}(?: ?[.,·-] ?| (?:dot|point) | )(?:\d{1,3}|[xX*]{1,3}))(?![\w]|[.,]\d)"
        ),
    ),
    Pattern(
        "IP",
        rf"(?i:(?:{SMALL_NUMBER}) (?:dot|point) )",
        re.compile(
            rf"(?<![\w<])(?P<value>(?i:(?:{SMALL_NUMBER}|and|\d)(?:[ -](?:{SMALL_NUMBER}|and|\d{{1,3}})){{0,5}}"
            rf"(?: (?:dot|point) (?:{SMALL_NUMBER}|and|\d{{1,3}})(?:[ -](?:{SMALL_NUMBER}|and|"
            rf"\d{{1,3}})){{0,5}}){{3}}))(?!\w)"
        ),
        digits=False,
    ),
    Pattern(
        "IP",
        r"[0-9A-Fa-f]:[0-9A-Fa-f:]*:|::",
        re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])"),
        _is_ip,
    ),
)

_FOREIGN_NUMERALS = (
    r"z[ée]ro|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingts?|"
    r"trente|quarante|cinquante|soixante|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|due|tre|quattro|cinque|"
    r"sei|sette|otto|nove|um|dois|tr[êe]s|quatro|sete|oito|null|eins|zwei|drei|vier|f[üu]nf|sechs|sieben|acht|neun|"
    r"nul|een|twee|vijf|zes|zeven|negen"
)
CALLS = (
    # In other languages than English: "zéro six, trente-neuf, douze".
    Pattern(
        "PHONE",
        rf"(?i:(?:{_FOREIGN_NUMERALS})[ ,-]+(?:{_FOREIGN_NUMERALS})[ ,-]+(?:{_FOREIGN_NUMERALS})[ ,-])",
        re.compile(rf"(?<![\w<])(?i:{_FOREIGN_NUMERALS})(?:(?:, ?| et |[ -])(?i:{_FOREIGN_NUMERALS})){{5,24}}(?!\w)"),
        digits=False,
    ),
    Pattern(
        "PHONE",
        r"\d[ -]?\d (?i:is|ist|es|est|-|–)? ?(?i:my|mein|meine|mi|mon|мой) ",
        re.compile(
            r"(?<![\w.,$€£#-])(?P<value>\d(?:[ ()./-]{0,3}\d){6,14}) (?:(?i:is|ist|es|est|-|–) )?(?i:my|meine?|mi|"
            r"mon|мой) "
            r"(?i:cell|phone|mobile|number|handy|telefon\w*|телефон|tel|móvil|portable|landline)\b"
        ),
    ),
    Pattern(
        "PHONE",
        SPELLED_HINT,
        re.compile(rf"(?<![\w<])(?i:{NUMERAL})(?:[ ,.-]{{1,2}}(?i:{NUMERAL})){{6,19}}(?!\w)"),
        digits=False,
    ),
    Pattern(
        "PHONE",
        SPELLED_HINT,
        re.compile(
            rf"(?<![\w<])(?i:{NUMERAL})(?:[ ,-]{{1,2}}(?i:{NUMERAL})){{2,5}}[ ,-]{{1,2}}\d{{3}}[ -]?\d{{2,4}}(?![ "
            rf"-]?\w)"
        ),
    ),
    Pattern(
        "PHONE",
        r"\d[ (]{0,2}[ ().+/-]{0,2}\d[ ().+/-]{0,3}\d[ ().+/-]{0,3}\d[ ().+/-]{0,3}\d",
        re.compile(
            r"(?<![A-Za-z0-9_.,$€£#-])(?<!\d )(?:\+ ?|\()?\d(?:[ ()./-]{0,3}\d){6,14}(?: ?(?:x|ext\.?) ?\d{1,5})"
            r"?(?![A-Za-z0-9_]|[ "
            r".,-]\d)"
        ),
        is_phone,
    ),
    Pattern(
        "PHONE",
        r"(?i:ext)",
        re.compile(
            r"(?<![\w<])(?i:ext|extension|durchwahl)\b[.: ]{1,3}(?:number |no\.? )?(?P<value>\d{2,6})(?!\w)"
            r"(?=\s+(?:on|at)\s+<PHONE>|[^\n]{0,2}$|[.,;])"
        ),
    ),
    Pattern(
        "URL",
        r"localhost[:/]",
        re.compile(r"(?<![\w@.-])localhost(?::\d{2,5})?/[^\s<>\"')\]]+"),
        digits=False,
    ),
    # Ten digits as in India, and nothing else they are said to be.
    Pattern(
        "PHONE",
        r"[6-9]\d{9}",
        re.compile(
            r"(?<![\w.,$€£#/:-])(?<!\d )(?P<value>[6-9]\d{9})(?![\w-]|[.,:/]\d| \d)(?![^\n]{0,40}\b(?i:order|ticket|"
            r"booking|"
            r"invoice|parcel|track\w*|serial|model|ref\w*|case|claim|policy|contract|meter|units?|points|"
            r"transaction|id)\b)"
        ),
        lambda value, before: not is_elsewhere(before) and NUMBERING.search(before.rstrip()) is None,
    ),
    Pattern(
        "URL",
        r"[^\W_]\.[A-Za-z]",
        re.compile(
            rf"(?<![\w@.-])(?!(?:asp|ado|vb)\.net\b)(?:[a-z0-9-]+\.)+(?:{_TOP})\b(?:[/?#][^\s<>\"')\]]*|"
            rf":\d+[^\s<>\"')\]]*)?(?!@)",
            re.IGNORECASE,
        ),
        digits=False,
        keep=is_public_link,
    ),
    Pattern(
        "HANDLE",
        "@",
        re.compile(r"(?<![\w@<])(?<!\w\.)@(?=\w*[A-Za-z_]|\d{4})[A-Za-z0-9_](?:[\w.-]{0,28}\w)?(?![\w@])"),
        digits=False,
    ),
)
