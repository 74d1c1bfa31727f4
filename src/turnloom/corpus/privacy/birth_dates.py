"""Dates of birth, in digits or words."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import Pattern, cued, is_elsewhere, near

__all__ = ["BIRTH_DATES"]

_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:19|20)\d\d"

_MONTH_NAMES = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|ene|abr|ago|dic|janv|févr|fév|avr|juin|"
    r"juil|août|déc|gen|mag|giu|"
    r"lug|set|ott|fev|out|maj|mrt|mei|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)[^\W\d_]{0,8}\.?"
)
_SPELLED_YEAR = (
    r"(?i:nineteen[ -](?:hundred(?: and)?[ -])?(?:oh[ -])?[a-z]{3,9}(?:[ -](?:one|two|three|four|five|six|seven|"
    r"eight|nine))?|"
    r"two thousand(?:(?: and)? (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))?)"
)
_SPELLED_DAY = (
    r"(?i:(?:twenty|thirty)[ -]?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|first|second|third|"
    r"fourth|fifth|"
    r"sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teenth|twentieth|"
    r"thirtieth)"
)
_DATE = (
    rf"(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?(?:the )?{_DAY}(?:st|nd|rd|"
    rf"th)?,? (?:of )?(?i:{_MONTH_NAMES}),? {_YEAR}|"
    rf"{_DAY}[./-]{_MONTH}[./-](?:{_YEAR}|\d\d)|{_MONTH}[./-]{_DAY}[./-](?:{_YEAR}|\d\d)|"
    rf"{_YEAR}[./-]{_MONTH}[./-]{_DAY}|"
    rf"{_DAY}(?:st|nd|rd|th|er|º|\.)?[ -](?:of |de )?(?i:{_MONTH_NAMES})(?:[ ,-]{{1,2}}|\s(?:de|del)\s)(?:{_YEAR}|"
    rf"\d\d\b)|"
    rf"(?i:{_MONTH_NAMES})[ -]{_DAY}(?:st|nd|rd|th)?[ ,-]{{1,2}}(?:{_YEAR}|\d\d\b)|"
    rf"{_YEAR}年{_MONTH}月{_DAY}日?|\d{{8}}|{_YEAR}, (?:on )?the {_DAY}(?:st|nd|rd|th)? (?:of )?(?i:{_MONTH_NAMES})|"
    rf"{_DAY}[ ./-](?i:ix|iv|xi{{0,2}}|vi{{0,3}}|i{{1,3}})[ ./-]{_YEAR}|"
    # Spaces around the separators, a month between two short numbers, years cut short, the day spelled out.
    rf"{_DAY} ?(?P<s1>[./|-]) ?{_MONTH} ?(?P=s1) ?(?:{_YEAR}|\d\d)|{_MONTH} ?(?P<s2>[./|"
    rf"-]) ?{_DAY} ?(?P=s2) ?(?:{_YEAR}|\d\d)|"
    rf"{_YEAR}(?P<s3> ?[./-] ?| ){_MONTH}(?P=s3){_DAY}|{_DAY} {_MONTH} (?:{_YEAR}|\d\d)|{_MONTH} {_DAY} (?:{_YEAR}|"
    rf"\d\d)|"
    rf"(?:the )?(?:{_DAY}(?:st|nd|rd|th)?|{_SPELLED_DAY})[ ,.-]{{0,2}}(?:of )?(?i:{_MONTH_NAMES})[ ,./-]{{0,2}}"
    rf"(?:{_YEAR}|['’]?\d\d\b|{_SPELLED_YEAR})|"
    rf"(?i:{_MONTH_NAMES})[ ./-]{{0,2}}(?:the )?(?:{_DAY}(?:st|nd|rd|th)?|{_SPELLED_DAY})[ ,./-]{{0,2}}(?:of )?"
    rf"(?:{_YEAR}|['’]?\d\d\b|{_SPELLED_YEAR})|{_YEAR}[ ,./-]{{1,2}}(?i:{_MONTH_NAMES})[ ./-]{{0,2}}{_DAY}(?:st|nd|"
    rf"rd|th)?|"
    rf"{_YEAR}[ ,./-]{{1,2}}{_DAY}(?:st|nd|rd|th)?[ ./-](?i:{_MONTH_NAMES})|\d{{6}}"
)
_BORN = (
    r"d\.?\s?o\.?\s?b|b-?day|b'?day|dobs?|birth|date birth|born(?: on| in)?(?: the)?|birth ?day|birth ?date|"
    r"(?:date|day|year) of birth|geburts(?:datum|"
    r"tag)|geb(?:oren)?(?:\.?-? ?datum)?(?: am)?|"
    r"(?:date de )?naissance(?: est)?(?: le)?|n[ée]e?(?: le)|nacimiento|fecha (?:de )?nac(?:imiento)?|nac[íi](?:do|"
    r"da)?(?: el| em)?|nascita|nat[oa] il|"
    r"nasc(?:imento|ido|ida)(?: em)?|geboorte ?datum|geboren(?: op)?|f[öø]delse ?dato?u?m?|födelsedatum|født|född|"
    r"syntymäaika|"
    r"data urodzenia|urodzon[ya]|(?:дата )?рождения|doğum tarihi"
)
_BORN_NEAR = (
    rf"{_BORN}|birth ?days?(?:'?s)?|b-?days?(?:'?s)?|birth ?dates?|date ?of ?birth|d\.o\.b\.?|d/o/b|(?:i'?m|am|is|"
    rf"was) born|"
    r"turn(?:ed|s|ing)? \d\d?|(?:birth|born)\w{0,2}|brithday|birthdate|bithday|birtday|date ofbirth"
)


def _is_birth(value: str, before: str) -> bool:
    """Whether a date near a birth is its day: complete, and no appointment's."""
    if re.fullmatch(r"\d{6}", value) and not re.search(
        r"(?i)(?:birth|dob|born|d\.o\.b)\W*(?:is|was|on|date)?\W*$", before
    ):
        return False
    return _PLANNED.search(before[-35:]) is None


