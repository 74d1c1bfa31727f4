"""What a pattern of personal data is, and how to write one that a word before it announces."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = [
    "BEFORE",
    "IDENTIFIER",
    "NUMBERING",
    "NUMERAL",
    "SPELLED_HINT",
    "Pattern",
    "asked",
    "count_digits",
    "cued",
    "digits_of",
    "hint_of",
    "is_elsewhere",
    "near",
]

BEFORE = 90
"""How many characters before a match its check gets: enough for a question and the start of its answer."""


def _accept(value: str, before: str) -> bool:
    return True


@dataclass(frozen=True)
class Pattern:
    """One type of personal data: a quick look, its shape, and a check of each match.

    Args:
        kind: The placeholder without its brackets.
        hint: A regular expression of RE2 (no look-around) that matches every text in which the shape could. It runs
            over whole columns, and decides which texts are searched. Counted repetitions make it slow.
        shape: What to search for. Its group `value`, or all of it, is replaced. It must match in linear time on any
            text: it starts only at the start of a run of its characters, is bounded, or consumes the run.
        check: Takes the value and the `BEFORE` characters before it.
        digits: Whether every text with a match has a digit. Most texts have none, and are done with at once.
        also: A second hint, of those texts that the first one leaves.
        keep: Takes the same as `check`: whether a match stays, and no other pattern looks into it.
    """

    kind: str
    hint: str
    shape: re.Pattern[str]
    check: Callable[[str, str], bool] = _accept
    digits: bool = True
    also: str = ""
    keep: Callable[[str, str], bool] | None = None


def digits_of(text: str) -> str:
    """Return the digits of a text."""
    return re.sub(r"\D", "", text)


def count_digits(least: int, most: int = 40) -> Callable[[str, str], bool]:
    """Make a check for how many digits a value has."""
    return lambda value, before: least <= sum(map(str.isdigit, value)) <= most


# A number that identifies: groups of digits and letters, each with a digit, and perhaps a prefix and a check letter.
_GROUP = r"[A-Za-z]{0,6}\d[A-Za-z0-9]{0,20}"
IDENTIFIER = rf"(?:[A-Za-z]{{1,3}}[ -])?{_GROUP}(?:[ ./-]{{1,2}}{_GROUP}){{0,7}}(?:[ -][A-Za-z]\b|\([0-9A]\))?"

_LOOKAROUND = re.compile(r"\(\?<?[!=](?:[^()]|\([^()]*\))*\)")


def hint_of(cues: str) -> str:
    """Return cues without their look-arounds, which RE2 has not: they match a little more."""
    return _LOOKAROUND.sub("", cues)


_SEPARATOR = r"[\s:：=＝.#\"'“”„«»()\[\]*’>-]"
_WORDS = (
    r"(?:is|was|are|be|it's|its|it|ist|lautet|war|es|est|era|to|too|no|nr|nro|num|number|numbers|nummer|numer|"
    r"num[eé]ro|n[uú]mero|n|code|"
    r"card|details|should|reads?|has|the|of|my|our|your|for|numaram|numarası|now|new|old|please|este|är|er|jest|on|"
    r"adalah|saya|meu|mi|ma|mon|"
    r"mijn|mein|meine|moj|ul|id|from|text|message|shows|I|use|used|set|got|get|received|by|par|por|per|via|sms|me|"
    r"says|full|s|in|as|goes|again|still|one|would|sent|"
    r"this|le|la|el|il|der|die|das|num|kod|e|é|è|to|мой|моя|number's|you|sent|se|at|with|full|and|app|phone|right)\b"
    r"|[°º]|是|为|為|号码?|號|字號|は|の|는|은"
)


def cued(
    kind: str,
    cues: str,
    value: str,
    check: Callable[[str, str], bool] = _accept,
    *,
    script: str = "",
    exact: bool = False,
    digits: bool = True,
) -> Pattern:
    """Make a pattern of a value after a cue and a few words such as "number is".

    Args:
        kind: The placeholder without its brackets.
        cues: Alternatives, in either case; whole words.
        value: The value's shape.
        check: Takes the value and the characters before it.
        script: Further cues, in scripts that don't put spaces between words.
        exact: Whether the case of the cues counts.
        digits: Whether every value has a digit.
    """
    anycase = f"(?:{cues})" if exact else f"(?i:{cues})"
    cue = rf"(?<![A-Za-z0-9_<])(?=\S){anycase}\b"
    hint = hint_of(rf"(?:^|[^A-Za-z0-9_<]){anycase}(?:[^A-Za-z]|$)")
    if script:
        cue, hint = rf"(?:{cue}|{script})", rf"(?:{hint}|{script})"
    gap = rf"(?:{_SEPARATOR}{{0,4}}(?i:{_WORDS})){{0,6}}{_SEPARATOR}{{0,4}}"
    return Pattern(
        kind, hint, re.compile(rf"{cue}{gap}(?<![A-Za-z0-9])(?P<value>{value})(?![A-Za-z0-9])"), check, digits
    )


NUMBERING = re.compile(
    r"\b(?:order|ref|reference|ticket|booking|confirmation|tracking|invoice|case|id|isbn|ean|upc|serial|s/?n|sku|"
    r"part|version|v|kernel|"
    r"release|build|firmware|zip|code|claim|policy|product|item|model|account|pin|batch|lot|license|licence|"
    r"section|sum|total|customer|"
    r"reservation|confirm|conf|member|employee|student|passport|flight|seat|room|loyalty|insurance|meter|reading|"
    r"rma|po|purchase|contract|transaction|parcel|"
    r"patch|shipment|tag|article|stand|z[äa]hlerstand|z[äa]hlernummer|rechnung|bestellung|auftrag|balance|dhl|ups|"
    r"fedex|"
    r"usps|pnr|awb|waybill|consignment|container|bill|docket|voucher|coupon|returns?|authori[sz]ation|gl|pedido|"
    r"encomenda|fa[ct]+ura|fattura|facture|commande|ordine|bestel|bestell|auftrags|rechnungs|zamówienie|sipariş|"
    r"заказ)"
    r"(?:\s*(?:numbers?|no|nr|num|nummer|n[úu]mero|id|code|is|was|says|shows|please|pls|yes|yeah|sure|it'?s|um|uh|"
    r"#|:|\.|\?|,))*\s*#?$|(?:订单|注文|주문)\W{0,2}(?:号码?|番号|번호)?\W{0,2}$",
    re.IGNORECASE,
)
"""What ends before a number that stays: orders, tickets, flights, meters, versions."""


NUMERAL = (
    r"(?:oh?|zero|one|two|three|four|five|six|seven|eight|nine|double|triple|null|eins|zwei|drei|vier|fünf|sechs|"
    r"sieben|acht|neun)"
)
SPELLED_HINT = rf"(?i:{NUMERAL}[ ,.-]+{NUMERAL}[ ,.-]+{NUMERAL})"
"""The hint of digits that are spelled out."""
_UNITS = (
    r"%|°|[$€£]|(?i:k?g|kb|mb|gb|tb|km|cm|mm|ft|lbs?|min(?:ute)?s?|h(?:ou)?rs?|h|days?|weeks?|months?|years?|yrs?|"
    r"times|people|"
    r"[ap]\.?m|dollars?|bucks|euros?|eur|usd|gbp|pounds?|points?|miles|stars?|digits?|char(?:acter)?s?|attempts?|"
    r"tries|calls|emails|users|items|pieces|boxes|units|watts?|volts?|mbps|ms|sec(?:ond)?s?|uhr)\b"
)
_ELSEWHERE = re.compile(
    r"\b(?:order(?:ed|s)?|ticket|flight|invoice|booking|tracking|parcel|package|shipment|meter|reading|version|"
    r"build|firmware|"
    r"error|promo\w*|discount|coupon|gift|voucher|product|item|sku|serial|model|part|case|ref|reference|policy|"
    r"claim|seat|"
    r"gate|room|train|bus|step|(?<!photo )(?<!data )page|chapter|size|amount|balance|total|price|costs?|charged|"
    r"charge|paid|pay|fee|"
    r"refund\w*|"
    r"confirmation|reservation|locator|pnr|record|odometer|mileage|queue|level|score|views|followers|terminal|mcc|"
    r"planning|lot|batch|contract|quote|stock|salary|rate|speed|weigh\w*|odds|patch|colou?r|section|chapter|row|lane|"
    r"points|kb|since|until|rma|po|isbn|barcode|ends?(?! up)|ending|last (?:four|4)|appointment|deliver(?:y|ed)|"
    r"extension|ext|copyright|windows|iphone|galaxy|android|ios|http|status|sold|worth)\b",
    re.IGNORECASE,
)


_SENTENCE = re.compile(r"[^\d\s]\. ")


def is_elsewhere(before: str, cue: str = r"(?!)") -> bool:
    """Whether an order, a price or the like is named in a value's sentence before it, and no cue after that."""
    before = before[max((match.end() for match in _SENTENCE.finditer(before)), default=0) :]
    at = max((match.end() for match in re.finditer(cue, before)), default=0)
    return _ELSEWHERE.search(before, at) is not None


