"""National ids, passports and dates of birth."""

from __future__ import annotations

import re
from collections.abc import Callable

from turnloom.corpus.privacy import checksums
from turnloom.corpus.privacy.pattern import IDENTIFIER, NUMBERING, Pattern, count_digits, cued, is_elsewhere, near

__all__ = ["IDENTITIES"]

_CUES = (
    r"s\.?s\.?n|social security|social insurance|social|national insurance|nino|nhs|aadh?a+r|pan(?: card| no| "
    r"number)|cpf|cnpj|tfn|"
    r"tax (?:file|id)|tax identification|s[ée]cu(?:rit[ée] sociale)?|dni|nie|nif|codice fiscale|c\.f|"
    r"steuer-?id(?:entifikations)?-?(?:nr|nummer)?|"
    r"steuernummer|idnr|bsn|burgerservicenummer|pesel|(?:person|f[øo]dsels|cpr-?|cpr|rijksregister|versicherungs|"
    r"sozialversicherungs|"
    r"ahv-?|avs-?|svnr-?|identifikations)(?:nummer|nr)|hetu|henkil[öo]tunnus|cpr|registre national|cnp|rodn[ée] "
    r"č[íi]slo|curp|cui[lt]|rut|"
    r"c[ée]dula(?: de (?:ciudadan[íi]a|identidad))?|kimlik|id (?:number|card|no)|(?:sa|thai|hk|national|my|"
    r"emirates|voter) id|"
    r"identity (?:card|number)|carn[eé] de identidad|снилс|инн|ahv|avs|ppsn?|nric|hkid|cnic|teudat zehut|ird|oib|"
    r"егн|egn|amka|αμκα|svnr|"
    r"mykad|isikukood|asmens kodas|matricule|(?:driver'?s?|driving) licen[cs]e|ת\.ז"
)
_SHORT_CUES = "NI|SIN|FIN|PAN|CF|RC|RČ|NIK|NIN|NIR|CIF|NIP|RUN|CNI|SV"
_SCRIPTS = '身份证|身分證|マイナンバー|주민등록번호|주민번호|เลขบัตรประชาชน|ת"ז'
_PASSPORTS = (
    r"(?:reise)?pas(?:s|z)?port\w{0,8}|reisepass\w{0,8}|pasaporte|passeport|passaporto|passaporte|paspoort\w{0,8}|"
    r"паспорт\w{0,3}"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:19|20)\d\d"


