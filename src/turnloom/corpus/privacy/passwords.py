"""Passwords, as people say them in a chat."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import NUMERAL, Pattern, cued, near

__all__ = ["PASSWORDS"]

_PASSWORDS = (
    r"pass ?words?|pass ?wort|kennwort|passwd|pwd|pw|pass ?phrase|passcode|contrase[ñn]a|clave|senha|mot de passe|"
    r"wachtwoord|has[łl]o|"
    r"lösenord|adgangskode|salasana|heslo|parola|şifre|пароль|(?:wi-?fi|network|security) key|login code"
)
_STRONG = r"(?=[^\s<>]{0,40}\d)(?=[^\s<>]{0,40}[A-Za-z])[^\s<>@\"'(),;:]{0,40}[!$%&*#?^~+_][^\s<>\"'(),;]{0,40}"
_MIXED = r"(?=[^\s<>]{0,40}\d)(?=[^\s<>]{0,40}[a-z])(?=[^\s<>]{0,40}[A-Z])[A-Za-z0-9.-]{6,40}"
_UNSAID = frozenset(
    """
    wrong incorrect not expired invalid still required correct weak strong protected never being changed reset
    missing empty case sensitive error again field page link problem issue recovery manager please help forgotten
    the your this that what how when where why and but because will would must should can could has have had was
    were does doesn't isn't won't or for with hint rules policy login email
    """.split()
)


def _is_password(value: str, before: str) -> bool:
    """Whether what follows the word password is one: with a digit or a sign, or after a colon."""
    if value.lower().strip(".!?,") in _UNSAID or len(value) < 4:
        return False
    if re.search(r"[:=]\s*[\"'“(\[]?$", before):
        return True
    return any(map(str.isdigit, value)) or re.search(r"\w[!$%&*#?^~+_@]\w", value) is not None


_WORDED = (
    r"pas+[ -]?w(?:or|ro|r|o)[dt]e?s?|pas+w|pas+[ -]?ord|pass?w?d|pswd?|pwrd|p/w|pass ?phrases?|pass ?keys?|passcodes?|"
    r"(?:temp|temporary|old|new|current|wifi|wi-fi|login|my|ur|your|the|and|user|admin|correct|wrong|"
    r"different) pass(?:es)?|"
    rf"{_PASSWORDS}"
)
_LOGIN = (
    rf"{_WORDED}|log-?ins?|log(?:ged|ging|s)?[ -](?:in|on|me|out|into)|sign(?:ed|ing)?[ -]?(?:in|into|on)|"
    rf"credentials?|creds|"
    r"user ?names?|user|usr|locked out|wi-?fi|router|hotspot|ssid|admin|root|ssh|vpn|portal|unlock|bitlocker|hunter"
)
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
    r"[A-Z_]+|@\w+|#\w+|f[*#@!]+\w*|"
    r"(?:step|user|customer|agent|account|order|admin|test)\d*|[a-z]+[&+/][a-z]+|[$£]\S*|[^a-z]*|[a-z]+=[a-z]+"
)
_SAID_SO = re.compile(r"(?i)(?:\b(?:is|was|are|be|says?|reads?|it'?s|to|ist|es|est|era|è|é)|[:=])\s*[\"'“‘`*(\[]{0,2}$")


def _is_told(value: str, before: str) -> bool:
    """Whether a word with digits or signs can be a password, and names no thing, version or amount."""
    value = value.strip("\"'.,;:)!?*^#&~")
    if re.fullmatch(r"(?:[a-z]+-){2,}[a-z]+", value):
        return _SAID_SO.search(before) is not None and _PHRASE.search(before) is not None
    if len(value) < 5 or value[0] in "#@" or re.search(r"#\d|[?!]\$?\d$", value) or value.lower() in _UNSAID:
        return False
    if _SAID_SO.search(before) and re.fullmatch(r"[A-Za-z]{3,}\d{1,6}", value):
        return True
    return _NO_PASSWORD.fullmatch(value) is None


_TRIED = (
    r"tr(?:y|ied|ying|ies)|typ(?:e|ed|ing)|put(?:ting)?(?: in)?|enter(?:ed|ing)?|default|"
    r"resets?(?: it)?(?: back)?|lower ?case|"
    r"upper ?case|caps|capitals?|kick(?:s|ed)|(?:lets?|gets?) me in(?:to)?|lets? us in|locked|protected|"
    r"opens?(?: it)?(?: with)?|"
    r"letting me in|let me in|old one|new one|wi-?fi code|router|as pass|mailbox|unlock(?:s|ed)?|changed? it|"
    r"change it to|changing it|changed from|set (?:it|a new)|a new one|accepted|rejected|isn't allowed|"
    r"not allowed|"
    r"remember|secret word|all one word|no spaces|spelled|signing in|sign in|log(?:ging|ged)? in|login|access|"
    r"neither|credentials|creds"
)
_WORD_AND_DIGITS = (
    r"[A-Za-z]{3,20}\d{2,8}[A-Za-z]{0,4}|[A-Z][a-z]{4,20}\d|"
    r"[A-Za-z]{1,12}\d{1,3}[a-z]{1,12}(?:\d{1,3}[a-z]{1,12}){1,4}\d{0,4}|"
    r"[A-Za-z]{3,15}(?:[-_.][A-Za-z]{2,15}){0,2}[-_.][A-Za-z]?\d{2,6}"
)
_REMEMBERED = (
    r"secret (?:word|answer)|memorable (?:word|name|place|info)|security (?:word|answer|question)|maiden name|"
    r"first pet|pet'?s name|"
    r"code ?word|safe ?word|answer to (?:my|the) (?:security|secret) question"
)
_REPLIES = frozenset(
    "yes no yeah yep nope sure okay what why how none nothing sorry thanks thank hello hang wait just one which "
    "where when that "
    "dont don't cant can't not never forgot i i'm it the my your you we is got lost".split()
)


def _is_tried(value: str, before: str) -> bool:
    """Whether a word with digits that somebody typed is a password, and no product's name or code in capitals."""
    return _is_told(value, before) and value.upper() != value and not re.match(_PRODUCTS, value)


