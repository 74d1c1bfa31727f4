"""Tell telephone numbers from other digits: by a plus, the words before, or the numbering plans of countries."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from turnloom.corpus.privacy.pattern import NUMBERING, digits_of

__all__ = ["REGIONS", "is_phone"]

REGIONS = (
    "US GB DE FR ES IT PT NL BE CH AT IE SE NO DK FI PL CZ HU RO GR TR RU UA IN CN JP KR BR MX AR CL CO AU NZ ZA "
    "NG KE SG PH ID VN IL AE SA"
).split()
"""The countries whose national formats are recognised without a word such as "call"."""

_CALLING = re.compile(
    r"(?<![A-Za-z0-9<])(?:call|calling|phone|telephone|tel|mobile|mobil|mob|cell|cellphone|number|fax|ring|text(?: "
    r"me)?|whatsapp|dial|reach|contact|sms|"
    r"landline|line|my no|my num|nummer|contact no|contact num|ph|zap|wapp|whats ?app|txt|dial\w*|ring(?:ing)?|phoned|"
    r"callback|voicemail|handy\w*|festnetz|telefon\w*|r[üu]ckruf|erreich\w*|portable|t[ée]l[ée]phone|"
    r"t[ée]l|appel\w*|rappel\w*|m[óo]vil|"
    r"tel[ée]fono|ll[áa]m\w+|cel|celular|fono|whats|telefone|telem[óo]vel|cellulare|numero|n[úu]mero|mobiel|bel|"
    r"gsm|numer|kom[óo]rka|mobilnummer|"
    r"tlf|puhelin\w*|natel|cep|hp|nomor|điện thoại|τηλ[έε]φωνο|κινητ[όο]|телефон\w*|номер|звоните|позвоните|"
    r"мобильный|טלפון|נייד)(?![A-Za-z0-9])"
    r"|اتصل|جوال|هاتف|फ़ोन|फ़ोन|फोन|मोबाइल|โทร|手机|手機|电话|電話|携帯|연락처|휴대폰|전화",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{4}-\d{4}")


def is_phone(value: str, before: str) -> bool:
    """Whether a run of digits is written like a telephone number, or called one."""
    value = re.split(r"(?i) ?(?:x|ext)", value)[0]
    digits = digits_of(value)
    if _DATE.fullmatch(value.strip()) or not 7 <= len(digits) <= 15:
        return False
    if value.startswith("+"):
        return len(digits) >= 8
    if _CALLING.search(before[-60:]) and not NUMBERING.search(re.sub(_CALLING, "", before[-30:]).rstrip()):
        return True
    if NUMBERING.search(before[-30:].rstrip()):
        return False
    if len(digits) == 9 and re.search(r"\b[A-Z]{2} $", before):  # A parcel's, "RR 482 910 336 GB".
        return False
    if value.startswith("00") and len(digits) >= 10:
        return True
    grouped = re.fullmatch(r"1?[-. ]?\(?\d{3}\)?[-. ]{1,2}\d{3}[-. ]\d{4}", value.strip()) is not None
    national = digits.startswith("0") and 10 <= len(digits) <= 11 and not re.search(r"\d[/,]\d", value)
    return grouped or national or (bool(re.search(r"\d[ .()/-]+\d", value)) and _is_national(value.strip()))


@cache
def _phonenumbers():  # type: ignore[no-untyped-def]
    import phonenumbers

    return phonenumbers


@cache
def _plan(region: str) -> tuple[re.Pattern[str], str]:
    """Return the shape of a country's numbers and what is dialled before them at home: cheaper than to parse."""
    metadata = _phonenumbers().PhoneMetadata.metadata_for_region(region)
    return re.compile(metadata.general_desc.national_number_pattern), metadata.national_prefix or ""


@lru_cache(maxsize=4096)
def _is_national(value: str) -> bool:
    """Whether some country writes a valid number of its own with exactly these groups of digits."""
    library = _phonenumbers()
    groups = re.findall(r"\d+", value)
    if len(groups) < 2:
        return False
    digits = digits_of(value)
    for region in REGIONS:
        pattern, prefix = _plan(region)
        if not pattern.fullmatch(digits) and not pattern.fullmatch(digits.removeprefix(prefix)):
            continue
        try:
            number = library.parse(value, region)
        except library.NumberParseException:
            continue
        if library.is_valid_number_for_region(number, region):
            national = library.format_number(number, library.PhoneNumberFormat.NATIONAL)
            if re.findall(r"\d+", national) == groups:
                return True
    return False
