"""Numbers that states give people: by their check digits, or the words near them."""

from __future__ import annotations

import re
from collections.abc import Callable

from turnloom.corpus.privacy import checksums
from turnloom.corpus.privacy.pattern import (
    IDENTIFIER,
    NUMBERING,
    NUMERAL,
    Pattern,
    count_digits,
    cued,
    is_elsewhere,
    near,
)

__all__ = ["NATIONAL_IDS", "NATIONS", "is_identity"]

_CUES = (
    r"s\.?s\.?n|social security|social insurance|social|national insurance|nino|nhs|aadh?a+r|pan(?: card| no| "
    r"number)|cpf|cnpj|tfn|"
    r"tax (?:file|id)|tax identification|s[ée]cu(?:rit[ée] sociale)?|dni|nie|nif|codice fiscale|c\.f|"
    r"steuer-?id(?:entifikations)?-?(?:nr|nummer)?|"
    r"steuernummer|idnr|bsn|burgerservicenummer|pesel|(?:person|f[øo]dsels|cpr-?|cpr|rijksregister|versicherungs|"
    r"sozialversicherungs|"
    r"ahv-?|avs-?|svnr-?|identifikations)(?:nummer|nr)|hetu|henkil[öo]tunnus|cpr|registre national|cnp|rodn[ée] "
    r"č[íi]slo|curp|cui[lt]|rut|"
    r"c[ée]dula(?: de (?:ciudadan[íi]a|identidad))?|kimlik|id (?:number|card|no)|(?:sa|rsa|thai|hk|national|my|"
    r"emirates|voter|citizen'?s?|personal|civil|government|state) id|"
    r"identity (?:card|number)|carn[eé] de identidad|снилс|инн|ahv|avs|ppsn?|nric|hkid|cnic|teudat zehut|ird|oib|"
    r"егн|egn|amka|αμκα|svnr|"
    r"n[úu]mero fiscal|fiscal (?:id|no)|kennitala|(?:jmbg|emšo|egn|amka|afm|nik|ktp|ic|bvn|sss|nid|taj|tin|"
    r"tc) (?:number|"
    r"no|nr)|iqama|kra pin|omang|umid|philsys|ghana card|huduma|ad[óo]azonos[íi]t[óo]|"
    r"mykad|isikukood|asmens kodas|matricule|(?:driver'?s?|driving) licen[cs]e|ת\.ז"
)
_SHORT_CUES = "TIN|BVN|NID|KTP|TAJ|AFM|EGN|JMBG|SSS|NI|SIN|FIN|PAN|CF|RC|RČ|NIK|NIN|NIR|CIF|NIP|RUN|CNI|SV"
_SCRIPTS = '身份证|身分證|マイナンバー|주민등록번호|주민번호|เลขบัตรประชาชน|ת"ז'


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

