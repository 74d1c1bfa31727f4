"""Postcodes, by their shape, their town, or the words around them."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import NUMBERING, NUMERAL, Pattern, cued, is_elsewhere, near

__all__ = ["POSTCODES"]

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
_TOWNS = (
    r"Amsterdam|Rotterdam|Utrecht|Den Haag|Eindhoven|Groningen|Haarlem|Leiden|Berlin|Hamburg|M[üu]nchen|Munich|"
    r"K[öo]ln|Cologne|Frankfurt|"
    r"Stuttgart|D[üu]sseldorf|Leipzig|Dortmund|Essen|Bremen|Dresden|Hannover|N[üu]rnberg|Bonn|Mainz|Freiburg|Wien|"
    r"Vienna|Graz|Linz|Salzburg|"
    r"Innsbruck|Z[üu]rich|Gen[èe]ve|Geneva|Basel|Bern|Lausanne|Luzern|Winterthur|Paris|Lyon|Marseille|Toulouse|"
    r"Nice|Nantes|Bordeaux|Lille|"
    r"Strasbourg|Rennes|Montpellier|Madrid|Barcelona|Valencia|Sevilla|Seville|Zaragoza|M[áa]laga|Bilbao|Granada|"
    r"Lisboa|Lisbon|Porto|Braga|"
    r"Coimbra|Faro|Roma|Rome|Milano|Milan|Napoli|Torino|Bologna|Firenze|Venezia|Genova|Palermo|Bari|Verona|"
    r"Bruxelles|Brussels?|Antwerpen|Gent|"
    r"Brugge|Li[èe]ge|Leuven|K[øo]benhavn|Copenhagen|Aarhus|Odense|Aalborg|Oslo|Bergen|Trondheim|Stavanger|"
    r"Troms[øo]|Stockholm|G[öo]teborg|"
    r"Malm[öo]|Uppsala|Lund|Helsinki|Espoo|Tampere|Turku|Oulu|Warszawa|Warsaw|Krak[óo]w|Gda[ńn]sk|Wroc[łl]aw|"
    r"Pozna[ńn]|[ŁL][óo]d[źz]|Praha|"
    r"Prague|Brno|Bratislava|Budapest|Bucure[șs]ti|Bucharest|Sofia|Athens?|Thessaloniki|Zagreb|Ljubljana|Belgrade|"
    r"Istanbul|Ankara|Izmir|Dublin|"
    r"Cork|Galway|London|Manchester|Leeds|Bristol|Edinburgh|Glasgow|Cardiff|Belfast|Sydney|Melbourne|Brisbane|"
    r"Perth|Adelaide|Hobart|Canberra|"
    r"Darwin|Auckland|Wellington|Christchurch|Johannesburg|Cape Town|Durban|Pretoria|Mumbai|Delhi|New Delhi|"
    r"Bangalore|Bengaluru|Chennai|Kolkata|"
    r"Hyderabad|Pune|Singapore|Tokyo|Osaka|Seoul|Busan|Beijing|Shanghai|Manila|Makati|Quezon City|Jakarta|Bangkok|"
    r"Hanoi|S[ãa]o Paulo|Rio|"
    r"Buenos Aires|Santiago|Bogot[áa]|Lima|M[ée]xico|CDMX|Guadalajara|Monterrey|Tel Aviv|Jerusalem|Haifa|Dubai|"
    r"New York|Brooklyn|Boston|Chicago|"
    r"Miami|Dallas|Houston|Austin|Seattle|Portland|Denver|Phoenix|Atlanta|San Francisco|San Diego|Los Angeles|"
    r"Philadelphia|Brookline"
)
_FOUR_DIGITS = (
    r"Amsterdam|Rotterdam|Utrecht|Den Haag|Eindhoven|Groningen|Haarlem|Leiden|Wien|Graz|Linz|Salzburg|Innsbruck|"
    r"Z[üu]rich|Gen[èe]ve|Basel|"
    r"Bern|Lausanne|Luzern|Winterthur|Bruxelles|Antwerpen|Gent|Brugge|Li[èe]ge|Leuven|K[øo]benhavn|Copenhagen|"
    r"Aarhus|Odense|Aalborg|Oslo|"
    r"Bergen|Trondheim|Stavanger|Troms[øo]|Budapest|Sofia|Ljubljana|Hobart|Canberra|Pretoria|Makati|Quezon City"
)
_STATE_NAMES = (
    r"Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|"
    r"Illinois|Indiana|Iowa|Kansas|"
    r"Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|"
    r"Nevada|New Hampshire|New Jersey|"
    r"New Mexico|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|"
    r"South Dakota|Tennessee|Texas|Utah|"
    r"Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming|Calif|Mass|Tex|Fla|Penn"
)
# The letters that a British postcode starts with.
_AREAS = (
    r"(?:A[BL]|B[ABDHLNRST]?|C[ABFHMORTVW]|D[ADEGHLNTY]|E[CHNX]?|F[KY]|G[LUY]?|H[ADGPRSUX]|I[GMPV]|JE|K[ATWY]|"
    r"L[ADELNSU]?|M[EKL]?|N[EGNPRW]?|"
    r"O[LX]|P[AEHLOR]|R[GHM]|S[AEGKLMNOPRSTWY]?|T[ADFNQRSW]|UB|W[ACDFNRSV]?|YO|ZE)"
)
_PLACED = (
    r"deliver(?:y|ies|ed)?(?: to| in)?|ship(?:ping|ped)?(?: to)?|send(?: it)? to|sent to|liv(?:e|es|ing)(?: in|"
    r" at| near)?|based(?: in| at)?|post ?codes?|zips?(?: ?codes?)?|"
    r"postal(?: codes?)?|area(?: code)?|address|cover(?:age|ed)?|resident|reside|moved(?: to| from)?|"
    r"moving(?: to)?|located|location|im (?:at|in)|i'?m (?:at|in)|"
    r"we'?re (?:at|in)|postleitzahl|plz|wohne in|code postal|cp|c\.p\.|cap|cep|c[óo]digo postal|pin ?code|pin|"
    r"eircode|billing|mailing|town|city|store near|stores? in|"
    r"branch|nearest|closest|neighbou?rhood|my area|registered|letter|street|road|house|flat"
)
_AREA_NUMBER = (
    r"\d{5}(?:-\d{4})?|\d{6}|\d{3} \d{3}|\d{3} \d\d|\d\d-\d{3}|\d{5}-\d{3}|\d{4}-\d{3}|[A-Z]{1,2}-\d{3} ?\d\d|"
    r"[A-Z]{1,2}-\d{4,5}|"
    rf"(?i:{_AREAS}\d[a-z\d]? ?\d[a-z]{{2}}|[a-z]\d[a-z][ -]?\d[a-z]\d|[a-z]\d[\dw] ?[a-z\d]{{4}}|"
    rf"(?-i:[1-9]\d{{3}} ?[A-Z]{{2}}))"
)


_LETTER = rf"(?:[A-Za-z](?: (?:for|as in|like) [A-Za-z]{{2,12}})?(?![A-Za-z])|\d|(?i:{NUMERAL})(?![A-Za-z]))"


def _is_unordered(value: str, before: str) -> bool:
    return (
        re.search(
            r"(?i)\b(?:order|flight|ref|reference|model|part|serial|sku|item|booking|ticket|seat|invoice|"
            r"product|pnr|locator|confirmation|reservation|returns?|rma|voucher|coupon|promo)"
            r"(?: (?:no|number|code|id|is))*[ .:#]*$",
            before,
        )
        is None
    )


def _is_area(value: str, before: str) -> bool:
    """Whether a number near a word of places is a postcode: no year, unit or thing's number."""
    digits = sum(map(str.isdigit, value))
    lettered = re.fullmatch(r"\d{4} ?[A-Za-z]{2}", value) is not None
    return (
        digits >= 2
        and not (lettered and value[-2:].upper() in _UNITS)
        and _is_unordered(value, before)
        and (NUMBERING.search(re.sub(rf"(?i)(?:{_PLACED})", "", before[-40:]).rstrip(" ,")) is None)
    )


