"""Numbers of passports and other travel documents."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.national_ids import NATIONS, is_identity
from turnloom.corpus.privacy.pattern import IDENTIFIER, NUMBERING, Pattern, cued, is_elsewhere, near

__all__ = ["PASSPORTS"]

_PASSPORTS = (
    r"(?:reise)?pas(?:s|z)?port\w{0,8}|reisepass\w{0,8}|pasaporte|passeport|passaporto|passaporte|paspoort\w{0,8}|"
    r"паспорт\w{0,3}|pass-?(?:nummer|nr|numer|nummeret|no)"
)
_PASSPORT_NUMBER = (
    r"[A-Z]{1,3} ?\d{6,9}|(?=[A-Z]{0,7}\d)[A-Z0-9]{7,10}|(?=[a-z]{0,4}\d)[a-z0-9]{8,9}|"
    r"\d{2,3} \d{2,3} \d{2,4}|[a-z]{1,2}\d{6,8}|\d{2} ?[A-Z]{2} ?\d{5}|[A-Z]{2} \d{3} \d{3,4}"
)
_DOCUMENTS = (
    r"pp|ppt|pspt|apis|pax(?: ?\d)?|advance passenger\w*(?: info\w*)?|travell?ers?(?: ?\d)?|doc(?:ument)?(?: type|"
    r" number| no| nr| num)?|"
    r"documents?|manifest|photo page|data page|visas?|esta|immigration|border|embassy|consulate|citizen\w*|nationality|"
    r"travel\w*|check-?in|boarding|mismatch|renew\w*|issued|stolen|police|machine|mine (?:says|reads)|gate staff|"
    r"letter [a-z]|top right|staff|machine.readable|"
    r"id|identity|licen[cs]e|permit|residence|proof|"
    rf"(?:{NATIONS}|old|new|other|expired)(?: one| passport| document| federation| book)"
)
_DOCUMENT_NUMBER = (
    r"(?<![\d-] )(?:[A-Z]{1,2} ?\d{7,8}|[A-Z]{2,3} ?\d{6}|[A-Z]{2} \d{3} \d{4}|[A-Z]\d{8}[A-Z]?|[A-Z]\d{7}[A-Z]|"
    r"(?=[A-Z]{0,4}\d)(?=\d{0,4}[A-Z])[A-Z0-9]{9}|\d{2} \d{7})(?! \d)"
)


def _passport(value: str, before: str) -> bool:
    return sum(map(str.isdigit, value)) >= (3 if re.fullmatch(r"[A-Z0-9]{8,10}", value) else 5)


def _is_passport(value: str, before: str) -> bool:
    """Whether enough of a value are digits, and nothing else is named before it."""
    return _passport(value, before) and is_identity(value, before)


def _is_document(value: str, before: str) -> bool:
    """Whether a value written like a passport's number follows a word of travel, and no booking's or order's."""
    return _is_passport(value, before) and not is_elsewhere(before) and not is_elsewhere(value)


def _is_unannounced(value: str, before: str) -> bool:
    """Whether no order, ticket or the like is named before a value."""
    return is_identity(value, before) and not is_elsewhere(before) and NUMBERING.search(before.rstrip()) is None


PASSPORTS = (
    cued("ID", _PASSPORTS, IDENTIFIER, _passport, script="护照|パスポート|여권|護照"),
    *near(
        "ID",
        rf"{_PASSPORTS}|pass ?ports?|psprt|pasport\w{{0,2}}|travel document|travel doc",
        _PASSPORT_NUMBER,
        _is_passport,
    ),
    *near("ID", _DOCUMENTS, _DOCUMENT_NUMBER, _is_document, ahead=80, behind=50, also=r"\d{6}|\d{3} \d{3}|[A-Z0-9]{9}"),
    # A letter or two and seven digits where nothing else is spoken of.
    Pattern(
        "ID",
        r"[A-Z]{1,2}\d{7}",
        re.compile(
            r"(?<![\w./#-])(?P<value>(?!KB)[A-Z]{1,2}\d{7})(?![\w-])(?![^\n]{0,40}\b(?i:order|ticket|booking|"
            r"invoice|parcel|"
            r"track\w*|serial|model|part|ref\w*|case|claim|policy|contract|batch|firmware|item|product|error)\b)"
        ),
        _is_unannounced,
    ),
    # Letters and digits one by one, and the second line that machines read: "GL 6 0 4 4 1 7", "5104882397GBR".
    Pattern(
        "ID",
        r"[A-Z](?: \d ?){5}|\d{9}[A-Z]{3}",
        re.compile(r"(?<![\w<-])(?P<value>[A-Z]{1,2}(?: \d){6,8}|\d{9,10}[A-Z]{3}(?:\d{7}[MF]?\d{0,8})?)(?! ?\d|\w)"),
        _is_unannounced,
    ),
    # Another one: "518820346 has to become 561907743".
    Pattern(
        "ID",
        r"(?i:passport)[^<]*<ID>",
        re.compile(
            r"(?i:passport|swiss one|us one|document)[^\n<]{0,60}<ID>[^\d\n<]{1,50}?(?<![\w$€£#])(?P<value>\d{9}|"
            r"[A-Z]{1,2} ?\d{6,8})(?!\w)"
        ),
        _is_document,
    ),
    Pattern(
        "ID",
        r"<ID>,? (?:instead of|not|replaces|rather than)",
        re.compile(
            r"<ID>,? (?:instead of|not|replaces|rather than)(?: the)?(?: old)?(?: one)?,? "
            r"(?P<value>\d{8,9}|[A-Z]{1,2} ?\d{6,8})(?!\w)"
        ),
        _is_document,
    ),
    # The two lines that machines read.
    Pattern(
        "ID",
        r"<<",
        re.compile(r"(?<![\w<])[A-Z0-9](?=[A-Z0-9<]{19})(?=[A-Z0-9]{0,44}<)[A-Z0-9<]{19,44}(?![\w<])"),
        digits=False,
    ),
)