NATIONS = (
    r"(?:american|us|u\.s\.|usa|british|uk|english|irish|canadian|australian|aussie|german|french|italian|spanish|"
    r"portuguese|dutch|belgian|swiss|austrian|polish|czech|slovak|hungarian|romanian|bulgarian|danish|swedish|"
    r"norwegian|finnish|icelandic|estonian|latvian|lithuanian|croatian|serbian|slovenian|greek|turkish|russian|"
    r"ukrainian|indian|chinese|japanese|korean|brazilian|mexican|argentin\w+|chilean|colombian|peruvian|nigerian|"
    r"kenyan|ghanaian|south african|singapore\w*|filipino|philippine|indonesian|vietnamese|thai|malaysian|israeli|"
    r"emirati|saudi|egyptian|moroccan|pakistani|bangladeshi|sri lankan|new zealand|kiwi|nz|eu)"
)
_LOYALTY = (
    r"(?:frequent[ -]?fl[iy]er|loyalty|rewards?|bonus|club|sky ?miles|a?advantage|mileage ?plus|avios|member(?:ship)?)"
    r"(?: (?:program(?:me)?|club|card|member(?:ship)?|account)){0,2} ?(?:numbers?|no\b\.?|nr\b\.?|num\b|id|#)"
)
_STRONG_CUES = (
    r"s\.?s\.?n|social security|social(?: number| no| is| insurance)?|soc|sin|national insurance|nino|"
    r"ni (?:number|no)|nhs(?: number| no)?|"
    r"a+dh?a+r\w*|pan(?: card| no| number)?|cpf|tfn|itin|ein|tax (?:file|id|number|no|code|identification)\w*|"
    r"sécu|securit[ée] sociale|"
    r"dni|nie|nif|codice fiscale|steuer-?(?:id|nummer|identifikationsnummer)|bsn|burgerservicenummer|pesel|"
    r"personnummer|personal (?:identity |identification )?(?:number|no|code)|person number|birth number|"
    r"tax ?payer'?s? ?(?:id|n)\w*|contribuinte|idnr|"
    r"citizen'?s?(?:ship)? (?:number|no|card|id|service number)|(?:fiscal|tax) (?:code|number|no|reference)|utr|"
    r"civil id|"
    r"identity code|identification number|green ?card|(?:my|the|his|her|driver'?s?|driving) licen[cs]e|rica|"
    rf"{NATIONS} (?:id|social|tax|personal|birth|identity|national|fiscal|health)\b(?: \w+)?|"
    r"national (?:id|identity|identification)(?: card)?(?: number| no)?|id (?:card|number|no)|identity (?:card|"
    r"number|no)|curp|rut|"
    r"c[ée]dula|driver'?s? licen[cs]e|driving licen[cs]e|medicare|licen[cs]e number|nric|(?:ssn|sin|tax|emirates|"
    r"voter|my|sa|rsa|govt|government|personal|citizen'?s?|civil|state|photo) id|"
    r"(?:person|f[øo]dsels|cpr|rijksregister|versicherungs|sozialversicherungs|ahv|svnr|identifikations)-?(?:nummer|"
    r"nr)|"
    r"carte vitale|vitale|insurance (?:number|no|nr)|(?:foreigner|alien|resident|residence|permit)'?s? (?:number|"
    r"no|card|id)|identity|hetu|cnp|ahv|avs|oib|ppsn?|cui[lt]"
)
_ID_NUMBER = (
    r"\d(?: \d\d){3}(?: \d{3}){2}(?: \d\d)?|\d{17} ?[\dXx]|\d{3}[ .-]\d{2}[ .-]\d{4}|"
    r"[A-Z]{1,6} ?\d(?:[ .-]?\d){5,13}(?: ?[A-Z]\b)?|\d(?:[ ./-]?\d){7,13}(?:[ -]?[A-Z]\b)?|"
    r"\d{6} \d{5}|\d{4} \d{6}|\d\d(?: \d{3}){3}|[A-Z]{2,6} \d{6} [A-Z0-9]{2,5}|[A-Z]{5}\d{6}[A-Z0-9]{2,5}|"
    r"(?:[A-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D])|(?=[A-Z]*\d)(?=[0-9]*[A-Z])[A-Z0-9]{8,18}|"
    r"(?i:[a-z]{2}(?: ?\d\d){3} ?[a-d])|"
    r"\d(?: \d\d){3}(?: \d{3}){2} \d\d|\d{7} ?[A-W][A-IW]?|(?i:[a-z]{5}\d{4}[a-z])|\d{8}[a-z]|[xyz]\d{7}[a-z]"
)


_SPOKEN_LETTER = (
    r"(?:alpha|alfa|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliett?|kilo|lima|mike|november|oscar|papa|"
    r"quebec|romeo|sierra|tango|uniform|victor|whiske?y|x-?ray|yankee|zulu)"
)


def is_identity(value: str, before: str) -> bool:
    """Whether a value has an id's digits, and no order, ticket or the like is named before it."""
    return count_digits(3, 16)(value, before) and NUMBERING.search(_KEPT.sub("", before[-40:]).rstrip()) is None


_KEPT = re.compile(
    r"(?i)(?:passport|passport|licen[cs]e|social security|insurance|id|identity|tax|pan|nhs)(?= ?(?:number|no|nr|"
    r"num|#|is|:|card)?)"
)


NATIONAL_IDS = (
    *_SHAPES,
    cued("ID", _CUES, IDENTIFIER, count_digits(6, 20), script=_SCRIPTS),
    cued("ID", _SHORT_CUES, IDENTIFIER, count_digits(6, 16), exact=True),
    cued("ID", _LOYALTY, IDENTIFIER, count_digits(6, 16)),
    *near("ID", _STRONG_CUES, _ID_NUMBER, is_identity, behind=25, harmless=r"\b(?:contract|policy|rate|salary)\b"),
    # Spoken, as on the telephone: "tango kilo four one nine oh".
    Pattern(
        "ID",
        rf"(?i:{_SPOKEN_LETTER}) (?i:{_SPOKEN_LETTER}|{NUMERAL})[ ,-]",
        re.compile(
            rf"(?<![\w<])(?P<value>(?i:{_SPOKEN_LETTER})(?:[ ,-]{{1,2}}(?i:{_SPOKEN_LETTER}|{NUMERAL}|"
            rf"\d)){{5,16}})(?!\w)"
        ),
        lambda value, before: (
            len(re.findall(rf"(?i)\b(?:{NUMERAL}|\d)\b", value)) >= 4 and not is_elsewhere(before[-60:])
        ),
        digits=False,
    ),
    Pattern(
        "ID",
        r"(?i:last (?:four|4)|ends|ending)",
        re.compile(
            r"(?<![\w<])(?i:last (?:four|4)(?: digits| numbers)?(?: of)?(?: my| the| your)? (?:ssn|"
            r"social(?: security)?(?: number)?)|(?:ssn|social(?: security)?(?: (?:number|no\.?))?) end(?:s|ing)(?: "
            r"in| with)?)"
            r"[^\d\n<]{0,20}(?P<value>\d{4})(?![\w-])"
        ),
    ),
)