_PRODUCTS = (
    r"(?i)(?:iphone|ipad|ipod|galaxy|pixel|note|xbox|playstation|windows|win|macos|android|office|chrome|firefox|"
    r"version|covid|area|"
    r"terminal|gate|room|flight|delta|united|route|boeing|airbus|nokia|huawei|xperia|thinkpad|surface|gopro|alexa|"
    r"sonos|fifa|"
    r"order|ticket|case|ref|inv|invoice|error|err|code|top|day|week|step|level|year|channel|studio|catch|formula|"
    r"promo|save|"
    r"welcome\d\d|summer|winter|spring|autumn|fall|black|cyber|newyear|halloween|xmas|vip|model|series|type|mk|"
    r"user|usr|customer|agent)[-_]?\d"
)


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


def _is_answer(value: str, before: str) -> bool:
    return value.lower().split()[0].strip("'\"") not in _REPLIES and _is_word(value, before)


_CHANGED = (
    rf"(?=[^\s<>]{{0,30}}[A-Za-z])(?=[^\s<>]{{0,30}}\d)(?=[^\s<>]{{0,30}}[{_SIGN}])[\w{_SIGN}][\w{_SIGN}.-]"
    rf"{{6,38}}(?![\w.-])"
)
_PHRASE = re.compile(rf"(?<![A-Za-z0-9_<])(?i:{_WORDED})(?![A-Za-z0-9_])")
_ADJECTIVES = re.compile(
    r"(?i)\w+(?:ed|ing|ly|able|ible|ive|ect|less|ful|ough|ory|ary|ay|n't|nt)|(?:" + "|".join(sorted(_UNSAID)) + r")|"
    r"(?:too|as|also|just|always|old|new|mine|hers|his|ours|yours|they|we|she|he|it|its|it's|im|i'm|one|two|there|"
    r"here|from|"
    r"saved|lost|gone|stolen|known|unknown|visible|hidden|blank|short|long|safe|same|different|fine|okay|right|"
    r"good|bad|"
    r"broken|bust|useless|done|sent|set|kept|stuck|stale|unsafe|easy|hard|simple|complex|random|common|too short|"
    r"expired|"
    r"between|about|above|below|under|over|only|exactly|even|either|still|really|something|anything|nothing|everything|"
    r"these|those|then|than|more|less|most|least|case|caps|correctly|very|okay|optional|numeric|alphanumeric|encrypted|"
    r"plaintext|ones?|unique|private|public|secret|secure|insecure|default|temporary|important|necessary|generic|"
    r"personal|outdated|obsolete|true|false|null|none|yes|also|again|up|out|off|down|through|into|onto|without|"
    r"falsch|richtig|abgelaufen|gesperrt|incorrecta|correcta|incorrecto|vencida|incorrect[ae]?|err[oó]nea|errada|fout|"
    r"sicher|lang|kurz|nicht|pas|non|n[aã]o|muy|trop|zu|demasiado|sbagliata|scaduta|invalide|valide|gone)"
)


def _is_word(value: str, before: str) -> bool:
    """Whether a word of letters after "the password is" is the password and not how it is."""
    return _ADJECTIVES.fullmatch(value.strip("\"'.,!")) is None