def _is_relatives(value: str, before: str) -> bool:
    return (
        _is_birth(value, before)
        and re.search(r"(?i)\b(?:on|from|until|to|by|for|since|till|before|after|between|and|of)(?: the)? $", before)
        is None
    )


def _is_long_ago(value: str, before: str) -> bool:
    """Whether a complete date is of a year in which people that write were born."""
    year = re.search(r"(?:19|20)\d\d", value)
    short = re.search(r"(?:[/.-]|[A-Za-z])([3-9]\d)$", value)
    return (
        (1920 <= int(year[0]) <= 2012 if year else short is not None)
        and _is_birth(value, before)
        and not is_elsewhere(before[-40:])
        and re.search(r"(?i)\b(?:updat|upgrad|installed|running)\w*\b[^\n.?!]{0,20}$", before) is None
    )


_FAMILY = (
    r"daughters?|sons?|bab(?:y|ies)|infants?|child|kids?|newborn|toddler|twins?|husband|wife|spouse|partner|"
    r"traveller \d|passenger \d|"
    r"pax(?: \d)?|year'?s? old|yo|age|aged|age check|registering|registered|yob|turn(?:ed|s|ing) \w+|me ?:|"
    r"dependants?|grandson|granddaughter|"
    r"mother|father|mum|mom|dad|nephew|niece|sister|brother|minor|under ?age|underage|parent|born"
)
_COMPLETE = (
    rf"(?:{_DAY}|{_MONTH})(?P<sep> ?[./-] ?){_DAY}(?P=sep)(?:{_YEAR}|\d\d)|"
    rf"{_YEAR}(?P<sep2>[./-]){_MONTH}(?P=sep2){_DAY}|"
    rf"{_DAY}(?:st|nd|rd|th|\.)?[ ./-]{{0,2}}(?:of )?(?i:{_MONTH_NAMES})[ ,./-]{{0,2}}(?:{_YEAR}|['’]\d\d)|"
    rf"\d\d(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:[3-9]\d)|"
    rf"(?i:{_MONTH_NAMES})[ .-]{{1,2}}(?:the )?{_DAY}(?:st|nd|rd|th)?[ ,.-]{{1,2}}(?:{_YEAR}|['’]\d\d)"
)
_NUMBER_WORD = (
    r"(?:oh|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|"
    r"nine)teen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)"
)
_YEAR_WORDS = rf"(?i:{_NUMBER_WORD})(?:[ -](?:and )?(?i:{_NUMBER_WORD})){{0,4}}"
_SPELLED_DATE = (
    rf"(?i:the )?(?:{_SPELLED_DAY}|{_DAY}(?:st|nd|rd|th)) (?:of )?(?:(?i:{_MONTH_NAMES})|(?:the "
    rf")?{_SPELLED_DAY}),? {_YEAR_WORDS}|"
    rf"(?i:nineteen|two thousand|twenty)(?:[ -](?:and )?(?i:{_NUMBER_WORD})){{0,3}},? (?i:on )?(?i:the )"
    rf"{_SPELLED_DAY} (?:of )?(?i:{_MONTH_NAMES})|"
    rf"(?i:{_MONTH_NAMES}) (?:the )?{_SPELLED_DAY},? {_YEAR_WORDS}"
)
_ORDINAL_HINT = (
    r"\d(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|teenth|tenth|twelfth|tieth|eleventh"
)
_PLANNED = re.compile(
    r"(?i)\b(?:appointment|termin\w*|rendez-vous|cita|appuntamento|afspraak|liefer\w*|bestell\w*|booked|booking|"
    r"deliver\w*|order\w*|arriv\w+|depart\w+|flight|flying|travel(?:s|ling|ing|led)?|"
    r"check-?in|check in|expir\w+|"
    r"expires|until|before|meeting|party|purchased|bought|due|scheduled|issued|valid|since|hired|joined|start\w*|"
    r"leav\w+|return\w*|founded|built|released?|manufactured|copyright|established|opened|invoice|statement|"
    r"updated|dated|"
    r"fl(?:y|ies|ew)|wedding|concert|event|sale|pay\w*|charg\w+|made)\b[^\n.?!]*$"
)


