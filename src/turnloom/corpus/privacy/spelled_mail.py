"""E-mail addresses as people say them: "kate dot lee at example dot com"."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import Pattern

__all__ = ["AT", "DOT", "MAILERS", "SMALL_NUMBER", "SPELLED_MAIL"]

MAILERS = "gmail|googlemail|yahoo|hotmail|outlook|icloud|aol|gmx|proton|protonmail|web|live|msn|fastmail|yandex|mail"
AT = (
    r"at|arroba|arobase|chiocciola|собака|ät|apenstaartje|ma[łl]pa|snabel-?a|alfakr[øo]ll|zavin[áa][čc]|kukac|"
    r"klammeraffe|miukumauku"
)
DOT = r"dot|punto|point|punkt|ponto|точка|punt|kropka|te[čc]ka|bodka|nokta|piste|pont|punct"
SMALL_NUMBER = (
    r"oh|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
)
_JOIN = (
    rf"(?:{DOT}|underscore|dash|hyphen|minus|plus|gui[oó]n(?: bajo)?|tiret(?: bas)?|trattino(?: basso)?|h[íi]fen|"
    r"unterstrich|bindestrich|podkre[śs]lnik|my[śs]lnik|streepje|understr[eé]c?k|bindestr[eé]c?k)"
)
# Words between a comma and an address: "Hi Tracy, I sent it to jo dot doe at …".
_NO_SENTENCE = r"(?!(?i:at|to|i|it|is|me|my|you|your|we|the|for|from|on|in|send|sent|mail|email)\b)"
_NO_PLACE = rf"(?!(?i:the|a|my|your|this|that|our|some|any|which|what|least|every|each|another|no|{SMALL_NUMBER})\b)"
_GAP = r"(?:, ?| |-)"
_DOMAIN = rf"{_NO_PLACE}(?:(?i:i|g|gee|hot|ya|fast|proton) (?i:cloud|mail|hoo)|[\w-]{{2,40}})"
_USER = rf"[^\W_][\w.+-]{{0,40}}(?:{_GAP}(?i:{_JOIN}){_GAP}[\w.+-]{{1,30}}){{0,4}}"
_END = r"(?![\w@])"
_PIECE = (
    rf"(?:(?i:{_JOIN})(?:,? (?!(?i:{_JOIN}|{SMALL_NUMBER})\b)[^\W\d_]{{2,20}})?|"
    r"[^\W_](?: (?:as in|for|like) [^\W\d_]{2,12})?|\d{2,4}|(?i:capital|upper ?case|lower ?case|double)(?:[ -]\w)?|"
    rf"(?i:double-u|no dots|no spaces|all one word|all together|{SMALL_NUMBER}))"
)


def _is_spelled(value: str, before: str) -> bool:
    """Whether what stands before an address belongs to it: letters, digits, or words such as "dot"."""
    single = re.findall(r"(?<![^\W_])[^\W_](?![^\W_])", value)
    return (
        len(single) > 1
        or re.search(rf"(?i)\d|\b(?:{_JOIN}|{SMALL_NUMBER}|as in|for|like|capital)\b", value) is not None
    )


SPELLED_MAIL = (
    # "it's green kettle, all one word, at gee mail dot com"
    Pattern(
        "EMAIL",
        r" (?i:dot|point|punto|punkt) [A-Za-z]+(?:[^A-Za-z]|$)",
        re.compile(
            rf"(?:(?<=[:,?] )|(?<=[:?]\n)|(?<='s )|(?<= is )|(?<=its ))(?P<value>{_NO_SENTENCE}[A-Za-z0-9]{{1,20}}"
            rf"(?:(?:, ?| ){_NO_SENTENCE}[A-Za-z0-9]{{1,15}}){{0,7}},? "
            rf"(?i:at) {_NO_PLACE}[A-Za-z0-9-]{{1,20}}(?: [A-Za-z0-9-]{{1,20}}){{0,2}}?("
            rf"?: (?i:{DOT}) (?i:com|net|org|co|uk|de|fr|es|it|nl|io|edu|gov|eu|ie|au|ca|in|"
            rf"[a-z]{{2}})){{1,2}}){_END}"
        ),
        digits=False,
    ),
    # "kate at example dot com"; several words before only after "mail is".
    Pattern(
        "EMAIL",
        rf"[ ,-](?i:{AT}),?[ -][^\n]*[ ,-](?i:{DOT}),?[ -]|[ ,](?i:at),? (?i:{MAILERS})",
        re.compile(
            rf"(?<![\w.@+-])(?:(?<=mail is )(?:[\w-]{{1,20}} ){{0,3}}|(?<=address is )(?:[\w-]{{1,20}} ){{0,3}})"
            rf"?{_USER}{_GAP}(?i:{AT}){_GAP}(?:{_DOMAIN}(?:{_GAP}(?i:{DOT}){_GAP}(?!com(?!\b))[^\W\d_]{{2,12}})"
            rf"{{1,3}}|(?i:{MAILERS})(?:\.[a-z]{{2,3}})?){_END}"
        ),
        digits=False,
    ),
    Pattern(
        "EMAIL",
        r" ?(?i:at) [^ ]+ (?i:dot) ",
        re.compile(rf"(?<=> )(?i:at) [\w-]{{2,40}} (?i:dot) [a-z]{{2,6}}{_END}"),
        digits=False,
    ),
    # What is left before one that was found: "rob forty <EMAIL>", "b as in bravo, <EMAIL>".
    Pattern(
        "EMAIL",
        "<EMAIL>",
        re.compile(
            rf"(?<![\w<@'’.-])(?P<value>(?:[^\W\d_]{{2,20}} (?=\d|(?i:{_JOIN}|{SMALL_NUMBER})\b))?"
            rf"(?:{_PIECE}(?:, ?| )){{1,20}})(?=<EMAIL>)"
        ),
        _is_spelled,
        digits=False,
    ),
)