_WORD_END = (
    r"(?=[ ]?(?:[.,;!?)\n\"'”’]|$)| (?:and|but|with|all|thx|thanks|ty|pls|please|if|can|could|so|capital|lower|"
    r"lowercase|"
    r"uppercase|no|one|why|did|try|if|i|it|what|now|right|ok|lol|small|und|y|et|e|aber|pero|mais|that's|thats|on|"
    r"for)\b)"
)
PASSWORDS = (
    Pattern(
        "SECRET",
        r"(?i:pass ?phrase|security answer|secret answer)",
        re.compile(
            r"(?<![\w<])(?i:pass ?phrase|security answer|secret answer)(?:\s(?:is|was))?[\s:=]{0,3}"
            r"(?P<value>[\"“'][^\"”'\n<]{4,80}(?=[\"”'])|[A-Z][A-Za-z]{3,30})(?!\w)"
        ),
        digits=False,
    ),
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
        _PASSWORDS,
        r"[^\s<>\"“”„,;:=(\[][^\s<>\"“”,;]{3,63}",
        _is_password,
        script="密码|密碼|パスワード|비밀번호",
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:pass|passphrase) ?[:=]",
        re.compile(r"(?<![\w<])(?i:pass) ?[:=]\s?(?P<value>[^\s<>\"',;]{4,64})"),
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
    Pattern(
        "SECRET",
        rf"(?i:{_WORDED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{_WORDED})(?: (?:i|we|you|u|they|he|she) [a-z']{{2,10}}|"
            rf" for [a-z' -]{{2,25}}?| on [a-z' -]{{2,25}}?)?"
            rf"(?:'s| (?i:is|was|are|=|ist|es|est|war|era|è|é|should be|says|set to|changed to|now|called)|"
            rf":)(?: (?:now|just|still|simply|literally|currently|set to|lower ?case|all lower ?case|all caps|"
            rf"capital))?\s{{1,2}}"
            rf"[\"'“‘`]?(?P<value>[A-Za-zÀ-ÿ]{{4,30}}){_WORD_END}"
        ),
        _is_word,
        digits=False,
    ),
    # "the password is 'open sesame'" and "passphrase: four words in a row".
    Pattern(
        "SECRET",
        rf"(?i:{_WORDED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{_WORDED})(?:'s|\b[^\n\"“‘<]{{0,30}}(?:\b(?i:is|was|are|to|called|said|tried|"
            rf"try|with|ist|es|est)|[:=,])) ?[\"“‘](?P<value>[^\"”’\n<]{{4,60}})(?=[\"”’])"
        ),
        lambda value, before: _is_word(value, before) and value.count(" ") < 6,
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:pass ?phrase)",
        re.compile(
            r"(?<![\w<])(?i:pass ?phrase)\b[a-z ]{0,20}?(?: (?:is|was|says)|:|"
            r"=) ?(?P<value>[a-z]{3,12}(?:[ -][a-z]{3,12}){2,7})"
            r"(?= ?(?:[.,;!?\n)]|$))"
        ),
        digits=False,
    ),
    # Bare numbers, said to be one.
    Pattern(
        "SECRET",
        rf"(?i:{_WORDED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{_WORDED})(?:[ ]?[:=]| (?:is|was|ist|es|est))(?: (?:now|just|"
            rf"still))?\s{{1,2}}[\"'“]?(?P<value>\d{{4,20}})"
            rf"(?![\w%]|[.,:/-]\d| (?:to|or|-|char|letter|digit|day|hour|min))"
        ),
    ),
    *near("SECRET", _WORDED, _WORDLIKE, _is_told, digits=False),
    *near("SECRET", _LOGIN, _SECRETIVE, _is_told),
    *near("SECRET", _TRIED, _WORD_AND_DIGITS, _is_tried),
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
    # "And the password, please? customer: Ironbridge"
    Pattern(
        "SECRET",
        r"\?\s+[A-Za-z]+(?: \d)?: ",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{_WORDED}|{_REMEMBERED})\b[^\n?<]{{0,40}}\?\s{{0,2}}[A-Za-z]{{1,15}}(?: \d)?: "
            rf"(?:(?i:um|uh|er|it's|its|sure|ok|yes)[, .]{{1,3}}){{0,3}}"
            rf"(?P<value>[^\s<>,.?]{{3,40}}(?: [^\s<>,.?]{{2,12}}){{0,3}})(?=[ ]?(?:[.,;!\n]|$))"
        ),
        _is_answer,
        digits=False,
    ),
    Pattern(
        "SECRET",
        rf"(?i:{_REMEMBERED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{_REMEMBERED})\b(?: (?:is|was)|:|=|"
            rf"'s)\s{{1,2}}[\"'“]?(?P<value>[^\s<>\"”,.;?]{{3,40}}(?: [A-Z][a-z]{{1,20}})?)(?![\w])"
        ),
        _is_word,
        digits=False,
    ),
    # Words and a number: "hunter green 1971", "sunflower forty four".
    Pattern(
        "SECRET",
        rf"(?i:{_WORDED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{_WORDED})(?:'s|\b)[^\n<:,]{{0,25}}[:,](?: (?:er|um|"
            rf"uh),)? (?P<value>[A-Za-z]{{3,12}}(?: [a-z]{{2,12}}){{0,4}} "
            rf"(?:\d{{1,4}}|(?i:{NUMERAL}|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
            rf"ninety)(?:[ -](?i:{NUMERAL}))?))(?=[.,;!\n]|$)"
        ),
        digits=False,
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