def _unnumbered(check: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Accept what passes a check unless an order, a ticket or the like is named before it."""
    return lambda value, before: NUMBERING.search(before[-30:].rstrip()) is None and check(value, before)


def _identity(shape: str, hint: str, check: Callable[[str, str], bool]) -> Pattern:
    return Pattern("ID", hint, re.compile(rf"(?<![\w.-])(?:{shape})(?![\w]|[.-]\d)"), _unnumbered(check))


def _always(value: str, before: str) -> bool:
    return True


def _luhn(value: str, before: str) -> bool:
    return checksums.luhn(value)


def _verhoeff(value: str, before: str) -> bool:
    return checksums.verhoeff(value)


def _modulus_11(value: str, before: str) -> bool:
    return int(re.sub(r"\D", "", value)) % 11 == 0


def _passport(value: str, before: str) -> bool:
    return sum(map(str.isdigit, value)) >= (3 if re.fullmatch(r"[A-Z0-9]{8,10}", value) else 5)


_SHAPES = (
    # United States; never 000, 666 or 9xx.
    _identity(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}", r"\d{3}-\d\d-\d{4}", _always),
    _identity(
        r"(?i:[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z])(?: \d\d \d\d \d\d [A-D]|[ -]?\d{6}[ -]?[A-D]|"
        r"-?\d\d-?\d\d-?\d\d-?(?i:[A-D]))",
        r"[A-Za-z]{2}[ -]?\d\d[ -]?\d\d[ -]?\d\d[ -]?[A-Da-d]",
        _always,
    ),  # United Kingdom
    _identity(r"[2-9]\d{3}([ -])\d{4}\1\d{4}", r"\d{4}[ -]\d{4}[ -]\d{4}", _verhoeff),  # India
    _identity(r"[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]", r"[A-Z]{5}\d{4}[A-Z]", _always),
    _identity(r"\d{3}\.\d{3}\.\d{3}-\d\d|\d\d\.\d{3}\.\d{3}/\d{4}-\d\d", r"\d{3}\.\d{3}[./]", checksums.is_brazilian),
    _identity(
        r"[12] \d\d (?:0[1-9]|1[0-2]|[2-9]\d) \w\w \d{3} \d{3} \d\d|[12]\d{2}(?:0[1-9]|1[0-2])\d{10}",
        r"[12] ?\d\d ?\d\d ?\d",
        checksums.is_french,
    ),
    _identity(
        r"\d{8}-?[A-Z]|\d{1,2}\.\d{3}\.\d{3}-?[A-Z]|"
        r"[XYZ]-?\d{7}-?[A-Z]",
        r"\d{3}-?[A-Z]",
        checksums.is_spanish,
    ),
    _identity(
        r"(?i:[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z])", r"[A-Za-z]{6}\d\d[A-Za-z]\d\d", checksums.is_fiscal_code
    ),
    _identity(
        r"(?i:[A-Z]{4}\d\d(?:0[1-9]|1[0-2])[0-3]\d[HMX][A-Z]{5}[A-Z0-9]\d)",
        r"[A-Za-z]{4}\d{6}[HMXhmx]",
        _always,
    ),  # Mexico
    _identity(
        r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5])\d{4}(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d\d{3} ?[\dXx]",
        r"\d{17} ?[\dXx]",
        checksums.is_chinese,
    ),
    _identity(r"\d\d(?:0[1-9]|1[0-2])[0-3]\d-[1-8]\d{6}", r"\d{6}-[1-8]\d{6}", _always),  # Korea
    _identity(
        r"[0-3]\d(?:0[1-9]|1[0-2])"
        r"\d\d[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]",
        r"\d{6}[-+A-Y]\d{3}",
        _always,
    ),  # Finland
    _identity(
        r"(?:19|20)?\d\d(?:0[1-9]|1[0-2])[0-3]\d[-+]\d{4}",
        r"\d{6}[-+]\d{4}",
        lambda value, before: checksums.luhn(re.sub(r"\D", "", value)[-10:]),
    ),
    _identity(r"\d\d(?:[0257][1-9]|[1368][0-2])[0-3]\d/\d{4}", r"\d{6}/\d{4}", _modulus_11),  # Czechia, Slovakia
    _identity(r"\d\d\.\d\d\.\d\d-\d{3}[.-]\d\d", r"\d\d\.\d\d-\d{3}", _always),  # Belgium
    _identity(r"756[. ]\d{4}[. ]\d{4}[. ]\d\d", r"756[. ]\d{4}", _always),  # Switzerland
    _identity(r"\d{1,2}\.\d{3}\.\d{3}-[\dkK]|\d{7,8}-[\dkK]", r"\d{3}-[\dkK]", checksums.is_rut),
    _identity(r"\d{3}-\d{3}-\d{3}[ -]\d\d", r"\d{3}-\d{3}-\d{3}", _always),  # Russia
    _identity(r"[STFG]\d{7}[A-Z]", r"[STFG]\d{7}[A-Z]", checksums.is_singaporean),
    _identity(r"[A-Z]{1,2}\d{6}\([0-9A]\)", r"[A-Z]\d{6}\(", _always),  # Hong Kong
    _identity(r"\d-\d{4}-\d{5}-\d\d-\d", r"\d{4}-\d{5}-\d\d", _always),  # Thailand
    _identity(r"[1-7]\d{4}-\d{7}-\d", r"\d{5}-\d{7}-\d", _always),  # Pakistan
    _identity(r"(?:20|23|24|27)-\d{8}-\d", r"-\d{8}-\d", _always),  # Argentina
    _identity(r"\d\d(?:0[1-9]|1[0-2])[0-3]\d-\d\d-\d{4}", r"\d{6}-\d\d-\d{4}", _always),  # Malaysia
    _identity(r"\d\d(?:0[1-9]|1[0-2])[0-3]\d ?\d{4} ?[01]8\d", r"\d{6} ?\d{4} ?[01]8\d", _luhn),  # South Africa
    _identity(r"\d\d(?:[02468][1-9]|[13579][0-2])[0-3]\d{6}", r"\d{11}", checksums.is_polish),
)

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

_PASSPORT_NUMBER = (
    r"[A-Z]{1,3} ?\d{6,9}|(?=[A-Z]{0,7}\d)[A-Z0-9]{7,10}|(?=[a-z]{0,4}\d)[a-z0-9]{8,9}|"
    r"\d{2,3} \d{2,3} \d{2,4}|[a-z]{1,2}\d{6,8}|\d{2} ?[A-Z]{2} ?\d{5}|[A-Z]{2} \d{3} \d{3,4}"
)
_STRONG_CUES = (
    r"s\.?s\.?n|social security|social(?: number| no| is| insurance)?|soc|sin|national insurance|nino|"
    r"ni (?:number|no)|nhs(?: number| no)?|"
    r"a+dh?a+r\w*|pan(?: card| no| number)?|cpf|tfn|itin|ein|tax (?:file|id|number|no|code|identification)\w*|"
    r"sécu|securit[ée] sociale|"
    r"dni|nie|nif|codice fiscale|steuer-?(?:id|nummer|identifikationsnummer)|bsn|burgerservicenummer|pesel|"
    r"personnummer|"
    r"national (?:id|identity|identification)(?: card)?(?: number| no)?|id (?:card|number|no)|identity (?:card|"
    r"number|no)|curp|rut|"
    r"c[ée]dula|driver'?s? licen[cs]e|driving licen[cs]e|medicare|licen[cs]e number|nric|(?:ssn|sin|tax|emirates|"
    r"voter|my|sa|govt|government) id|"
    r"carte vitale|vitale|insurance (?:number|no|nr)|(?:foreigner|alien|resident|residence|permit)'?s? (?:number|"
    r"no|card|id)|identity|hetu|cnp|ahv|avs|oib|ppsn?|cui[lt]"
)
_ID_NUMBER = (
    r"\d(?: \d\d){3}(?: \d{3}){2}(?: \d\d)?|\d{17} ?[\dXx]|\d{3}[ .-]\d{2}[ .-]\d{4}|"
    r"[A-Z]{1,6} ?\d(?:[ .-]?\d){5,13}(?: ?[A-Z]\b)?|\d(?:[ ./-]?\d){7,13}(?:[ -]?[A-Z]\b)?|"
    r"(?:[A-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D])|(?=[A-Z]*\d)(?=[0-9]*[A-Z])[A-Z0-9]{8,18}|"
    r"(?i:[a-z]{2}(?: ?\d\d){3} ?[a-d])|"
    r"\d(?: \d\d){3}(?: \d{3}){2} \d\d|\d{7} ?[A-W][A-IW]?|(?i:[a-z]{5}\d{4}[a-z])|\d{8}[a-z]|[xyz]\d{7}[a-z]"
)
_DOCUMENTS = (
    r"pp|ppt|pspt|apis|pax(?: ?\d)?|advance passenger\w*(?: info\w*)?|travell?ers?(?: ?\d)?|doc(?:ument)?(?: type|"
    r" number| no| nr| num)?|"
    r"documents?|manifest|photo page|data page|visas?|esta|immigration|border|embassy|consulate|citizen\w*|nationality|"
    r"travel\w*|check-?in|boarding|mismatch|renew\w*|issued|machine|mine says|gate staff|staff|machine.readable|"
    r"id|identity|licen[cs]e|permit|residence|proof|"
    r"(?:american|us|u\.s\.|usa|british|uk|english|irish|canadian|australian|aussie|german|french|italian|spanish|"
    r"portuguese|dutch|belgian|swiss|austrian|polish|czech|danish|swedish|norwegian|finnish|greek|turkish|russian|"
    r"ukrainian|indian|chinese|japanese|korean|brazilian|mexican|argentin\w+|chilean|colombian|nigerian|kenyan|"
    r"south african|singapore\w*|filipino|philippine|indonesian|vietnamese|thai|malaysian|israeli|emirati|saudi|"
    r"egyptian|moroccan|pakistani|bangladeshi|new zealand|kiwi|nz|eu|old|new|other|expired)(?: one| passport|"
    r" document| federation| book)"
    r""
)
_DOCUMENT_NUMBER = (
    r"(?<![\d-] )(?:[A-Z]{1,2} ?\d{7,8}|[A-Z]{2} ?\d{6}|[A-Z]{2} \d{3} \d{4}|[A-Z]\d{8}[A-Z]?|[A-Z]\d{7}[A-Z]|"
    r"(?=[A-Z]{0,4}\d)(?=\d{0,4}[A-Z])[A-Z0-9]{9}|\d{2} \d{7})(?! \d)"
)


def _is_document(value: str, before: str) -> bool:
    """Whether a value written like a passport's number follows a word of travel, and no booking's or order's."""
    return _is_passport(value, before) and not is_elsewhere(before) and not is_elsewhere(value)


_BORN_NEAR = (
    rf"{_BORN}|birth ?days?(?:'?s)?|b-?days?(?:'?s)?|birth ?dates?|date ?of ?birth|d\.o\.b\.?|d/o/b|(?:i'?m|am|is|"
    rf"was) born|"
    r"turn(?:ed|s|ing)? \d\d?|(?:birth|born)\w{0,2}|brithday|birthdate|bithday|birtday|date ofbirth"
)


def _is_passport(value: str, before: str) -> bool:
    """Whether enough of a value are digits, and nothing else is named before it."""
    return _passport(value, before) and _is_identity(value, before)


def _is_identity(value: str, before: str) -> bool:
    return count_digits(3, 16)(value, before) and NUMBERING.search(_KEPT.sub("", before[-40:]).rstrip()) is None


_KEPT = re.compile(
    r"(?i)(?:passport|passport|licen[cs]e|social security|insurance|id|identity|tax|pan|nhs)(?= ?(?:number|no|nr|"
    r"num|#|is|:|card)?)"
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
    short = re.search(r"[/-]([3-9]\d)$", value)
    return (
        (1920 <= int(year[0]) <= 2012 if year else short is not None)
        and _is_birth(value, before)
        and not is_elsewhere(before[-40:])
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
    rf"(?i:{_MONTH_NAMES})[ .-]{{1,2}}(?:the )?{_DAY}(?:st|nd|rd|th)?[ ,.-]{{1,2}}(?:{_YEAR}|['’]\d\d)"
)
_NUMBER_WORD = (
    r"(?:oh|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|"
    r"nine)teen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)"
)
_YEAR_WORDS = rf"(?i:{_NUMBER_WORD})(?:[ -](?:and )?(?i:{_NUMBER_WORD})){{0,4}}"
_SPELLED_DATE = (
    rf"(?i:the )?{_SPELLED_DAY} (?:of )?(?:(?i:{_MONTH_NAMES})|(?:the )?{_SPELLED_DAY}),? {_YEAR_WORDS}|"
    rf"(?i:nineteen|two thousand|twenty)(?:[ -](?:and )?(?i:{_NUMBER_WORD})){{0,3}},? (?i:on )?(?i:the )"
    rf"{_SPELLED_DAY} (?:of )?(?i:{_MONTH_NAMES})|"
    rf"(?i:{_MONTH_NAMES}) (?:the )?{_SPELLED_DAY},? {_YEAR_WORDS}"
)
_ORDINAL_HINT = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|teenth|tenth|twelfth|tieth|eleventh"
_PLANNED = re.compile(
    r"(?i)\b(?:appointment|termin\w*|rendez-vous|cita|appuntamento|afspraak|liefer\w*|bestell\w*|booked|booking|"
    r"deliver\w*|order\w*|arriv\w+|depart\w+|flight|flying|travel\w*|"
    r"check-?in|check in|expir\w+|"
    r"expires|until|before|meeting|party|purchased|bought|due|scheduled|issued|valid|since|hired|joined|start\w*|"
    r"leav\w+|return\w*|founded|built|released?|manufactured|copyright|established|opened|invoice|statement|"
    r"updated|dated|"
    r"fl(?:y|ies|ew)|wedding|concert|event|sale|pay\w*|charg\w+|made)\b[^\n.?!]*$"
)
IDENTITIES = (
    *_SHAPES,
    cued("ID", _CUES, IDENTIFIER, count_digits(6, 20), script=_SCRIPTS),
    cued("ID", _SHORT_CUES, IDENTIFIER, count_digits(6, 16), exact=True),
    cued("ID", _PASSPORTS, IDENTIFIER, _passport, script="护照|パスポート|여권|護照"),
    *near(
        "ID",
        rf"{_PASSPORTS}|pass ?ports?|psprt|pasport\w{{0,2}}|travel document|travel doc",
        _PASSPORT_NUMBER,
        _is_passport,
    ),
    *near("ID", _DOCUMENTS, _DOCUMENT_NUMBER, _is_document, ahead=80, behind=50),
    # The two lines that machines read.
    Pattern(
        "ID",
        r"<<",
        re.compile(r"(?<![\w<])[A-Z0-9](?=[A-Z0-9<]{19})(?=[A-Z0-9]{0,44}<)[A-Z0-9<]{19,44}(?![\w<])"),
        digits=False,
    ),
    *near("ID", _STRONG_CUES, _ID_NUMBER, _is_identity, behind=25),
    Pattern(
        "ID",
        r"(?i:last (?:four|4))",
        re.compile(
            r"(?<![\w<])(?i:last (?:four|4)(?: digits| numbers)?(?: of)?(?: my| the| your)? (?:ssn|"
            r"social(?: security)?(?: number)?))"
            r"[^\d\n<]{0,20}(?P<value>\d{4})(?![\w-])"
        ),
    ),
    cued("BIRTHDATE", _BORN, _DATE, script="生年月日|出生日期|생년월일|出生"),
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
    *near("BIRTHDATE", _FAMILY, _COMPLETE, _is_relatives, ahead=45, behind=30),
    # A complete date long ago: what else would a customer say?
    Pattern(
        "BIRTHDATE",
        r"19[2-9]\d|200\d|201[0-2]|\d[/-][3-9]\d",
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
