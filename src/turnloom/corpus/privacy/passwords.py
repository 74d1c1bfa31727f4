"""Passwords, as people say them in a chat."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.passphrases import CALLED, PASSWORD_WORDS, UNSAID
from turnloom.corpus.privacy.pattern import Pattern, cued, near

__all__ = ["PASSWORDS", "PRODUCTS", "SIGNS"]

_STRONG = r"(?=[^\s<>]{0,40}\d)(?=[^\s<>]{0,40}[A-Za-z])[^\s<>@\"'(),;:]{0,40}[!$%&*#?^~+_][^\s<>\"'(),;]{0,40}"
_MIXED = r"(?=[^\s<>]{0,40}\d)(?=[^\s<>]{0,40}[a-z])(?=[^\s<>]{0,40}[A-Z])[A-Za-z0-9.-]{6,40}"


def _is_password(value: str, before: str) -> bool:
    """Whether what follows the word password is one: with a digit or a sign, or after a colon."""
    if value.lower().strip(".!?,") in UNSAID or len(value) < 4:
        return False
    if re.search(r"[:=]\s*[\"'“(\[]?$", before):
        return True
    return any(map(str.isdigit, value)) or re.search(r"\w[!$%&*#?^~+_@]\w", value) is not None


_LOGIN = (
    rf"{CALLED}|log-?ins?|log(?:ged|ging|s)?[ -](?:in|on|me|out|into)|sign(?:ed|ing)?[ -]?(?:in|into|on)|"
    rf"credentials?|creds|"
    r"user ?names?|user|usr|locked out|wi-?fi|router|hotspot|ssid|admin|root|ssh|vpn|portal|unlock|bitlocker|hunter"
)
SIGNS = r"[A-Za-z][$#%^@!*~][A-Za-z0-9]"
_SIGN = r"!$%&*#?^~+_=§£@"
# Words of letters with digits or signs: as a password is, near its name.
_WORDLIKE = (
    rf"(?=[^\s<>]{{0,30}}[^\W\d_])(?=[^\s<>]{{0,30}}[\d{_SIGN}])[\w{_SIGN}][\w{_SIGN}.\-']{{3,38}}[\w{_SIGN}]|"
    rf"[a-z]{{2,12}}(?:-[a-z]{{2,12}}){{2,6}}"
)
_SECRETIVE = (
    rf"(?=[^\s<>]{{0,30}}[a-z])(?=[^\s<>]{{0,30}}\d)(?=[^\s<>]{{0,30}}[{_SIGN}][\w{_SIGN}])[\w{_SIGN}][\w"
    rf"{_SIGN}.-]{{5,38}}"
)
_NO_PASSWORD = re.compile(
    r"(?i)(?:iphone|ipad|win|windows|ios|macos|android|galaxy|ps|xbox|office|mp|usb|wpa|sha|md|base|utf|ipv|http|"
    r"h|web|v|"
    r"s|model|type|gen|rev|level|tls|oauth|rfc|cat|chrome|firefox|safari|version|office|step|id|kb|err|error|inc|ref|"
    r"covid|q|fy|day|week|top|terminal|gate|room)[-_]?\d[\d.]*\w?|"
    r"#?\d+(?:st|nd|rd|th|[a-z]{1,5})|#?\d+(?:[-/]\d+)*[a-z]?|[\d.,]+[-/]?[a-z]*|\w+'\w{1,2}|[a-z]+[!?.]+|[a-z]+\d|"
    r"24/7|(?!abc|qwe|asd|zxc|xyz|adm|pas)[A-Z]{1,3}-?\d+|[\w.-]+@[\w.-]+|[a-z]+_[a-z_]+|[a-z]+(?:-[a-z]+){2,}|"
    r".+\.(?:zip|pdf|jpe?g|png|gif|heic|csv|xlsx?|docx?|txt|exe|json|xml|log|mp4|apk|py|js|html?)|"
    r"[A-Z_]+|@\w+|#.+|[a-z]+=\d+|(?:alt|ctrl|shift|cmd|fn|super)[+-].+|f[*#@!]+\w*|"
    r"(?:step|user|customer|agent|account|order|admin|test)\d*|[a-z]+[&+/][a-z]+|[$£]\S*|[^a-z]*|[a-z]+=[a-z]+"
)
_SAID_SO = re.compile(r"(?i)(?:\b(?:is|was|are|be|says?|reads?|it'?s|to|ist|es|est|era|è|é)|[:=])\s*[\"'“‘`*(\[]{0,2}$")


def _is_told(value: str, before: str) -> bool:
    """Whether a word with digits or signs can be a password, and names no thing, version or amount."""
    value = value.strip("\"'.,;:)!?*^#&~")
    if re.fullmatch(r"(?:[a-z]+-){2,}[a-z]+", value):
        return _SAID_SO.search(before) is not None and _PHRASE.search(before) is not None
    if len(value) < 5 or value[0] in "#@" or re.search(r"#\d|[?!]\$?\d$", value) or value.lower() in UNSAID:
        return False
    if re.search(r":\s*$", before) and re.search(r"\w[!$%&*#?^~+_=][A-Z0-9]", value):
        return True
    if _SAID_SO.search(before) and re.fullmatch(r"[A-Za-z]{3,}\d{1,6}", value):
        return True
    return _NO_PASSWORD.fullmatch(value) is None


_TRIED = (
    r"us(?:e|ed|ing)|mine is|mine's|it was|the one i|yours to|secure enough|not secure|caps lock|(?:first|second) "
    r"(?:box|field)|"
    r"let(?:s|ting)? (?:me|us|you|him|her|them|my \w+) (?:in|on|use)|works with|got in|get (?:back )?in|"
    r"tr(?:y|ied|ying|ies)|typ(?:e|ed|ing)|put(?:ting)?(?: in)?|enter(?:ed|ing)?|default|"
    r"resets?(?: it)?(?: back)?|lower ?case|"
    r"upper ?case|caps|capitals?|kick(?:s|ed)|(?:lets?|gets?) me in(?:to)?|lets? us in|locked|protected|"
    r"opens?(?: it)?(?: with)?|"
    r"letting me in|let me in|old one|new one|wi-?fi code|router|as pass|mailbox|unlock(?:s|ed)?|changed? it|"
    r"change it to|changing it|changed from|set (?:it|a new)|a new one|accepted|rejected|isn't allowed|"
    r"not allowed|"
    r"remember|secret word|all one word|no spaces|spelled|signing in|sign in|log(?:ging|ged)? in|login|access|"
    r"shar(?:e|ed|ing)|gave|should be|post-it|wrote (?:it|down)|neither|credentials|creds|same (?:one|as)|"
    r"usual one|as always|to get in|gets? (?:you|me|us) in|let(?:s)? you in|"
    r"won't (?:take|accept)|wont (?:take|accept)|doesn't (?:take|accept)"
)
_WORDED_HINT = (
    rf"[A-Za-z]{{3}}\d\d|[A-Za-z]\d[A-Za-z]|\d[A-Za-z]{{4}}|[A-Za-z][_.-]\d|[A-Za-z]{{5}}\d|"
    rf"[A-Za-z0-9][{_SIGN}][A-Za-z0-9]"
)
_WORD_AND_DIGITS = (
    r"(?=[a-zA-Z]{1,8}\d[a-zA-Z])[A-Za-z0-9]{4,12}[-_.+][A-Za-z0-9]{3,12}|"
    r"\d{1,4}[A-Za-z]{4,20}\d{1,4}|[A-Za-z]{3,12}\d{1,3}[A-Z][a-z]{2,12}|"
    r"[a-z]{2,12}(?:[_.-][a-z]{2,12}){1,3}[_.-]\d{1,6}|[A-Z][a-z]{1,12}[.][A-Z][a-z]{2,12}\d{1,4}|"
    r"[A-Za-z]{3,20}\d{2,8}[A-Za-z]{0,4}|[A-Z][a-z]{4,20}\d|"
    r"[A-Za-z]{1,12}\d{1,3}[a-z]{1,12}(?:\d{1,3}[a-z]{1,12}){1,4}\d{0,4}|"
    r"[A-Za-z]{1,8}\d{1,2}[a-z]{2,12}[?!]?|[A-Za-z]{2,8}\d{1,2}[a-z]{1,12}[-_.][A-Za-z]{3,12}|"
    r"[A-Za-z]{3,15}(?:[-_.][A-Za-z]{2,15}){0,2}[-_.][A-Za-z]?\d{2,6}|"
    r"[A-Za-z]{2,15}(?:[-_.+][A-Za-z]{1,15}){1,3}[-_.+]?\d{1,6}|(?:[A-Z][a-z]{2,12}-){2,5}\d{1,4}"
)


def _is_tried(value: str, before: str) -> bool:
    """Whether a word with digits that somebody typed is a password, and no product's name or code in capitals."""
    return _is_told(value, before) and value.upper() != value and not re.match(PRODUCTS, value)


