"""National ids, passports and dates of birth."""

from __future__ import annotations

import re
from collections.abc import Callable

from turnloom.corpus.privacy import checksums
from turnloom.corpus.privacy.pattern import IDENTIFIER, NUMBERING, Pattern, count_digits, cued

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
    return sum(map(str.isdigit, value)) >= 5


_SHAPES = (
    # United States; never 000, 666 or 9xx.
    _identity(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}", r"\d{3}-\d\d-\d{4}", _always),
    _identity(
        r"(?i:[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z])(?: \d\d \d\d \d\d [A-D]|-?\d\d-?\d\d-?\d\d-?(?i:[A-D]))",
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
        r"[A-Z]{4}\d\d(?:0[1-9]|1[0-2])"
        r"[0-3]\d[HMX][A-Z]{5}[A-Z0-9]\d",
        r"[A-Z]{4}\d{6}[HMX]",
        _always,
    ),  # Mexico
    _identity(
        r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5])\d{4}(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d\d{3}[\dXx]",
        r"\d{17}[\dXx]",
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
    _identity(r"\d\d(?:0[1-9]|1[0-2])[0-3]\d \d{4} [01]8\d", r"\d{6} \d{4} [01]8\d", _luhn),  # South Africa
)

_MONTH_NAMES = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|ene|abr|ago|dic|janv|févr|fév|avr|juin|"
    r"juil|août|déc|gen|mag|giu|"
    r"lug|set|ott|fev|out|maj|mrt|mei|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)[^\W\d_]{0,8}\.?"
)
_DATE = (
    rf"{_DAY}[./-]{_MONTH}[./-](?:{_YEAR}|\d\d)|{_MONTH}[./-]{_DAY}[./-](?:{_YEAR}|\d\d)|"
    rf"{_YEAR}[./-]{_MONTH}[./-]{_DAY}|"
    rf"{_DAY}(?:st|nd|rd|th|er|º|\.)?[ -](?:of |de )?(?i:{_MONTH_NAMES})(?:[ ,-]{{1,2}}|\s(?:de|del)\s)(?:{_YEAR}|"
    rf"\d\d\b)|"
    rf"(?i:{_MONTH_NAMES})[ -]{_DAY}(?:st|nd|rd|th)?[ ,-]{{1,2}}(?:{_YEAR}|\d\d\b)|"
    rf"{_YEAR}年{_MONTH}月{_DAY}日?|\d{{8}}|{_YEAR}, (?:on )?the {_DAY}(?:st|nd|rd|th)? (?:of )?(?i:{_MONTH_NAMES})"
)
_BORN = (
    r"d\.?\s?o\.?\s?b|born(?: on| in)?(?: the)?|birth ?day|birth ?date|(?:date|day|year) of birth|geburts(?:datum|"
    r"tag)|geb(?:oren)?(?:\.?-? ?datum)?(?: am)?|"
    r"(?:date de )?naissance(?: est)?(?: le)?|n[ée]e?(?: le)|nacimiento|fecha (?:de )?nac(?:imiento)?|nac[íi](?:do|"
    r"da)?(?: el| em)?|nascita|nat[oa] il|"
    r"nasc(?:imento|ido|ida)(?: em)?|geboorte ?datum|geboren(?: op)?|f[öø]delse ?dato?u?m?|födelsedatum|født|född|"
    r"syntymäaika|"
    r"data urodzenia|urodzon[ya]|(?:дата )?рождения|doğum tarihi"
)

IDENTITIES = (
    *_SHAPES,
    cued("ID", _CUES, IDENTIFIER, count_digits(6, 20), script=_SCRIPTS),
    cued("ID", _SHORT_CUES, IDENTIFIER, count_digits(6, 16), exact=True),
    cued("ID", _PASSPORTS, IDENTIFIER, _passport, script="护照|パスポート|여권|護照"),
    cued("BIRTHDATE", _BORN, _DATE, script="生年月日|出生日期|생년월일|出生"),
)
