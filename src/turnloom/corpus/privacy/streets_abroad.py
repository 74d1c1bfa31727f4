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
            r"[\u3400-\u9fff]{0,12}\d{1,4}(?:(?:丁目|番地?|[-－号號])\d{0,4}){0,3}号?)"
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
        r"gata|vej|gade|tie|katu) ?\d",
        re.compile(
            r"(?<![\w-])(?:(?:[A-ZÄÖÜ][\w-]{1,30} ){1,2}(?i:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|"
            r"ufer)|"
            r"[A-ZÄÖÜÅ][\w-]{1,30}(?:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee|damm|ring|ufer|straat|gracht|laan|"
            r"plein|kade|dijk|singel|dreef|hof|steeg|gatan|vägen|stigen|gränd|gata|vej|veien|vegen|gade|allé|katu|"
            r"tie|kuja))"
            r" ?\d{1,4}(?: ?[a-z]\b)?(?:[-/]\d{1,4}|-(?:hs|bis|[IV]{1,4}))?(?!\w)"
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