PRODUCTS = (
    r"(?i)(?:iphone|ipad|ipod|galaxy|pixel|note|xbox|playstation|windows|win|macos|android|office|chrome|firefox|"
    r"version|covid|area|"
    r"terminal|gate|room|flight|delta|united|route|boeing|airbus|nokia|huawei|xperia|thinkpad|surface|gopro|alexa|"
    r"sonos|fifa|"
    r"order|ticket|case|ref|inv|invoice|error|err|code|top|day|week|step|level|year|channel|studio|catch|formula|"
    r"promo|save|"
    r"welcome\d\d|summer|winter|spring|autumn|fall|black|cyber|newyear|halloween|xmas|vip|model|series|type|mk|"
    r"user|usr|customer|agent)[-_]?\d"
)


def _is_signed(value: str, before: str) -> bool:
    """Whether a word with a sign inside, and perhaps no digit, is no e-mail address, tag or slip of the keyboard."""
    if re.fullmatch(r"[A-Za-z]+[!*]+[A-Za-z]?[a-z]*", value) or re.fullmatch(r"\w+@[a-z]+", value):
        return re.search(r"(?i)pas+w|pwd|log|caps|typed", before) is not None
    return re.search(r"#\d|\*{2}|&", value) is None


def _is_scrambled(value: str, before: str) -> bool:
    """Whether a word mixes letters, digits and signs as no sentence does."""
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    parts = re.split(r"[^A-Za-z0-9]+", value)
    return (
        letters >= 3
        and digits >= 1
        and len(value) >= 8
        and any(re.search(r"[A-Za-z]\d|\d[A-Za-z]", part) or part.isdigit() for part in parts)
        and not re.search(
            r"[=?]\w+[&=]|\d%|^\d+[+*]|[!?]{2}|&amp|&gt|&lt|#[A-Z]{0,2}\d|#\w*\d|\d(?:hrs?|mins?|kg|k|st|nd|rd|th)\b|"
            r"^[A-Za-z]+[!&#$*]+\$?\d+(?:[a-z]{0,6}|of\d+)[.!?]?$|^\d+[a-z]*[!&#$*]+[A-Za-z]+$|[$]\d",
            value,
        )
    )


