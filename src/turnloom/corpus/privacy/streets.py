"""Street addresses and postcodes, by the words and the order that countries write them in."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import NUMBERING, Pattern, cued

__all__ = ["STREETS"]

_CAP = r"[A-ZÀ-ÖØ-ÞŁŚŻ][\w'’-]{0,30}\.?"
_STREET = (
    r"Street|St|Road|Rd|Avenue|Ave|Av|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Place|Pl|Square|Sq|Terrace|Ter|Way|"
    r"Close|Crescent|Cres|Circle|Cir|"
    r"Parkway|Pkwy|Highway|Hwy|Parade|Pde|Grove|Gardens|Mews|Row|Walk|Hill|Quay|Esplanade|Trail|Trl|Loop|Alley|"
    r"Broadway"
)
_FLAT = r"(?:Apt|Apartment|Flat|Unit|Suite|Ste|Room|Rm)\.? ?#?\d{0,4}[A-Za-z]?(?=[ ,/]|\b)"
_AFTER = r"(?:,? ?(?:(?i:apt|apartment|flat|unit|suite|ste)\.? ?#?[\w-]{1,6}|#\w{1,6}))?"
_COMPASS = r"(?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\.? )?"
_HOUSE = r"(?:\d{1,5}[A-Za-z]?(?:[/-]\d{1,5}[A-Za-z]?)?)"
_NUMBER_AFTER = r"(?:,? (?:n[º°.]? ?)?\d{1,4}(?: ?[a-zA-Z]\b)?(?:[-/]\d{1,4})?)"
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|"
    "OR|PA|RI|SC|SD|TN|TX|UT|VT|VA|"
    "WA|WV|WI|WY|DC"
)
_UNITS = frozenset(
    """
    AM PM KM KG KB MB GB TB HZ MM CM ML KW EU UK US TV HD UR OK ID PC IT IN ON AT TO OF OR MS ET PT CT
    """.split()
)
_UNPLACED = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december i and or the for is was has points miles euros dollars pounds people users
    customers items orders euro dollar
    """.split()
)


def _is_placed(value: str, before: str) -> bool:
    """Whether nothing before says that the digits are an order, a meter or the like."""
    return NUMBERING.search(before[-30:].rstrip(" ,")) is None


def _is_dutch(value: str, before: str) -> bool:
    return value[-2:].upper() not in _UNITS and _is_placed(value, before)


def _is_street(value: str, before: str) -> bool:
    words = re.findall(r"[^\W\d_]+", value.lower())
    return not {"days", "hours", "minutes", "weeks", "months", "years", "miles", "times", "people", "bags"} & set(words)


_HOME = (
    r"(?:live|living|reside|staying) (?:at|in)|(?:ship|send|deliver|mail|post)(?:ed)?(?: it| them| this)? to|"
    r"address(?: is| was|:)|moved to|adresse(?: ist|:)|"
    r"wohne (?:in|im|am)(?: der)?|habite(?: au)?|vivo en|direcci[oó]n(?: es|:)|indirizzo(?: è|:)|abito in|moro "
    r"n[ao]|endere[çc]o(?: é|:)|adres(?: is|:)"
)

