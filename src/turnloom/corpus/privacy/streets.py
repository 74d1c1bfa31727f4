"""Street addresses, by the words and the order that countries write them in."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import Pattern, asked, is_elsewhere
from turnloom.corpus.privacy.streets_abroad import STREETS_ABROAD
from turnloom.corpus.privacy.streets_informal import (
    AFTER,
    CAP,
    INFORMAL_STREETS,
    SPELLED_HOUSE,
    is_named,
    is_street,
)

__all__ = ["STREETS"]

_SMALL_STREET = (
    r"street|road|avenue|lane|drive|boulevard|terrace|crescent|court|close|grove|gardens|mews|rise|cottages?|"
    r"square|parade|"
    r"parkway|highway|way|place|hill|walk|row|approach|st|rd|ave|blvd|ln|dr|ct|pl|cres|hwy"
)
_STREET = (
    r"Street|St|Road|Rd|Avenue|Ave|Av|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Place|Pl|Square|Sq|Terrace|Ter|Way|"
    r"Close|Crescent|Cres|Circle|Cir|"
    r"Rise|View|Vale|Meadows?|Fields|Heath|End|Yard|Wharf|Dock|Croft|Chase|Copse|Dell|Drove|Cottages?|Villas|"
    r"Buildings|Mansions|Heights|Ridge|Path|Pike|Plaza|Crossing|Bend|Cove|Landing|Manor|Trace|Valley|Glen|Hollow|Knoll|"
    r"Turnpike|Promenade|Approach|Circus|Wynd|Brae|Orchard|Paddocks?|Lodge|Park|Mount|"
    r"Nagar|Marg|Layout|Colony|Enclave|Vihar|Sector|Chowk|Salai|Jalan|Jln|Lorong|"
    r"Parkway|Pkwy|Highway|Hwy|Parade|Pde|Grove|Gardens|Mews|Row|Walk|Hill|Quay|Esplanade|Trail|Trl|Loop|Alley|"
    r"Broadway"
)
_FLAT = r"(?:Apt|Apartment|Flat|Unit|Suite|Ste|Room|Rm)\.? ?#?\d{0,4}[A-Za-z]?(?=[ ,/]|\b)"
_COMPASS = r"(?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\.? )?"
_HOUSE = r"(?:\d{1,5}[A-Za-z]?(?:[/-]\d{1,5}[A-Za-z]?)?)"


_HOME = (
    r"(?:live|living|reside|staying) (?:at|in)|(?:my|our|the|his|her) (?:house|place|home|property|flat|"
    r"apartment)(?:'s| is)"
    r"(?: at)?|(?:leave|left|drop|dropped|bring|brought)(?: it| them| this)? (?:at|to|off at)|nobody at|everyone at|"
    r"(?:pick|collect)(?: me| it)?(?: up)? from|engineer to|driver to|(?:i'?m|we'?re|i am|we are|come) (?:at|to)|"
    r"(?:ship|send|deliver|mail|post)(?:ed)?(?: it| them| "
    r"this)? to|"
    r"address(?: is| was|:)|moved to|adresse(?: ist|:)|"
    r"wohne (?:in|im|am)(?: der)?|habite(?: au)?|vivo en|direcci[oó]n(?: es|:)|indirizzo(?: è|:)|abito in|moro "
    r"n[ao]|endere[çc]o(?: é|:)|adres(?: is|:)"
)

_HOMELY = (
    r"address|my place|place is|live|living|reside|resident|moved|home|deliver|ship|courier|caller|come to|"
    r"flat|house|lives|leave it|left|dropped|drop it|driver|engineer|parcel|package|went to|bring|collect|pick|"
    r"neighbou?r|tenant|nobody|apartment|property|visit|located|opposite|next door"
)
_HOMES = re.compile(rf"(?<!mail )(?<!ip )(?<![A-Za-z])(?i:{_HOMELY})")
STREETS = (
    Pattern(
        "ADDRESS",
        rf"\d[A-Za-z]?,? (?:[^\s]+ ){{0,5}}(?i:{_STREET})",
        re.compile(
            rf"(?<![\w.,#$€£-])(?:{_FLAT},? )?{_HOUSE},? {_COMPASS}(?:(?:{CAP}|\d{{1,3}}(?:st|nd|rd|th)|de|la|the|"
            rf"of) ){{1,4}}(?:{_STREET})\b\.?(?: [NSEW]\b)?(?: \d{{1,4}}\b(?! (?i:and|or|times|"
            rf"days)))?(?:,? #\d\d-\d{{1,4}})?{AFTER}"
        ),
        is_street,
    ),
    # In small letters, as in a chat, only for words that are nothing else.
    Pattern(
        "ADDRESS",
        r"(?i:\d[a-z]?,? [^\s]+ (?:[^\s]+ )?(?:street|road|avenue|lane|drive|boulevard|terrace|crescent))",
        re.compile(
            rf"(?<![\w.,#$€£-])\d{{1,5}}[A-Za-z]?,? (?!(?i:of|on|in|at|to|for|the|a|is|more|main|different|bis|ter)"
            rf"\b)(?:[A-Za-z'’]{{2,20}} ){{1,2}}(?i:street|road|avenue|lane|drive|boulevard|terrace|crescent)"
            rf"\b{AFTER}"
        ),
        is_street,
    ),
    # Any street in small letters or with its number spelled out, where a home is spoken of.
    Pattern(
        "ADDRESS",
        rf"\d[A-Za-z]?,? [^\s]+ (?:[^\s]+ )?(?:[^\s]+ )?(?i:{_SMALL_STREET})",
        re.compile(
            rf"(?<![\w.,#$€£-])(?P<value>\d{{1,5}}[A-Za-z]?,? (?!(?i:of|on|in|at|to|for|the|a|is|more|different|"
            rf"bis|ter|hours?|days?)\b)"
            rf"(?:[A-Za-z'’]{{2,20}} ){{1,3}}(?i:{_SMALL_STREET})\b{AFTER})"
        ),
        lambda value, before: is_named(value) and is_street(value, before) and _HOMES.search(before) is not None,
    ),
    Pattern(
        "ADDRESS",
        r"(?i:one|two|three|four|five|six|seven|eight|nine|teen|ten|eleven|twelve|"
        r"ty),? [^\s]+ (?:[^\s]+ )?(?:[^\s]+ )?(?i:street|road|avenue|lane|drive|terrace|crescent|close|grove|"
        r"gardens|rise|court|square|mews|Row|Place|Way|Walk|Hill|View|Parade)",
        re.compile(
            rf"(?<![\w<])(?P<value>{SPELLED_HOUSE},? (?:[A-Za-z][a-z'’]{{1,20}} ){{1,3}}(?i:street|road|avenue|"
            rf"lane|drive|terrace|crescent|close|grove|gardens|rise|court|square|mews|(?-i:Row|Place|Way|Walk|Hill|View|"
            rf"Parade))\b)"
        ),
        lambda value, before: (
            is_named(value)
            and (_HOMES.search(before) is not None or value.split()[-1][0].isupper() or "ty " in value.lower())
        ),
        digits=False,
    ),
    # A house with a name, in a street.
    Pattern(
        "ADDRESS",
        r"[Tt]he [A-Z][^\n,]+, ?[A-Z]",
        re.compile(
            rf"(?<![\w<])(?P<value>[Tt]he (?:{CAP} ){{0,2}}{CAP}, (?:{CAP} ){{1,3}}(?:Street|Road|Lane|Avenue|"
            rf"Close|Hill|"
            r"Drive|Way|Row|Green)\b)"
        ),
        lambda value, before: _HOMES.search(before) is not None,
        digits=False,
    ),
    *INFORMAL_STREETS,
    # A question for the address, and its answer.
    asked(
        "ADDRESS",
        r"(?<!mail )(?<!ip )(?<!mac )address|street|the property|house number|where (?:do|should|shall|can|would|are)",
        r"(?=[^\n]{0,60}(?:\d|,))[^\n?@<]{4,60}?(?=[.;\n]|$| (?i:agent|operator|advisor|rep)\b)",
        lambda value, before: (
            re.search(
                r"(?i)^(?:no|yes|i |it |the (?!old|\w+ (?:house|cottage|lodge|barn))|why|what|how|when|not|my |we |"
                r"you )",
                value,
            )
            is None
        ),
    ),
    # The house has a name, or the place a block or a plot.
    Pattern(
        "ADDRESS",
        r"(?:Cottage|House|Barn|Farm|Lodge|Mill|Rectory|Vicarage|Manor|Hall|Grange|Croft|Villa),",
        re.compile(
            rf"(?<![\w<])(?P<value>(?:The )?(?:{CAP} ){{1,3}}(?:Cottage|House|Barn|Farm|Lodge|Mill|Rectory|"
            rf"Vicarage|Manor|Hall|Grange|Croft|Villa),"
            rf" (?:\d{{1,4}} )?(?:{CAP} ){{0,3}}(?:{_STREET})\b)"
        ),
        digits=False,
    ),
    Pattern(
        "ADDRESS",
        r"(?i:plot|block|blk|house|h\.? ?no|flat|door|tower|sector|cross|phase|villa|apartment|unit|#)[^\n]*\d",
        re.compile(
            rf"(?<![\w<])(?P<value>(?:(?i:plot|block|blk|h\.? ?no\.?|house no\.?|door no\.?|flat no\.?|flat|tower|"
            rf"villa|apartment|unit)\.? ?#?|#)"
            rf"[A-Z]?(?: ?[\d/-]){{1,8}}[A-Z]?,? (?:\d{{1,3}}(?:st|nd|rd|th) |{CAP},? ){{0,4}}?(?:{_STREET}|"
            rf"(?:Sector|Phase|Block) ?\d{{0,3}}|Cross|Main|Apartments?|Towers?|House|Residency|"
            rf"Heights)\b(?: \d{{1,4}}[A-Z]?)?"
            rf"(?:,? #\d\d-\d{{1,4}})?(?:, (?:{CAP} ){{0,2}}(?:{_STREET})\b)?)"
        ),
    ),
    Pattern(
        "ADDRESS",
        r"\d The [A-Z]",
        re.compile(
            rf"(?<![\w.,#$€£:-])(?P<value>\d{{1,4}}[A-Z]? The (?:[A-Z][a-z]{{3,15}}s|{CAP} (?:{_STREET})|Green|"
            rf"Close|Avenue|Drive|Mount|Lane))\b"
        ),
    ),
    Pattern(
        "ADDRESS",
        r"(?i:county road|highway|route|hwy|state road|rural route|rr|county rd|cr|sr) \d",
        re.compile(
            r"(?<![\w.,#$€£-])(?P<value>\d{2,6} (?:[NSEW]\.? )?(?i:county road|county rd|state road|highway|hwy|"
            r"route|rural route|us|farm road|fm) \d{1,4})(?!\w)"
        ),
    ),
    # The number after the street, as abroad: "Rosewood Way 10".
    Pattern(
        "ADDRESS",
        rf"[A-Z][^ ]+ (?:{_STREET}) \d",
        re.compile(
            rf"(?<![\w<@#])(?P<value>(?!The |A |In |On |At |To |From |One |My )(?:{CAP} ){{1,2}}(?:Street|St|Road|"
            rf"Rd|Avenue|Ave|Lane|Ln|Drive|Way|Close|Crescent|Court|"
            rf"Terrace|Grove|Gardens|Walk|Mews|Boulevard|Blvd) \d{{1,3}}[A-Za-z]?)(?![\w%:]|[.,:/-]\d| (?i:am|pm|"
            rf"times|days|hours|min|minutes|weeks|miles|stars?))"
        ),
        lambda value, before: is_street(value, before) and not is_elsewhere(before[-25:]),
    ),
    Pattern(
        "ADDRESS",
        r"(?i:r\.?r\.?|rural route|hc|route) #?\d+,? (?i:box)",
        re.compile(r"(?<![\w<])(?i:r\.?r\.?|rural route|hc|route) #?\d{1,4},? (?i:box) #?\d{1,5}[A-Za-z]?(?!\w)"),
    ),
    # Nothing but an address: "22 high st".
    Pattern(
        "ADDRESS",
        r"^[^A-Za-z0-9]*\d{1,5}[A-Za-z]?,? [^\n]*(?:[,.]|$)",
        re.compile(
            rf"\A\W{{0,3}}(?P<value>\d{{1,5}}[A-Za-z]? (?!(?i:of|on|in|at|to|for|the|a|is|more|different|hours?|"
            rf"days?)\b)"
            rf"(?:[A-Za-z'’]{{2,20}} ){{1,2}}(?i:{_SMALL_STREET})(?=[,.]|$))"
        ),
        lambda value, before: is_named(value) and is_street(value, before),
    ),
    Pattern(
        "ADDRESS",
        r"(?i:house|h\.?no|plot|flat|door|villa|building)[^\n]*\d[^\n]*(?i:road|street|lane|sector|block|phase|zone|"
        r"area)",
        re.compile(
            r"(?<![\w<])(?P<value>(?i:house|h\.? ?no\.?|plot|flat|door|villa|building)(?i: no\.?| number)?[ "
            r":#]{1,2}[A-Z]?[\d/-]{1,7}[A-Za-z]?,? "
            r"(?i:road|street|st|lane|sector|block|phase|zone|avenue|cross)(?: no\.?)?[ #]?\d{1,4}[A-Za-z]?(?:, "
            r"[A-Z][a-z]{2,20}(?: [A-Z][a-z]{2,20}){0,2})?)(?!\w)"
        ),
    ),
    # What stands beside an address that was found: the flat before it, the floor after it.
    Pattern(
        "ADDRESS",
        r"<ADDRESS>",
        re.compile(
            rf"(?P<value>(?<![\w<])(?:(?i:blk|block|no\.?|h\.? ?no\.?|unit|flat|bungalow|villa|cottage|"
            rf"apartment|plot|shop) ?(?=<ADDRESS>)|"
            rf"\d{{1,2}}/\d{{1,2}}(?=,? ?<ADDRESS>)|(?i:block|blk|tower|"
            rf"wing|building|entrance|flat|unit|stair) [A-Z]\b|"
            rf"(?i:apartment|flat|unit|suite|apt|room|block|blk|plot|house|"
            rf"tower)\.? ?#?[A-Za-z]?\d{{1,5}}[A-Za-z]?(?:, (?:{CAP} ?){{1,3}})?|"
            rf"(?i:level|floor|fl|storey) \d{{1,3}}|(?i:(?:ground|first|second|third|top|upper|lower|basement|"
            rf"garden|rear) (?:floor )?(?:flat|floor|maisonette|apartment))|"
            rf"Haus (?:\w{{2,4}} )?{CAP}|"
            rf"(?:The )?(?:{CAP} ){{1,2}}(?:House|Court|Building|Tower|Cottage|Lodge|Mansions|"
            rf"Heights)),? ?)(?=<ADDRESS>)"
        ),
        digits=False,
    ),
    Pattern(
        "ADDRESS",
        r"<ADDRESS>",
        re.compile(
            r"<ADDRESS>,?\s?(?:(?i:address line|line|addr(?:ess)?) ?\d ?: ?)?(?P<value>#\d\d-\d{1,4}|(?i:block|blk|"
            r"tower|building|wing|entrance|stair) [A-Z]\b|"
            r"(?i:suite|ste|apt|unit|flat|room|rm)\.? ?#?[A-Za-z]?\d{1,5}[A-Za-z]?\b|(?i:int|interior|piso|apto?|"
            r"depto|dept|esc|bloco|bl|floor|fl|"
            r"lgh|etage|et|wohnung|whg|top|stiege|interno|scala|dpto|local)\.? ?\d{1,4}[A-Za-z]?\b|"
            r"\d{1,2}\. ?(?i:tv|th|mf|sal|og|obergeschoss|etage|stock|krs|emelet|patro|kat)\b|"
            r"\d{1,2}(?:[º°ª]| (?=Esq|Dto|Dir|izq|dcha))\.? ?(?:[A-Z]\b|Esq|Dto|Dir|Frente|(?:izq|dcha|derecha|"
            r"izquierda)\b)?\.?|"
            r"\d{1,2}(?:st|nd|rd|th) (?:floor|cross|main|block|stage|phase)(?: road)?|[A-Z]?\d{1,3}[A-Z]\b|(?:Esq|"
            r"Dto|Dir|Frente|izq|dcha)\b\.?|"
            rf"(?:{CAP} ){{1,2}}(?:{_STREET})\b|(?:tv|th|mf)\b|m\.? ?\d{{1,4}}|(?:III|II|IV|VI|V)\b)"
        ),
        digits=False,
    ),
    Pattern(
        "ADDRESS",
        r"<ADDRESS>",
        re.compile(
            r"<ADDRESS>(?P<value>,? (?i:b[âa]t(?:iment|\.)?|bloco|block|depto\.?|dpto\.?|apto\.?|scala|esc\.?|"
            r"lok\.|m\.|byt|kv\.|"
            r"кв\.|корп\.|flat|unit|floor|level) ?[A-Z0-9]{1,4}\b|,? (?:Hinterhaus|Vorderhaus|Seitenfl[üu]gel|"
            r"hs|bis|ter)\b|"
            r" \d{1,3}(?=[,.;]|$))"
        ),
        digits=False,
    ),
    Pattern(
        "ADDRESS",
        r"(?i:p\.? ?o\.? ?box|postfach|apartado|packstation|postnummer)",
        re.compile(
            r"(?<![\w<])(?i:p\.? ?o\.? ?box|postfach|apartado(?: de correos)?|packstation|postnummer)[ "
            r"#:]{1,2}\d{1,9}(?!\w)"
        ),
    ),
    *STREETS_ABROAD,
    # After "I live at", any name with a house number is an address.
    Pattern(
        "ADDRESS",
        rf"(?i:{_HOME}) [^\n]*\d",
        re.compile(
            rf"(?<![\w<])(?=\w)(?i:{_HOME}) (?P<value>(?:{_FLAT},? )?{_HOUSE},? {CAP}(?: {CAP}){{0,4}}{AFTER}|"
            rf"(?:(?:via|rua|rue|calle|ul\.|ulica) )?{CAP}(?: (?:de|del|di|da|do|van|"
            rf"{CAP})){{0,5}},? \d{{1,5}}[A-Za-z]?(?:[/-]\d{{1,4}}[a-z]?)?)(?!\w)"
        ),
        is_street,
    ),
)