_CHANGED = (
    rf"(?=[^\s<>]{{0,30}}[A-Za-z])(?=[^\s<>]{{0,30}}\d)(?=[^\s<>]{{0,30}}[{_SIGN}])[\w{_SIGN}][\w{_SIGN}.-]"
    rf"{{6,38}}(?![\w.-])"
)
_PHRASE = re.compile(rf"(?<![A-Za-z0-9_<])(?i:{CALLED})(?![A-Za-z0-9_])")


PASSWORDS = (
    Pattern(
        "SECRET",
        r"(?i:log-?in|username|user|credentials)[^\n]*/",
        re.compile(
            r"(?<![\w<])(?i:log-?in|username|user|credentials)(?:/(?i:pass|pw|pwd|password))?\b(?: is| are)"
            r"?[\s:]{1,3}"
            r"(?P<value>[A-Za-z][^\s/<>:]{1,40} ?/ ?(?=[^\s/]{0,40}[A-Za-z])(?=[^\s/]{0,40}\d)[^\s/<>]{4,40})"
            r"(?![\w/])"
        ),
    ),
    cued(
        "SECRET",
        PASSWORD_WORDS,
        r"[^\s<>\"“”„,;:=(\[][^\s<>\"“”,;]{3,63}",
        _is_password,
        script="密码|密碼|パスワード|비밀번호",
        digits=False,
    ),
    # What everybody uses, and the recovery key of a disk.
    Pattern(
        "SECRET",
        r"(?i:changeme|letmein|admin|qwerty|iloveyou|welcome1|123456|abc123|passw?[o0]rd\d|guest)",
        re.compile(
            r"(?<![\w<])(?i:pass|passwords?|pw|pwd|default(?: is)?|passwd|kennwort|contraseña|senha)"
            r"(?: (?:is|was|of|to))?[ :=]{1,2}[\"'“]?(?P<value>(?i:change_?me|letmein|admin\d*|qwerty\w*|"
            r"iloveyou\w*|welcome\d+|123456\d*|"
            r"abc123|passw?[o0]rd\d+|guest\d*))(?![\w@])(?! (?i:page|panel|account|user|portal|area|console|tools?)\b)"
        ),
        digits=False,
    ),
    Pattern("SECRET", r"\d{6}-\d{6}-\d{6}", re.compile(r"(?<![\w-])\d{6}(?:-\d{6}){5,7}(?![\w-])")),
    # In a program: "define('DB_PASSWORD', 'kR3_vault')".
    Pattern(
        "SECRET",
        r"(?i:pass|pwd|secret|key|token)[^\n]*['\"]",
        re.compile(
            r"(?i:passw(?:or)?d|pass|pwd|secret|api_?key|token)['\"]?\s?(?:=>|[,:=])\s?['\"]"
            r"(?P<value>[^\s'\"<>]{5,64})(?=['\"])"
        ),
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:pass|passphrase) ?[:=]",
        re.compile(r"(?<![\w<])(?i:pass) ?[:=]\s?(?P<value>[^\s<>\"',;]{4,64})"),
        lambda value, before: (
            re.search(r"[\d!$%&*#?^~+_@]\S", value) is not None
            or re.search(r"(?i)user|log|admin|^$", before) is not None
        ),
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:pass ?wor[dt]|pwd|kennwort|passphrase|log ?in)",
        re.compile(
            rf"(?<![\w<])(?i:pass ?wor[dt]|pwd|kennwort|passphrase|log ?in)\b[^\n<]{{0,40}}?(?<=[\s\"'(])"
            rf"(?P<value>{_STRONG}|{_MIXED})(?!\S?\w)"
        ),
    ),
    Pattern(
        "SECRET",
        r"(?i:pass ?wor[dt]|pwd|kennwort|passphrase)",
        re.compile(
            rf"(?<![^\s\"'(])(?P<value>{_STRONG}|{_MIXED})(?=[\s,.;\"')-][^\n<]{{0,30}}\b(?i:pass ?wor[dt]|pwd|"
            rf"kennwort|passphrase)\b)"
        ),
    ),
    *near("SECRET", CALLED, _WORDLIKE, _is_told, behind=50, digits=False),
    *near("SECRET", _LOGIN, _SECRETIVE, _is_told, also=_WORDED_HINT),
    *near("SECRET", _TRIED, rf"{_WORD_AND_DIGITS}|{_SECRETIVE}", _is_tried, also=_WORDED_HINT),
    # Letters around a sign: "log in with Zebra$tripes", "set yours to Summer#Rain".
    Pattern(
        "SECRET",
        SIGNS,
        re.compile(
            r"(?<![\w<])(?i:with|to|is|as|be|was|use[ds]?|using|tried|typed?|entered|pwd|pw|pas+w\w*|:|=|put(?: in)?) "
            r"[\"'“]?(?P<value>(?=[^\s<>]{6})[A-Za-z]{1,15}[$#%^!*~@](?=[^\s<>]{0,20}(?:\d|[A-Z]|"
            r"[a-z]{4}))[\w$#%^!*~.-]{2,25}(?<![.-]))(?![\w@/.]\w)"
        ),
        _is_signed,
        digits=False,
    ),
    # "entering Lavender.Blue as password"
    Pattern(
        "SECRET",
        rf" as (?i:my |the |a |your |our |new )*(?i:{CALLED})",
        re.compile(
            rf"(?<![^\s\"'“])(?P<value>(?!(?i:it|this|that|them|same|me|us)\b)[^\s<>\"'”,;:]{{4,40}})[\"'”]? as "
            rf"(?i:my |the |a |your |our |new ){{0,2}}(?i:{CALLED})\b"
        ),
        lambda value, before: any(map(str.isdigit, value)) or re.search(r"\w[^\w\s'’]\w", value) is not None,
        digits=False,
    ),
    Pattern(
        "SECRET",
        r" -[pau] ?['\"]?[^ ]*\d",
        re.compile(
            r"(?<![\w<])(?:mysql|mysqldump|psql|mongo|mongosh|redis-cli|sshpass|mariadb|ldapsearch|"
            r"curl)\b[^\n<]{0,60}? "
            r"-[pauw] ?['\"]?(?:\w{1,20}:)?(?P<value>(?=[^\s'\"]{0,30}\d)(?=[^\s'\"]{0,30}[A-Za-z])[^\s'\"<>]{5,40})"
        ),
    ),
    # Letters, digits and a sign inside a word: nothing else looks like it.
    Pattern(
        "SECRET",
        r"[A-Za-z0-9][!$%&*#^~§][A-Za-z0-9]",
        re.compile(
            r"(?<![^\s\"'(“‘:,=>])(?=[^\s<>]{0,30}\d)(?=[^\s<>]{0,30}[A-Za-z])(?P<value>[A-Za-z0-9][A-Za-z0-9!$%&*"
            r"#^~+_-]{0,30}[!$%&*#^~§]"
            r"[A-Za-z0-9](?:[A-Za-z0-9!$%&*#^~+_.-]{0,30}[A-Za-z0-9])?[!?]?)(?![^\s\"'),.;:!?”’<])"
        ),
        _is_scrambled,
    ),
    # "changed it from X to Y".
    Pattern(
        "SECRET",
        r"(?i:from) [^ ]*\d[^ ]* (?i:to) ",
        re.compile(rf"(?<![\w<])(?i:from) (?P<value>{_CHANGED})(?= (?i:to) {_CHANGED})"),
    ),
    Pattern(
        "SECRET",
        r"<SECRET> ",
        re.compile(rf"<SECRET>,? (?i:to|or|and|not|then|also|vs|but|and then|or maybe) (?P<value>{_CHANGED})"),
    ),
)