STREETS = (
    Pattern(
        "ADDRESS",
        rf"\d[A-Za-z]? (?:[^\s]+ ){{0,5}}(?i:{_STREET})",
        re.compile(
            rf"(?<![\w.,#$€£-])(?:{_FLAT},? )?{_HOUSE},? {_COMPASS}(?:(?:{_CAP}|\d{{1,3}}(?:st|nd|rd|th)|de|la|the|"
            rf"of) ){{1,4}}(?:{_STREET})\b\.?(?: [NSEW]\b)?{_AFTER}"
        ),
        _is_street,
    ),
    # In small letters, as in a chat, only for words that are nothing else.
    Pattern(
        "ADDRESS",
        r"(?i:\d[a-z]? [^\s]+ (?:[^\s]+ )?(?:street|road|avenue|lane|drive|boulevard|terrace|crescent))",
        re.compile(
            rf"(?<![\w.,#$€£-])\d{{1,5}}[A-Za-z]?,? (?!(?i:of|on|in|at|to|for|the|a|is|more|main|different|bis|ter)"
            rf"\b)(?:[A-Za-z'’]{{2,20}} ){{1,2}}(?i:street|road|avenue|lane|drive|boulevard|terrace|crescent)"
            rf"\b{_AFTER}"
        ),
        _is_street,
    ),
    Pattern(
        "ADDRESS",
        r"(?i:p\.? ?o\.? ?box|postfach|apartado|packstation|postnummer)",
        re.compile(
            r"(?<![\w<])(?i:p\.? ?o\.? ?box|postfach|apartado(?: de correos)?|packstation|postnummer)[ "
            r"#:]{1,2}\d{1,9}(?!\w)"
        ),
    ),
    Pattern(
        "ADDRESS",
        r"(?i:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|ufer|straat|gracht|laan|plein|kade|gatan|vägen|"
        r"gata|vej|gade|tie|katu) ?\d",
        re.compile(
            r"(?<![\w-])(?:(?:[A-ZÄÖÜ][\w-]{1,30} ){1,2}(?i:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|"
            r"ufer)|"
            r"[A-ZÄÖÜÅ][\w-]{1,30}(?:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|ufer|straat|gracht|laan|"
            r"plein|kade|gatan|vägen|gata|vej|gade|katu))"
            r" ?\d{1,4}(?: ?[a-z]\b)?(?:[-/]\d{1,4})?(?!\w)"
        ),
    ),
    Pattern(
        "ADDRESS",
        r"(?:Am|An der|An den|Auf der|Im|In der|Zum|Zur) ",
        re.compile(
            r"(?<![\w-])(?:Am|An der|An den|Auf der|Auf dem|Im|In der|In den|Unter den|Zum|Zur) "
            r"[A-ZÄÖÜ][a-zäöüß-]{2,30} \d{1,3} ?[a-z]?(?![\w:.]|,\d| (?:Uhr|Jahre|Tage|Euro|€))"
        ),
    ),
    Pattern(
        "ADDRESS",
        r"(?i:rue|avenue|boulevard|bd|chemin|impasse|all[ée]e|place|quai|route)",
        re.compile(
            r"(?<![\w.-])\d{1,4}(?: ?(?:bis|ter|quater|[A-D]))?,? (?i:rue|avenue|av\.|boulevard|bd|chemin|impasse|"
            r"all[ée]e|place|quai|route|cours|square) "
            r"(?:(?:de|du|des|la|le|les|d'|de l')[ ]?){0,3}(?:[A-ZÀ-Þ][\w'’-]{1,30})(?: [A-ZÀ-Þ][\w'’-]{1,30}){0,3}"
        ),
    ),
    Pattern(
        "ADDRESS",
        r"(?i:calle|c/|avenida|av\.|avda|paseo|plaza|via|viale|corso|piazza|vicolo|rua|travessa|praça|ul\.|ulica|"
        r"al\.|aleja|carrera|улица|ул\.)",
        re.compile(
            r"(?<![\w.-])(?:(?i:calle|c/|avenida|av\.|avda\.?|paseo|viale|corso|piazza|vicolo|rua|travessa|praça|"
            r"ul\.|ulica|aleje|carrera|улица|ул\.)|Via|Plaza) ?"
            r"(?:(?:de|del|di|della|da|do|dos|das|la|las|los|el)[ ]){0,3}(?:[A-ZÀ-ÞŁŚŻА-Я][\w'’-]{1,30})(?: (?:de|"
            r"del|da|do|dos|[A-ZÀ-ÞŁŚŻА-Я][\w'’-]{1,30})){0,3}"
            + _NUMBER_AFTER
            + r"(?:,? ?(?:\d{1,2}[º°ª](?: ?(?:izq|dcha|[A-Z]\b))?|(?:apto|ap|piso|bloco|m)\.? ?\d{1,5}))?(?!\w)"
        ),
    ),
    # After "I live at", any name with a house number is an address.
    Pattern(
        "ADDRESS",
        rf"(?i:{_HOME}) [^\n]*\d",
        re.compile(
            rf"(?<![\w<])(?=\w)(?i:{_HOME}) (?P<value>(?:{_FLAT},? )?{_HOUSE},? {_CAP}(?: {_CAP}){{0,4}}{_AFTER}|"
            rf"{_CAP}(?: (?:de|del|di|da|do|van|{_CAP})){{0,5}},? \d{{1,5}}[A-Za-z]?(?:[/-]\d{{1,4}}[a-z]?)?)(?!\w)"
        ),
        _is_street,
    ),
    # United Kingdom and Canada: the shape says it.
    Pattern(
        "POSTCODE",
        r"[A-Za-z]{1,2}\d[A-Za-z\d]? \d[A-Za-z]{2}",
        re.compile(
            r"(?<![\w-])(?:[A-PR-UWYZ][A-HK-Y]?\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}|[a-pr-uwyz][a-hk-y]?\d[a-z\d]? "
            r"\d[abd-hjlnp-uw-z]{2})(?![\w-])"
        ),
        _is_placed,
    ),
    Pattern(
        "POSTCODE",
        r"[A-Za-z]\d[A-Za-z][ -]?\d[A-Za-z]\d",
        re.compile(
            r"(?<![\w-])(?:[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d|"
            r"[abceghj-nprstvxy]\d[abceghj-nprstv-z][ -]?\d[abceghj-nprstv-z]\d)(?![\w-])"
        ),
        _is_placed,
    ),
    Pattern(
        "POSTCODE",
        rf"(?:{_STATES}),? \d{{5}}|(?:NSW|VIC|QLD|TAS|ACT|SA|NT) \d{{4}}",
        re.compile(
            rf"(?<![\w-])(?:(?:{_STATES}),? (?P<value>\d{{5}}(?:-\d{{4}})?)|(?:NSW|VIC|QLD|WA|TAS|ACT|SA|NT) "
            rf"\d{{4}})(?![\w-])"
        ),
        _is_placed,
    ),
    cued(
        "POSTCODE",
        r"zip(?: ?code)?|post(?:al)? ?code|plz|postleitzahl|code postal|c[óo]digo postal|cep|cap|cp|pin ?code|"
        r"postnummer|postcode|post ?nr|kod pocztowy|индекс",
        r"(?:[A-Z]{1,2}-)?\d{3}-?\d{4}|\d{5}-\d{3,4}|\d{2}-\d{3}|\d{4,6}(?: [A-Z]{2}\b)?|\d{3} \d{2}|"
        r"(?i:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]{1,2}\d{1,2} \d[a-z]{1,2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)",
        script="邮编|〒|郵便番号",
    ),
    Pattern("POSTCODE", "〒", re.compile(r"〒 ?(?P<value>\d{3}-?\d{4})")),
    Pattern(
        "POSTCODE",
        r"\d{4} [A-Z]{2}",
        re.compile(r"(?<![\w.,$€£#-])(?<!\d )(?<![A-Z]{2} )[1-9]\d{3} [A-Z]{2}(?=,? [A-Z][a-z]|$|[.,])"),
        _is_dutch,
    ),
    # "50667 Köln", at the start, after a comma or after the street.
    Pattern(
        "POSTCODE",
        r"(?:^|[,>\n] ?)\d{3} ?\d{2} [A-ZÀ-Þ]",
        re.compile(
            r"(?:(?<![^\n])|(?<=, )|(?<=>, )|(?<=> ))(?P<value>\d{5}|\d{3} \d{2}) (?P<town>[A-ZÀ-Þ][a-zà-ÿ]{2,30})"
            r"(?![\w])"
        ),
        _is_placed,
    ),
)