def _is_placed(value: str, before: str) -> bool:
    """Whether nothing before says that the digits are an order, a meter or the like."""
    return NUMBERING.search(before[-30:].rstrip(" ,")) is None


def _is_dutch(value: str, before: str) -> bool:
    return value[-2:].upper() not in _UNITS and _is_placed(value, before)


_FOUR_DIGIT_TOWN = re.compile(
    rf"(?:{_FOUR_DIGITS}|Sydney|Melbourne|Brisbane|Perth|Adelaide|Auckland|Wellington|Christchurch),? $"
)


def _is_towns(value: str, before: str) -> bool:
    """Whether digits after a town are its postcode: of as many digits as its country uses."""
    if re.fullmatch(r"\d{4}", value) and (re.match("19[5-9]|20[0-3]", value) or not _FOUR_DIGIT_TOWN.search(before)):
        return False
    return not is_elsewhere(before[-40:]) and NUMBERING.search(before[-30:].rstrip()) is None


POSTCODES = (
    # United Kingdom and Canada: the shape says it.
    Pattern(
        "POSTCODE",
        r"[A-Za-z]{1,2}\d[A-Za-z\d]? \d[A-Za-z]{2}",
        re.compile(
            r"(?<![\w-])(?:[A-PR-UWYZ][A-HK-Y]?\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}|[a-pr-uwyz][a-hk-y]?\d[a-z\d]? "
            r"\d[abd-hjlnp-uw-z]{2})(?![\w-])"
        ),
        _is_unordered,
    ),
    Pattern(
        "POSTCODE",
        r"[A-Za-z]\d[A-Za-z][ -]?\d[A-Za-z]\d",
        re.compile(
            r"(?<![\w#-])(?:[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d|"
            r"[abceghj-nprstvxy]\d[abceghj-nprstv-z][ -]?\d[abceghj-nprstv-z]\d)(?![\w-])"
        ),
        _is_unordered,
    ),
    Pattern(
        "POSTCODE",
        rf"(?:{_STATES}),? \d{{5}}|(?:NSW|VIC|QLD|TAS|ACT|SA|NT) \d{{4}}",
        re.compile(
            rf"(?<![\w-])(?:(?:{_STATES}),? (?P<value>\d{{5}}(?:-\d{{4}})?)|(?:NSW|VIC|QLD|WA|TAS|ACT|SA|NT) "
            rf"\d{{4}})(?![\w-])"
        ),
        lambda value, before: _is_placed(value, re.sub(r"[A-Z]{2},? $", "", before)),
    ),
    cued(
        "POSTCODE",
        r"zip(?: ?code)?|post(?:al)? ?code|plz|postleitzahl|code postal|c[óo]digo postal|cep|cap|cp|pin ?code|"
        r"postnummer|postcode|post ?nr|kod pocztowy|индекс",
        r"(?:[A-Z]{1,2}-)?\d{3}-?\d{4}|\d{5}-\d{3,4}|\d{2}-\d{3}|\d{4,6}(?: [A-Z]{2}\b)?|\d{3} \d{2}|"
        r"(?i:[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]{1,2}\d{1,2} \d[a-z]{1,2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)",
        script="邮编|〒|郵便番号",
    ),
    # A British one without its space, alone or where only its area can begin it.
    Pattern(
        "POSTCODE",
        r"^[^A-Za-z0-9]*[A-Za-z]{1,2}\d[A-Za-z\d]?\d[A-Za-z]{2}[^A-Za-z0-9]*$|[A-Z]{1,2}\d[A-Z\d]?\d[A-Z]{2}",
        re.compile(
            rf"\A\W{{0,3}}(?P<value>(?i:{_AREAS}\d[a-z\d]?\d[abd-hjlnp-uw-z]{{2}}))\W{{0,3}}\Z|"
            rf"(?<![\w#/-])(?P<inside>(?!N\d){_AREAS}\d[A-Z\d]?\d[ABD-HJLNP-UW-Z]{{2}})(?![\w-])"
        ),
        lambda value, before: _is_unordered(value, before) and not is_elsewhere(before[-40:]),
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
    *near("POSTCODE", _PLACED, rf"(?<!\d )(?:{_AREA_NUMBER})(?! ?\d)", _is_area, ahead=60, behind=25),
    *near(
        "POSTCODE",
        r"post ?codes?|plz|postnummer|eircodes?",
        r"(?!19\d\d|20[0-3]\d)[1-9]\d{3}",
        _is_area,
        ahead=45,
        behind=60,
    ),
    # The town says it: "69003 Lyon", "Graz 8010", "Hamburg, 22765".
    Pattern(
        "POSTCODE",
        rf"\d \(?(?i:{_TOWNS})",
        re.compile(
            rf"(?<![\w.,$€£#@*/-])(?<!\d )(?P<value>(?:[A-Z]{{1,3}}-)?(?:\d{{5,6}}|\d{{3}} \d{{2,3}}|\d\d-\d{{3}}|"
            rf"\d{{4}}-\d{{3}}|\d{{5}}-\d{{3}}|\d{{4}} ?[A-Z]{{2}}|"
            rf"\d{{4}}(?=,? (?:{_FOUR_DIGITS})))),? \(?(?:{_TOWNS}|(?!nice|essen|cork|split|rio|bari|"
            rf"bath)(?i:{_TOWNS}))(?![\w-])"
        ),
        lambda value, before: (
            not re.fullmatch(r"(?:19|20)\d\d", value) and _is_placed(value, before) and not is_elsewhere(before[-25:])
        ),
    ),
    Pattern(
        "POSTCODE",
        rf"(?:{_TOWNS}),? (?:[A-Z]+,? |[A-Z]+-)?\d",
        re.compile(
            rf"(?<![\w@#])(?:{_TOWNS}),? (?:[A-Z]{{2,3}},? )?(?P<value>(?:[A-Z]{{1,2}}-)?(?:\d{{5,6}}|"
            rf"\d{{4}}(?!\d)|\d{{3}} \d{{2,3}}|\d\d-\d{{3}}|\d{{4}}-\d{{3}}|\d{{5}}-\d{{3,4}}|"
            rf"(?i:{_AREAS}\d[a-z\d]? ?\d[a-z]{{2}})))(?![\w%/-]|[.,:]\d| \d| ?(?:€|EUR|USD|hrs|pm|am|miles|km))"
        ),
        _is_towns,
    ),
    Pattern(
        "POSTCODE",
        rf"(?i:{_STATE_NAMES}),? \d",
        re.compile(rf"(?<!\w)(?i:{_STATE_NAMES}),? (?P<value>\d{{5}}(?:-\d{{4}})?)(?![\w-]|[.,]\d)"),
        _is_placed,
    ),
    Pattern(
        "POSTCODE",
        r"\d \(?[A-Z]",
        re.compile(
            r"(?<![\w.,$€£#/-])(?<!\d )(?P<value>[A-Z]{1,2}-\d{4,5}|[A-Z]{2}-\d{3} \d\d|\d\d-\d{3}|\d{5}|"
            r"\d{5}-\d{3}|\d{4}-\d{3}) [A-ZÀ-ÞŁŚŻ][a-zà-ÿąćęłńóśźż]{2,30}(?![\w-])"
        ),
        lambda value, before: (
            _is_placed(value, before)
            and not is_elsewhere(before)
            and re.search(r"(?i)(?:address|,|>|in|at|to|from|:|^)\s*$", before) is not None
        ),
    ),
    # After another one: "02139, it's 02446 now".
    Pattern(
        "POSTCODE",
        r"<POSTCODE>",
        re.compile(
            rf"<POSTCODE>[^\d\n<]{{1,30}}?(?<![\w$€£#])(?P<value>\d{{5}}|\d{{3}} \d\d|"
            rf"{_AREAS}\d[A-Z\d]? ?\d[A-Z]{{2}})(?![\w-]|[.,]\d)"
        ),
        lambda value, before: not is_elsewhere(before[-25:]),
    ),
    # Spoken letter by letter.
    Pattern(
        "POSTCODE",
        r"(?:^|[ ,])[B-HJ-Zb-hj-z] (?:for|as in) [A-Za-z]+",
        re.compile(rf"(?<![\w<])(?P<value>{_LETTER}(?:[ ,]{{1,2}}{_LETTER}){{3,16}})(?!\w)"),
        lambda value, before: (
            value.lower().count(" for ") >= 1 and len(re.findall(r"(?i)\b(?:[a-z]|\d|" + NUMERAL + r")\b", value)) >= 4
        ),
        digits=False,
    ),
)