def near(
    kind: str,
    cues: str,
    value: str,
    check: Callable[[str, str], bool] = _accept,
    *,
    ahead: int = 70,
    behind: int = 40,
    digits: bool = True,
    hint: str | None = None,
    harmless: str = r"(?!)",
    also: str = "",
) -> tuple[Pattern, Pattern]:
    """Make patterns of a value some words after a cue, and of one some words before it.

    Args:
        kind: The placeholder without its brackets.
        cues: Alternatives, in either case; whole words.
        value: The value's shape, narrow enough for any words to stand between it and the cue.
        check: Takes the value and the characters before it.
        ahead: How many characters before a value can hold its cue; at most `BEFORE`.
        behind: How many characters may stand between a value and a cue after it, on the same line.
        digits: Whether every value has a digit.
        hint: What texts with such a value match; by default, the cues.
        also: What texts with such a value match, too.
        harmless: Words that don't say here that a value is something else's.
    """
    cue = re.compile(rf"(?<![A-Za-z0-9_<])(?=[^\W\d]|\d[ -]?[A-Za-z])(?i:{cues})(?![A-Za-z0-9_])")
    hint = hint or hint_of(rf"(?:^|[^A-Za-z0-9_<])(?i:{cues})(?:[^A-Za-z0-9_]|$)")
    alone = rf"(?<![\w$€£/@&#!%^~])(?<!\d[:.,-])(?<![A-Za-z]-)(?P<value>{value})(?![\w@]|[.,:/-]\d| ?(?:{_UNITS}))"
    between = rf"(?:(?!(?i:{_ELSEWHERE.pattern}))[^\n<]){{1,{behind}}}?"

    innocent = re.compile(harmless, re.IGNORECASE)

    def announced(value: str, before: str) -> bool:
        before = innocent.sub(" ", before)
        said = cue.search(before[-ahead:]) is not None and not is_elsewhere(before[-30:], cue.pattern)
        return said and check(value, before)

    def followed(value: str, before: str) -> bool:
        return not is_elsewhere(before[-20:], cue.pattern) and check(value, before)

    return (
        Pattern(kind, hint, re.compile(alone), announced, digits, also),
        Pattern(kind, hint, re.compile(rf"(?={alone})(?P=value)(?={between}{cue.pattern})"), followed, digits, also),
    )