BIRTH_DATES = (
    cued("BIRTHDATE", _BORN, _DATE, script="生年月日|出生日期|생년월일|出生"),
    Pattern(
        "BIRTHDATE",
        r"(?i:born|birthday|b-?day)[^\n]* \d",
        re.compile(
            rf"(?<![\w<])(?i:born|birthday|b-?day)(?:'?s| is| was| on| the){{0,2}}:? (?P<value>{_DAY}[/.]{_DAY})"
            rf"(?![./:\d]| ?(?i:h|hours|am|pm|%|kg|lbs?)\b)"
        ),
    ),
    # "27/03/2006 is when I was born", "im 11 04 1958"
    Pattern(
        "BIRTHDATE",
        r"\d[^\n]*(?i:born|birth|dob|b-?day)",
        re.compile(
            rf"(?<![\w.,:/#$€£-])(?P<value>{_COMPLETE})(?=\)? (?i:is|was|'s|=) (?i:when|the day|my|his|her|our|"
            rf"their)\b[^\n]{{0,25}}\b(?i:born|birth|dob|b-?day))"
        ),
    ),
    cued("BIRTHDATE", r"i'?m|i am|she'?s|he'?s", rf"{_DAY}[ ./-]{_MONTH}[ ./-]{_YEAR}", _is_long_ago),
    *near("BIRTHDATE", _BORN_NEAR, _DATE, _is_birth, ahead=70, behind=35),
    cued(
        "BIRTHDATE",
        r"born(?: in| around| back in)?|year of birth|birth ?year|geboren|jahrgang|né en|née en|nacido en|nacida en",
        _YEAR + r"|(?i:" + _MONTH_NAMES + r") " + _YEAR,
    ),
    cued(
        "BIRTHDATE",
        r"(?:my|his|her|their|son's|daughter's|kid's|wife's|husband's|mum's|mom's|dad's) (?:birth ?day|"
        r"b-?day)(?:'s| is| on)?",
        rf"(?:the )?{_DAY}(?:st|nd|rd|th)?[ -](?:of )?(?i:{_MONTH_NAMES})|"
        rf"(?i:{_MONTH_NAMES})[ -](?:the )?{_DAY}(?:st|nd|rd|th)?",
    ),
    *near(
        "BIRTHDATE",
        _FAMILY,
        _COMPLETE,
        _is_relatives,
        ahead=45,
        behind=30,
        also=r"\d{4}|[./-]\d\d|['’]\d\d|\d[A-Za-z]{3}\d",
    ),
    # A complete date long ago: what else would a customer say?
    Pattern(
        "BIRTHDATE",
        r"19[2-9]\d|200\d|201[0-2]|\d[./-][3-9]\d|\d[A-Za-z]{3}[3-9]\d",
        re.compile(rf"(?<![\w.,:/#$€£-])(?P<value>{_COMPLETE})(?![\w:]|[./-]\d)"),
        _is_long_ago,
    ),
    Pattern(
        "BIRTHDATE",
        rf"(?i:(?:{_ORDINAL_HINT}) (?:of )?(?:the |jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))|(?i:(?:jan|"
        rf"feb|march|apr|may|june|july|aug|sept|oct|nov|dec)[a-z]* (?:the )?[a-z-]*(?:{_ORDINAL_HINT}))",
        re.compile(rf"(?<![\w<])(?P<value>{_SPELLED_DATE})(?!\w)"),
        _is_birth,
        digits=False,
    ),
    *near(
        "BIRTHDATE",
        _BORN_NEAR,
        rf"(?i:{_NUMBER_WORD})(?:[ ,-]{{1,2}}(?i:{_NUMBER_WORD})){{2,7}}",
        digits=False,
        hint=rf"(?i:{_NUMBER_WORD}[ ,-]+{_NUMBER_WORD}[ ,-]+{_NUMBER_WORD})",
    ),
    Pattern(
        "BIRTHDATE",
        r"(?i:year)",
        re.compile(
            r"(?<![\w<])(?P<value>(?i:day)[ :=]{1,2}\d{1,2}[ ,/]{1,2}(?i:month)[ :=]{1,2}\w{1,9}[ ,/]{1,2}(?i:year"
            r")[ :=]{1,2}\d{2,4})"
        ),
    ),
    Pattern(
        "BIRTHDATE",
        "<BIRTHDATE>",
        re.compile(rf"<BIRTHDATE>[^\d\n<]{{1,25}}(?: \d)?[^\d\n<]{{0,3}}?(?<![\w$])(?P<value>{_DATE})(?!\w)"),
        _is_birth,
    ),
)
