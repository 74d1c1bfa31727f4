"""The codes printed on cards."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import NUMERAL, SPELLED_HINT, Pattern, asked, cued, near

__all__ = ["CARD_CODES"]

_CARD_CODES = (
    r"cvv2?(?: code)?|cvc2?|cvn|c[sv]s(?: code)?|csv|csc|cid|cv2|c[. ]v[. ][vc2]\.?|card (?:security|verification) "
    r"\w+|strip|(?:back|front|reverse) of (?:the |my |this |ur |your |"
    r"its )?(?:bank |credit |debit |visa )?"
    r"card|signature (?:strip|panel)|card verification|(?:the )?(?:last )?(?:3|three) (?:digits?|numbers?)|"
    r"(?:security|sec) (?:number|digits?|no)|(?:karten)?pr[üu]f(?:nummer|ziffer|code)|cryptogramme(?: visuel)?|"
    r"(?:four|three|3|4) (?:digits |numbers |ones )?on (?:the|its) (?:front|back)|"
    r"(?:on |at )?the front|little (?:number|digits?|code)|numbers? on (?:the|its|my) (?:back|front)|security code|"
    r"(?:3|"
    r"three|4|four)[- ]?digit (?:security |batch )?code|sec code|(?:by|under|near|next to|after|"
    r"beside) the signature|last three|"
    r"verification (?:number|no|digits)(?: on| of)?|(?:at|on) (?:the|its) back|card'?s? back|"
    r"digits? on (?:the|its|my) (?:back|front|reverse)(?: of (?:the|my) card)?|on the back|code on the (?:back|"
    r"front)|c[oó]digo de seguridad|codice (?:di sicurezza|cvv)"
)
_CARD_CODES = (
    rf"{_CARD_CODES}|(?:security|sec|verification|signature|control|check|safety|card) (?:nr|no\.?|num\w*|value|"
    rf"digits?|code|"
    r"figures?)|(?:code|number|digits?|figures?|nr|no\.?|ones|three|3) (?:is |that'?s |printed |written )?"
    r"(?:on|at|from|off) (?:the |its |my )?(?:back|reverse|rear|flip ?side|other side|strip)|back (?:three|3)|"
    r"card code|"
    r"(?:three|3|four|4) (?:digits? |numbers? |figures? )?(?:on|at|off) the (?:back|reverse|front)"
)
_THREE = rf"(?i:{NUMERAL})(?:[ ,-]{{1,2}}(?i:{NUMERAL})){{2,3}}"


def _is_card_code(value: str, before: str) -> bool:
    return not re.search(r"(?i)[$€£#]\s?$|\b(?:exp|expir\w+|valid)\W{1,3}$", before)


CARD_CODES = (
    cued("SECRET", _CARD_CODES, r"\d{3,4}", _is_card_code),
    *near("SECRET", _CARD_CODES, r"(?<!\d )(?:\d{3,4}|\d(?: \d){2,3})(?! ?\d)", _is_card_code, behind=25),
    *near("SECRET", _CARD_CODES, _THREE, behind=25, digits=False, hint=SPELLED_HINT),
    asked("SECRET", _CARD_CODES, rf"\d{{3,4}}(?!\w|[.,:/-]\w)|{_THREE}(?!\w)"),
    # The date beside the code: "exp 08/29 sec 416".
    Pattern(
        "SECRET",
        r"(?i:exp|valid)[^\n]*\d ?/ ?\d[^\n]*<SECRET>",
        re.compile(
            r"(?<![\w<])(?i:exp(?:iry|ires|iration)?(?: date)?|valid (?:until|thru|to))\b[ :.]{1,3}"
            r"(?P<value>(?:0?[1-9]|1[0-2]) ?/ ?(?:20)?\d\d)(?=[^\n<\d]{1,20}<SECRET>)"
        ),
    ),
    # After the card and its date, or after the date: "<CARD> 04/27 331", "exp 04/27 code 331".
    Pattern(
        "SECRET",
        r"<CARD>[^\n]*<SECRET>",
        re.compile(
            r"<CARD>[^\n<]{1,40}<SECRET>(?:[ ,/|;-]|and|code|sec|security|is){1,6}(?P<value>\d{3,4})(?![\w%.:/-])"
        ),
    ),
    Pattern(
        "SECRET",
        r"(?i:exp|valid)[^\n]*\d/\d",
        re.compile(
            r"(?<![\w<])(?i:exp(?:iry|ires|iration)?(?: date)?|valid (?:until|thru|to))\b[ :.]{1,3}\d{1,2} ?/ ?\d{2,4}"
            r"(?:[ ,/|;-]|and|code|sec|security|is){1,6}(?P<value>\d{3,4})(?![\w%.:/-])"
        ),
    ),
)
