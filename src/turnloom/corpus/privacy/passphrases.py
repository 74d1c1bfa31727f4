"""Passwords that are words, phrases or plain numbers: only what is said around them tells."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import NUMERAL, Pattern, asked, is_elsewhere

__all__ = ["CALLED", "PASSPHRASES", "PASSWORD_HINT", "PASSWORD_WORDS", "UNSAID"]

PASSWORD_WORDS = (
    r"pass ?words?|pass ?wort|kennwort|passwd|pwd|pw|pass ?phrase|passcode|contrase[ñn]a|clave|senha|mot de passe|"
    r"wachtwoord|has[łl]o|"
    r"lösenord|adgangskode|salasana|heslo|parola|şifre|пароль|(?:wi-?fi|network|security) key|login code"
)
CALLED = (
    r"pas+[ -]?w(?:or|ro|r|o)[dt]e?s?|pas+w|pas+[ -]?ord|pass?w?d|pswd?|pwrd|p/w|pass ?phrases?|pass ?keys?|passcodes?|"
    r"(?:temp|temporary|old|new|current|wifi|wi-fi|login|my|ur|your|the|and|user|admin|correct|wrong|"
    r"different) pass(?:es)?|"
    rf"{PASSWORD_WORDS}"
)
_REMEMBERED = (
    r"secret (?:word|answer|phrase)|memorable (?:word|name|place|info(?:rmation)?|answer|phrase)|"
    r"security (?:word|answer|question|phrase)|maiden name|first pet|pet'?s name|(?:code|safe|key|magic) ?word|"
    r"key ?phrase|first (?:school|car|teacher)|answer to (?:my|the) (?:security|secret) question"
)
PASSWORD_HINT = (
    r"(?i:pas|pw|p/w|kennw|contrase|clave|senha|mot de|wachtw|has[łl]o|lösen|adgangs|heslo|şifre|пароль|log-?in|"
    r"user|key|word|default|changeme|letmein|"
    r"maiden|pet|answer|school|teacher|first car|remember|lower|one word|caps|capital|spaces|small letters|upper "
    r"?case)|密|パス|비밀"
)
"""Matches whatever a pattern without digits here or in `passwords` can, but for signs in words."""
UNSAID = frozenset(
    """
    wrong incorrect not expired invalid still required correct weak strong protected never being changed reset
    missing empty case sensitive error again field page link problem issue recovery manager please help forgotten
    answers answer questions fields change changes retrieval information yet the your this that what how when where
    why and but because will would must should can could has have had was were does doesn't isn't won't or for with
    hint rules policy login email
    """.split()
)
_REPLIES = frozenset(
    "yes no yeah yep nope sure okay what why how none nothing sorry thanks thank hello hang wait just one which "
    "where when that "
    "dont don't cant can't not never forgot i i'm it the my your you we is got lost".split()
)
_ADJECTIVES = re.compile(
    r"(?i)\w+(?:ed|ing|ly|able|ible|ive|ect|less|ful|ough|ory|ary|ay|n't|nt)|(?:" + "|".join(sorted(UNSAID)) + r")|"
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


def _is_answer(value: str, before: str) -> bool:
    return value.lower().split()[0].strip("'\"") not in _REPLIES and _is_word(value, before)


def _is_phrase(value: str, before: str) -> bool:
    """Whether several small words after the word passphrase are one, and no clause."""
    return len((UNSAID - {"correct", "strong"}) & set(value.split())) == 0


def _is_number(value: str, before: str) -> bool:
    """Whether a number after the word password is one, and no year, count or order."""
    year = re.fullmatch(r"(?:19|20)\d\d", value) is not None and not re.search(r"(?i)(?:is|:|=|to)\s*$", before)
    return not year and not is_elsewhere(before[-40:])


_BEING = (
    r"(?:'s| (?:is|was|are|=|ist|es|est|war|era|è|é|(?:should|would|will|must|might) be|used to be|says|reads|"
    r"(?:re)?set (?:to|as)|(?:is |was )?(?:supposed|meant|said|told|going) to be|"
    r"(?:(?:is|was|has been|been) )?(?:recorded|registered|saved|stored|noted|given|down) as|(?:changed|reset|"
    r"updated|switched|back) to|now|called)|:)"
    r"(?: (?:now|just|still|simply|literally|currently|set to|lower ?case|all (?:in )?(?:lower ?case|caps|one word|"
    r"small)|"
    r"capital|back to))?,?\s{1,2}"
)
_WORD_END = (
    r"(?=[ ]?(?:[.,;!?)\n\"'”’]|$)| (?:and|but|with|all|thx|thanks|ty|pls|please|if|can|could|so|capital|lower|"
    r"lowercase|"
    r"uppercase|no|by|since|when|last|yesterday|today|again|from|after|before|as|or|same|you|he|she|they|we|my|no|"
    r"one|why|did|try|if|i|it|what|now|right|ok|lol|small|und|y|et|e|aber|pero|mais|that's|thats|on|"
    r"for)\b)"
)
PASSPHRASES = (
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
        rf"(?i:{CALLED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{CALLED})(?: (?:i|we|you|u|they|he|she) [a-z']{{2,10}}|"
            rf" for [a-z' -]{{2,25}}?| on [a-z' -]{{2,25}}?)?"
            rf"(?i: (?:got|was|has been|gets|to be))?(?i:{_BEING})[\"'“‘`]?(?P<value>[A-Za-zÀ-ÿ]{{4,30}}){_WORD_END}"
        ),
        _is_word,
        digits=False,
    ),
    # "the password is 'open sesame'" and "passphrase: four words in a row".
    Pattern(
        "SECRET",
        rf"(?i:{CALLED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{CALLED})(?:'s|\b[^\n\"“‘<]{{0,30}}(?:\b(?i:is|was|are|to|called|said|tried|"
            rf"try|with|ist|es|est)|[:=,])) ?[\"“‘](?P<value>[^\"”’\n<]{{4,60}})(?=[\"”’])"
        ),
        lambda value, before: _is_word(value, before) and value.count(" ") < 6,
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"(?i:pass ?phrase|key ?phrase|secret phrase|pass ?words)",
        re.compile(
            rf"(?<![\w<])(?i:pass ?phrase|key ?phrase|secret phrase|passwords?)\b(?! (?:is|was) too)[a-z ]{{0,45}}?"
            rf"(?i:{_BEING})\s?(?P<value>[a-z]{{3,12}}(?:[ -][a-z]{{3,12}}){{2,7}})"
            rf"(?= ?(?:[.,;!?\n)]|$)| (?:but|and|why|which|is|does|all)\b)"
        ),
        _is_phrase,
        digits=False,
    ),
    # Bare numbers, said to be one.
    Pattern(
        "SECRET",
        rf"(?i:{CALLED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{CALLED})(?:[^\n<.?!]{{0,25}}?(?:[:=]|\b(?i:is|was|ist|es|est|to|as|use|"
            rf"with|now|just|still|yet))|,)?\s{{1,2}}[\"'“]?(?P<value>\d{{4,20}})"
            rf"(?![\w%€]|[.,:/-]\d| (?:to|or|-|char|letter|digit|day|hour|min|times|people|users|attempts|customers))"
        ),
        _is_number,
    ),
    # "And the password, please? customer: Ironbridge"
    asked(
        "SECRET",
        rf"{CALLED}|{_REMEMBERED}",
        r"[^\s<>,.?\"]{3,40}(?: [^\s<>,.?\"]{2,12}){0,3}(?=[ ]?(?:[.,;!\n\"]|$))",
        _is_answer,
    ),
    Pattern(
        "SECRET",
        rf"(?i:{_REMEMBERED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{_REMEMBERED})\b(?:[a-z ]{{0,30}}?(?i:{_BEING})|(?: is| was)?:|=|"
            rf"'s|(?= [^ ,.?!\n]+(?:[.,\n]|$)))\s{{0,2}}[\"'“]?(?P<value>[^\s<>\"”,.;?]{{3,40}}"
            rf"(?: [A-Z][a-z]{{1,20}})?)(?![\w])"
        ),
        _is_word,
        digits=False,
    ),
    # "its chocolatepudding all lower case", "last one I remember is bananasplit"
    Pattern(
        "SECRET",
        r"(?i:lower ?case|one word|no spaces|all caps|in capitals|small letters|upper ?case|remember)",
        re.compile(
            r"(?<![\w<])(?i:its|it's|is|was|be|use|using|typed|enter|entered|:) "
            r"[\"'“]?(?P<value>[A-Za-z][\w!$.-]{4,30})[\"'”]?"
            r"(?=,? (?:all |in |written )*(?i:lower ?case|one word|no spaces|caps\b|capitals|small letters|upper "
            r"?case))|"
            r"(?<![\w<])(?i:(?:i|we|can) (?:can )?remember(?: is| was|:)) [\"'“]?(?P<last>[A-Za-z][\w!$.-]{4,30})"
        ),
        lambda value, before: value.lower() not in UNSAID,
        digits=False,
    ),
    # "it's sunflower seven seven, all one word"
    Pattern(
        "SECRET",
        r"(?i:one word|no spaces|lower ?case)",
        re.compile(
            r"(?<![\w<])(?i:its|it's|is|was|:) (?P<value>[A-Za-z]{3,14}(?: [A-Za-z\d]{2,12}){1,4}),? "
            r"(?=(?:all |and )?(?i:one word|no spaces|in? ?lower ?case|lower ?case))"
        ),
        _is_phrase,
        digits=False,
    ),
    # Words and a number: "hunter green 1971", "sunflower forty four".
    Pattern(
        "SECRET",
        rf"(?i:{CALLED})",
        re.compile(
            rf"(?<![A-Za-z0-9_<])(?i:{CALLED})(?:'s|\b)[^\n<:,]{{0,25}}[:,](?: (?:er|um|"
            rf"uh),)? (?P<value>[A-Za-z]{{3,12}}(?: [a-z]{{2,12}}){{0,4}} "
            rf"(?:\d{{1,4}}|(?i:{NUMERAL}|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
            rf"ninety)(?:[ -](?i:{NUMERAL}))?))(?=[.,;!\n]|$)"
        ),
        lambda value, before: re.search(r"(?i)\b(?:is|are|has|only|but|needs?|mine|min|max|rules)\b", value) is None,
        digits=False,
    ),
)
