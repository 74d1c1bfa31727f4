"""One-time codes, PINs and the codes on cards."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import NUMBERING, NUMERAL, SPELLED_HINT, Pattern, asked, cued, is_elsewhere, near

__all__ = ["CODES"]

_OTHER_CODES = re.compile(
    r"(?:product|promo|promotion|error|exit|zip|area|postal|post|booking|discount|voucher|coupon|gift|country|sort|"
    r"swift|dress|qr|bar|item|source|"
    r"status|referral|tax|reservation|airport|fare|colou?r|reason|http|response|store|branch|bank|department|"
    r"supplier|customer|vendor|order|model|"
    r"part|stock|article|tracking|dialling|dialing|fault|flight|airline|record|offer|campaign|shipping|iata|ticket)"
    r"[ -]?codes?\b[^\n]*$",
    re.IGNORECASE,
)
_CODE_KINDS = (
    r"verification|one[- ]time|otp|2fa|two[- ]factor|mfa|sms|text|log-?in|sign-?in|security|authenticator|auth|"
    r"authentication|access|activation|"
    r"confirmation|unlock|reset|approval|transaction|payment|3-?d ?s(?:ecure)?|3ds|voice|email|e-mail"
)
_CODE_CUES = (
    rf"(?:(?:{_CODE_KINDS})[ -])?(?:pass)?code|(?:{_CODE_KINDS})[ -](?:pin|password|number)|otp|2fa|m?tan|"
    rf"authenticator|"
    r"c[oó]digo(?: de (?:verificaci[oó]n|seguridad|segurança|verificação|acceso))?|code de (?:s[ée]curit[ée]|"
    r"v[ée]rification|validation)|code reçu|"
    r"(?:best[äa]tigungs|sicherheits|verifizierungs|freischalt|verificatie|einmal)-?code|codice (?:di verifica|otp)"
    r"|kod weryfikacyjny|код"
)
_CODE = r"\d{3}[ -]\d{3,4}|\d{4}[ -]\d{2,4}|\d{2}[ -]\d{2}[ -]\d{2}|\d{4,8}|[A-Z0-9]{3}-[A-Z0-9]{3}(?!-)"


def _is_code(value: str, before: str) -> bool:
    if _OTHER_CODES.search(before):
        return False
    said = re.search(r"(?i)(?:c[oó]digo|code|код)(?P<gap>[^\n]*)$", before)
    plain = (
        said is not None
        and re.search(
            rf"(?i)(?:{_CODE_KINDS}|your|my|pass|code de|reçu)[ -]?(?:code|c[oó]digo)"
            rf"[^\n]*$",
            before,
        )
        is None
    )
    told = said is None or re.search(r"(?i)\b(?:is|es|est|ist|lautet|sms|text)\b|:", said["gap"]) is not None
    return (told or not plain) and any(map(str.isdigit, value))


# Words that make digits near them a code. Weaker ones need six digits, as most codes have.
_SENT = (
    rf"(?:{_CODE_KINDS})[ -]?(?:pass)?codes?|codes?|cod|pass ?codes?|otps?|one[- ]time|2fa|mfa|verif\w+|"
    rf"authenticator|authy|(?:grey|gray|little|security|hardware|bank|broker|digital) token|token (?:shows|displays|"
    rf"says|reads)|"
    rf"dongle|key ?fob|fob|card reader|pinsentry|digipass|robot|robo ?call|automated (?:call|voice|message)|voice "
    rf"(?:call|confirmation)|"
    r"tan|pin(?:s|'s)?(?: ?code| number)?|(?:4|5|6|7|8|four|five|six|seven|eight)[- ]?(?:digits?|numbers?)|"
    r"c[oó]digos?|clave|code de|codice|kode?n?|kod|код|(?:best[äa]tigungs|sicherheits|verifizierungs|freischalt|"
    r"verificatie|"
    r"einmal|zugangs|anmelde)-?codes?"
)
_TEXTED = (
    r"sms'?(?:d|ed)?|(?:texted|messaged|txted|txtd|emailed|mailed)(?: me| us| you)?|"
    r"(?:the|a|your|ur|that|this|by|via|got|new|last|my|in) (?:text|txt|sms|msg|text message|push)(?: message)?|"
    r"text(?: message)? (?:says|said|reads|with|was|is)"
)
_WEAK = (
    rf"{_TEXTED}|sent me|message|right one|first it was|sent me|got|get|received|recieved|came|comes|says|said|"
    rf"shows|reads|try|tried|typed|entered|entering|put in|putting|type|"
    r"enter|expired|invalid|timed out|too late|read out|call(?:ed)? (?:said|read)|reply with|read|screen|app|phone|"
    r"login|log(?:ged|ging)? in|sign(?:ed|ing)? in|verify|number|numbers|digits"
)
_SPELLED = rf"(?i:{NUMERAL})(?:[ ,.-]{{1,3}}(?i:{NUMERAL})){{3,7}}"
_DIGITS = (
    r"[A-Z]-\d{4,8}|\d{3}[ .-]\d{3,4}|\d{4}[ -]\d{4}|\d{2}(?P<by>[ .-])\d{2}(?P=by)\d{2}|"
    r"\d(?P<gap>[ .-]|, ?)\d(?:(?P=gap)\d){2,6}|\d{3}-\d{3}-\d{2,3}|\d{4,8}"
)
_DIGITS_HINT = r"\d{4}|\d{3}[ .-]\d|\d\d[ .-]\d\d|\d[ .,-]+\d[ .,-]+\d"
_MIXED_CODE = (
    r"(?=[A-Za-z-]{0,9}\d)(?=[\d-]{0,9}[A-Za-z])(?:[A-Z0-9]{5,10}|[A-Za-z](?=[a-z0-9]{0,7}[A-Z])[A-Za-z0-9]{4,7}|"
    r"[A-Z0-9]{2,5}(?:-[A-Z0-9]{3,5}){1,3}|"
    r"[a-z0-9]{4,5}(?:-[a-z0-9]{4,5}){1,3})"
)
_SENT_CUE = rf"(?<![A-Za-z])(?i:{_SENT})(?![A-Za-z])"


def _is_sent(value: str, before: str) -> bool:
    """Whether digits near a cue are a code: no year, no price, and no other thing's number."""
    if re.fullmatch(r"(?:19|20)\d\d", value) and not re.search(r"(?i)\b(?:is|was|:|=|says)\s*$", before):
        return False
    if _OTHER_CODES.search(before[-60:]) or _NOT_SENT.search(before):
        return False
    return NUMBERING.search(re.sub(_SENT_CUE, "", before[-30:]).rstrip()) is None


