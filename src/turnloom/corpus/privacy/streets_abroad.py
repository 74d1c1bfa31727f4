"""Street addresses as German, Dutch, Nordic, Romance and Asian countries write them."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import Pattern, is_elsewhere

__all__ = ["STREETS_ABROAD"]

_NUMBER_AFTER = r"(?:,? (?:n[º°.]? ?)?\d{1,4}(?: ?[a-zA-Z]\b(?!\.))?(?:[-/]\d{1,4})?)"

STREETS_ABROAD = (
    # Japan and China: districts and blocks.
    Pattern(
        "ADDRESS",
        r"(?i:chome|丁目|番地|[区市町村路街道号號])",
        re.compile(
            r"(?<!\w)(?P<value>\d{1,2}[ -](?i:chome)[ -]\d{1,3}(?:-\d{1,3})?(?: [A-Z][a-z]+)?)|"
            r"(?P<block>(?<![\w])(?:[\u3400-\u9fff]{1,10}[都道府県省市区區縣县町村路街])"
            r"[\u3400-\u9fff]{0,12}\d{1,4}(?:(?:丁目|番地?|[-－號号楼樓栋棟室])\d{0,4}){0,5}号?)"
        ),
    ),
    # Blocks of Japan in Latin letters, houses and roads by number.
    Pattern(
        "ADDRESS",
        r"\d-\d{1,2}-\d{1,2} [A-Z]|\d-\d{1,2} [A-Z]",
        re.compile(
            r"(?<![\w.,#$€£/-])(?P<value>\d{1,2}-\d{1,2}-\d{1,3},? [A-Z][a-z-]{2,20}|\d{1,2}-\d{1,2} "
            r"[A-Z][a-z]{2,20}-(?:cho|machi|ku))(?!\w)"
        ),
        lambda value, before: not is_elsewhere(before[-40:]),
    ),
    Pattern(
        "ADDRESS",
        r"(?i:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|ufer|straat|gracht|laan|plein|kade|dijk|gatan|vägen|"
        r"gata|vej|veien|gade|tie|katu|torg|torget|plads|plass|stræde|backen|allén|allé|gränd|stigen|kuja|singel|dreef|"
        r"hof|steeg|vegen) ?\d",
        re.compile(
            r"(?<![\w-])(?:(?:[A-ZÄÖÜ][\w-]{1,30} ){1,2}(?i:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|"
            r"ufer)|"
            r"[A-ZÄÖÜÅ][\w-]{1,30}(?:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|ufer|straat|gracht|laan|"
            r"plein|kade|dijk|singel|dreef|hof|steeg|gatan|vägen|stigen|gränd|gata|vej|veien|vegen|gade|allén?|katu|"
            r"tie|kuja|torg|torget|plads|plass|stræde|backen))"
            r" ?\d{1,4}(?: ?[a-zA-Z]\b)?(?:[-/]\d{1,4}|-(?:hs|bis|[IV]{1,4}))?(?!\w)"
        ),
    ),
    # Turkish, Hungarian and Romanian: "Gül Sokak No:17 D:5", "Kossuth utca 12.", "Str. Lalelelor nr. 5".
    Pattern(
        "ADDRESS",
        r"(?i:sokak|sok\.|sk\.|sokağı|cadde|cad\.|cd\.|bulvar|mahalle|mah\.)[^\n]*\d|(?i:utca|tér|körút|út) \d|"
        r"(?i:str\.|strada|bd\.|bulevardul|calea|aleea) [^\n]*\d",
        re.compile(
            r"(?<![\w<])(?P<value>(?:[A-ZÇĞİÖŞÜ0-9][\w.]{0,20} ){1,3}(?:(?i:sokak|sok\.|sk\.|sokağı|caddesi|"
            r"cadde|cad\.|"
            r"cd\.|bulvarı|bulvar)[ ,]{1,2}(?:(?i:no|numara) ?[:.]? ?)?\d{1,4}(?:/\d{1,4})?[A-Z]?"
            r"(?:[ ,/]{1,2}(?i:d|daire|kat|k|blok)[ :.]{1,2}\d{1,3}){0,2}|(?:utca|tér|körút|út) \d{1,3}(?!\d)))|"
            r"(?<![\w<])(?P<romanian>(?:Str\.|Strada|Bd\.|Bulevardul|Calea|Aleea) (?:[A-ZĂÂÎȘȚ][\w-]{1,20} ){1,3}?"
            r"(?:(?i:nr\.?|numărul) )?\d{1,4}[A-Z]?(?:, ?(?i:bl|ap|et|sc)\.? ?\w{1,4}){0,4})(?!\w)"
        ),
    ),
    # Asian and Greek streets, and Indian sectors: "Jl. Sudirman No. 25", "테헤란로 152", "H-14, Sector 62".
    Pattern(
        "ADDRESS",
        r"(?:Jl|Jln|Jalan|Leoforos|Odos|Λεωφόρος|Οδός)\.? [^\n]*\d|\d (?i:đường|phố) |[가-힣][로길] ?\d|"
        r", Sector \d|"
        r"(?:náměstí|nám\.|třída|ulice) \d| m\. ?\d",
        re.compile(
            r"(?<![\w<])(?P<value>(?:Jl|Jln|Jalan|Leoforos|Odos|Λεωφόρος|Οδός)\.? (?:[^\W\d_a-z][\w-]{1,20} ){1,3}"
            r"(?:No\.? ?)?\d{1,4}[A-Za-z]?|\d{1,4}[A-Za-z]? (?i:đường|phố)(?: [^\W\d_a-z]\w{1,10}){1,4}|"
            r"[A-Z]-?\d{1,4}, Sector[ -]\d{1,3}[A-Z]?|(?:[^\W\d_a-z]\w{1,20} )(?:náměstí|nám\.|třída|ulice) \d{1,4}|"
            r"[^\W\d_a-z]\w{2,25} \d{1,4}[a-zA-Z]?(?:/\d{1,4})? m\. ?\d{1,4})(?!\w)|"
            r"(?P<korean>[가-힣]{1,8}[로길](?: ?\d{1,3}번길)? ?\d{1,4}(?:-\d{1,4})?)(?![\d%])"
        ),
    ),
    # Polish estates: "os. Tysiąclecia 22/14".
    Pattern(
        "ADDRESS",
        r"(?i:os\.|osiedle|pl\.|plac|al\.) [^\n]*\d",
        re.compile(
            r"(?<![\w<])(?P<value>(?:[Oo]s\.|[Oo]siedle|[Pp]l\.|[Pp]lac|[Aa]l\.) (?:[A-ZĄĆĘŁŃÓŚŹŻ][\w-]{1,20} ){1,3}"
            r"\d{1,4}[a-zA-Z]?(?:/\d{1,4}| m\. ?\d{1,4})?)(?!\w)"
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
            r"(?:(?:de|du|des|la|le|les|d'|de l')[ ]?){0,3}(?:[A-ZÀ-Þ][\w'’-]{1,30})(?: [A-ZÀ-Þ][\w'’-]{1,30}){0,3}|"
            r"(?<![\w.-])(?:Rue|Avenue|Boulevard|Bd|Chemin|Impasse|All[ée]e|Place|Quai|Route|Cours) "
            r"(?:(?:de|du|des|la|le|les|d'|de l')[ ]?){1,3}(?:[A-ZÀ-Þ][\w'’-]{1,30})(?: "
            r"[A-ZÀ-Þ][\w'’-]{1,30}){0,2},? \d{1,4}[a-z]?\b"
        ),
    ),
    Pattern(
        "ADDRESS",
        r"(?i:calle|c/|avenida|av\.|avda|paseo|plaza|via|viale|corso|piazza|vicolo|rua|travessa|praça|ul\.|ulica|"
        r"al\.|aleja|carrera|улица|ул\.)",
        re.compile(
            r"(?<![\w.-])(?:\d{1,4}[A-Za-z]?,? )?(?:(?i:calle|c/|avenida|av\.|avda\.?|paseo|viale|corso|piazza|"
            r"vicolo|rua|travessa|praça|"
            r"ul\.|ulica|aleje|carrera|улица|ул\.)|Via|Plaza) ?"
            r"(?:(?:de|del|di|della|dei|delle|degli|dal|dello|da|do|dos|das|la|las|los|"
            r"el)[ ]){0,3}(?:[A-ZÀ-ÞŁŚŻА-Я][\w'’-]{1,30})(?: (?:de|"
            r"del|da|do|dos|[A-ZÀ-ÞŁŚŻА-Я][\w'’-]{1,30})){0,3}"
            + _NUMBER_AFTER
            + r"(?:,? ?(?:\d{1,2}[º°ª](?: ?(?:izq|dcha|[A-Z]\b))?|(?:apto|ap|piso|bloco|m)\.? ?\d{1,5}))?(?!\w)"
        ),
    ),
)