_LABEL = r"[A-Za-z]{1,15}(?: (?:\d|desk|line|team|support|user))? ?: ?"
_HEDGE = (
    r"(?:(?:u+h*m+|u+h+|er+m?|hm+|ok(?:ay)?|so|well|yes|yea+h?|yh|ya|yep|yup|sure|hi|hello|oh|ah|it is|it'?s|its|"
    r"thats?|that's|"
    r"(?:that|it)(?: would|'d) be|it was|i think|i believe|let me see|let's see|hang on|hold on|one (?:sec(?:ond)?|"
    r"moment)|"
    r"here (?:you go|it is|goes)|should be|of course|right|certainly|absolutely|alright|i(?:'ve)? (?:use|used|put|"
    r"typed|"
    r"enter|entered|type|picked|chose|always use)|just|no problem|no worries|thanks|this is|sorry|please|my name is|"
    r"the (?:name|number|code|password)(?: is|'s)|i'?m|i am|mine is|mine's|name is)\b[ ,.:…-]{1,4}){0,4}[\"'“*]?"
)
ANSWERS = r"(?:^|[\n.?!:…] ?)[A-Za-z]{1,15}(?: (?:\d|desk|line|team|support|user))? ?: ?[^ ]"
"""The hint of `asked`: a line that starts with who speaks."""


def asked(
    kind: str, cues: str, value: str, check: Callable[[str, str], bool] = _accept, *, digits: bool = False
) -> Pattern:
    """Make a pattern of what the next speaker answers to a question: "agent: your name? customer: oh, it's Ann".

    Args:
        kind: The placeholder without its brackets.
        cues: What is asked for; alternatives, in either case; whole words.
        value: The value's shape; it must end where the answer or its first sentence does.
        check: Takes the value and the characters before it.
        digits: Whether every value has a digit.
    """
    agreed = rf"(?:{_LABEL}[a-z' ]{{2,25}}[.,!]?\s{{1,2}})?"
    shape = (
        rf"(?<![A-Za-z0-9_<])(?i:{cues})(?![A-Za-z0-9_])[^\n<]{{0,70}}?[?.!:…]?\s{{1,2}}"
        rf"{agreed}(?i:{_LABEL}{_HEDGE})(?P<value>{value})"
    )
    return Pattern(kind, ANSWERS, re.compile(shape), check, digits)