def _is_bare(value: str, before: str) -> bool:
    """Whether six digits that a weak word announces are nothing else's number."""
    return _is_sent(value, before) and not is_elsewhere(before) and NUMBERING.search(before.rstrip()) is None


def _is_mixed(value: str, before: str) -> bool:
    """Whether letters and digits are a code, and no flight's number or coupon."""
    flight = (
        re.fullmatch(r"[A-Z]{2}\d{2,4}", value) is not None and re.search(r"(?i)code(?: is)?[: ]*$", before) is None
    )
    coupon = re.fullmatch(r"[A-Z]{4,10}\d{1,2}", value) is not None
    return not flight and not coupon and any(map(str.isalpha, value)) and _is_sent(value, before)


_UNNAMED = (
    r"(?![^\n]{0,30}\b(?i:orders?|tickets?|flights?|bookings?|invoices?|items?|miles|km|points|refund|ref|tracking)\b)"
)
_NOT_SENT = re.compile(
    r"(?i)(?:[$€£#]|\((?:error )?code|"
    r"\b(?:(?<!put )(?<!putting )(?<!type )(?<!typed )(?<!typing )(?<!key )(?<!keyed )in|since|until|"
    r"from|by|call|dial|at|on|ba|aa|dl|ua|lh|room|page|line|build|version|kb|"
    r"approx|about|over|under)) ?$"
)


_YOURS = r"(?:your|my|the|a|dein|ihr|tu|su|votre|ton|il tuo|o seu)"
CODES = (
    Pattern("SECRET", r"G-\d{6}", re.compile(r"(?<![\w-])G-\d{6}(?![\w-])")),
    cued("SECRET", r"pin(?: ?code| number)?", r"\d{4,8}", script=""),
    cued(
        "SECRET",
        r"(?:screen|phone|tablet|ipad|sim|key|keypad|safe|alarm|gate|door|garage|entry|building|voicemail|lock ?box|"
        r"padlock)"
        r"[ -]?(?:lock|code|pin|combination|combo)(?: code| pin)?|combination|(?:approval|matching|login approval) "
        r"number",
        r"\d{4,8}#?|\d{2,3}(?=[.,;!\n]|$)",
        _is_code,
    ),
    # "To confirm the swap reply with 53612", "it says 8841 on my phone"
    Pattern(
        "SECRET",
        r"(?i:with|says|said|showing|shows|reads|got|there'?s) [^ ]*\d",
        re.compile(
            rf"(?<![\w<])(?i:reply|respond|answer|text back|confirm)(?i: with| by texting)(?: code)? "
            rf"(?P<value>{_CODE})(?![\w-])|"
            rf"(?<![\w<])(?i:says|said|showing|shows|reads|got|there'?s) (?P<shown>\d{{4,8}}) (?i:on|in) (?i:my|the) "
            rf"(?i:phone|mobile|cell|text|sms|app|message|authenticator)\b"
        ),
        _is_sent,
    ),
    cued("SECRET", "PAC|STAC|porting code|transfer code", r"[A-Z]{3} ?\d{6}|\d{6} ?[A-Z]{3}", exact=True),
    # "enter TR88Q1 on the device"
    Pattern(
        "SECRET",
        r"(?i:enter|type|key in|punch in|input|put in) [A-Z0-9-]*\d",
        re.compile(
            rf"(?<![\w<])(?i:enter|type|key in|punch in|input|put in)(?: the code| code)? (?P<value>{_MIXED_CODE})"
            rf"(?= (?i:on|in|into|at|when|to|if|as)\b)"
        ),
        _is_mixed,
    ),
    cued("SECRET", _CODE_CUES, _CODE, _is_code, script="验证码|驗證碼|認証コード|인증번호"),
    Pattern(
        "SECRET",
        rf"\d (?i:is|ist|es|est) (?i:{_YOURS}) ",
        re.compile(
            rf"(?<![\w-])(?:[A-Z]-)?(?P<value>{_CODE}) (?i:is|ist|es|est) (?i:{_YOURS})(?: [\w-]{{1,20}}){{0,3}} "
            rf"(?i:code|passcode|otp|pin|c[oó]digo)\b"
        ),
    ),
    Pattern(
        "SECRET",
        r"[0-9A-Z] (?i:to|um|para|pour|as|by|via|received) ",
        re.compile(
            rf"(?<![\w-])(?P<value>{_CODE}) (?:(?i:to|um) (?i:verify|confirm|log ?in|sign ?in|complete|"
            rf"authenticate|unlock)\b|"
            r"as the (?:one-time |verification |security )?(?:code|passcode)|(?:by|via) (?:sms|SMS|text)\b|"
            r"received but)"
        ),
    ),
    *near("SECRET", _SENT, rf"(?<!\d )(?:{_DIGITS})(?! ?\d| [A-D]\b)", _is_sent, ahead=80, also=_DIGITS_HINT),
    *near(
        "SECRET",
        rf"{_TEXTED}|(?:came|sent|got|received|arrived|come) (?:by|via|in|through|as) (?:a |the |an )?(?:text|sms|"
        rf"email|post|push)",
        rf"(?<!\d )(?:{_DIGITS})(?! ?\d| [A-D]\b)",
        _is_sent,
        ahead=80,
        also=_DIGITS_HINT,
    ),
    # The number to match: "approve or type 58".
    Pattern(
        "SECRET",
        r"(?i:push|approve|prompt|match|notification)",
        re.compile(
            r"(?<![\w<])(?i:push|approve|prompt|match(?:ing)?|notification)\b[^\n<]{0,40}?\b(?i:type|tap|enter|"
            r"press|select|choose|shows?|says|number|is) "
            r"(?P<value>\d{2,3})(?![\w%]|[.,:/-]\d| (?:to|for)\b)"
        ),
        _is_sent,
    ),
    # Another one: "that was the old one. 615 780".
    Pattern(
        "SECRET",
        r"<SECRET>[^<]*(?i:old|wrong|new|another|next|try|again|second|different)",
        re.compile(
            r"<SECRET>[^<]{0,120}?\b(?i:old one|wrong one|new one|another(?: one)?|next one|try|again|second one|"
            r"different)\b"
            r"[^<\d]{0,20}(?P<value>\d{3}[ -]\d{3}|\d{4,8})(?![\w%]|[.,:/-]\d)"
        ),
        _is_sent,
    ),
    *near(
        "SECRET",
        _WEAK,
        rf"(?<!\d )(?:\d{{6}}|(?!7\d7)\d{{3}}[ -]\d{{3}})(?![ -]?\d| [A-D]\b){_UNNAMED}",
        _is_bare,
        ahead=80,
        also=_DIGITS_HINT,
    ),
    *(
        Pattern(
            "SECRET",
            hint,
            re.compile(
                rf"(?<![\w<])(?:(?i:(?:ok|yes|yep|yeah|right|there|hang on)[ ,.]{{1,3}})?(?i:got it|here it is|"
                rf"here you go|here goes|it says|it is|its|it's)"
                rf"[ ,:.]{{1,3}}(?:(?i:um|uh|er)[ ,]{{1,2}})?|(?i:enter|type|"
                rf"use) )(?P<value>{value})(?=\s*(?:[.!?]?\s*$|\n| (?i:to (?:verify|confirm|log|sign|approve|"
                rf"finish|continue|complete|authori[sz]e|unlock|activate|access)|if) ))"
            ),
            _is_bare,
            digits=digits,
        )
        for hint, value, digits in (
            (r"(?i:got it|it says|it is|its|it's|here|enter|type|use)[ ,:.]", r"\d{4,8}", True),
            (SPELLED_HINT, _SPELLED, False),
        )
    ),
    *near("SECRET", _SENT, _SPELLED, _is_sent, ahead=80, digits=False, hint=SPELLED_HINT),
    # Six single digits, spelled out: nobody counts like this.
    Pattern(
        "SECRET",
        SPELLED_HINT,
        re.compile(rf"(?<![\w<])(?P<value>(?i:{NUMERAL})(?:[ ,.-]{{1,3}}(?i:{NUMERAL}))+)(?!\w)"),
        lambda value, before: (
            len(re.findall(r"\w+", value)) == 6
            and not value.lower().startswith("one")
            and not is_elsewhere(before)
            and re.search(r"(?i)\b(?:for|as in|like) \w+[ ,]*$", before) is None
        ),
        digits=False,
    ),
    Pattern(
        "SECRET",
        r"<SECRET>,? (?:so|that'?s|thats|i mean|or|no|sorry|then|and|again|as in)",
        re.compile(
            r"<SECRET>,? (?:so|that'?s|thats|i mean|or|no|sorry|then|and|again|as in)[ "
            r",]{1,2}(?P<value>\d{4,8})(?![\w%]|[.,:/-]\d)"
        ),
        _is_sent,
    ),
    asked(
        "SECRET",
        rf"{_SENT}|what (?:does|did) (?:it|the (?:text|sms|message|app))|read (?:it|that|them|me)|{_TEXTED}",
        rf"(?:{_DIGITS}|{_SPELLED}|{_MIXED_CODE})(?![\w@]|[.,:/-]\w| ?[$€£%])",
        _is_sent,
    ),
    *near(
        "SECRET",
        r"(?:enrol+ment|registration|sign-?up|link(?:ing)?|pairing|set-?up|invit\w+|letter|verification|one[- ]time|"
        r"otp|2fa|two[- ]factor|mfa|sms|log-?in|sign-?in|authenticat\w+|backup|"
        r"recovery|access|"
        r"activation|security|reset|unlock) (?:codes?|passcodes?|keys?)|otps?|pass ?codes?|(?:with|the|a|this|my|"
        r"your|ur) code|"
        r"enter (?:this|it|the)|text(?:ed)?|sms",
        _MIXED_CODE,
        _is_mixed,
        ahead=70,
    ),
)
