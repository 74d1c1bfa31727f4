"""Names where somebody says who they are, or whom they speak of."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.first_names import WORDS_TOO
from turnloom.corpus.privacy.names import (
    CAPITAL,
    FOLLOWS,
    FULL,
    NAME,
    PARTICLES,
    TITLE,
    after,
    is_any,
    is_first_name,
    is_name,
    is_small_name,
    named,
)
from turnloom.corpus.privacy.pattern import asked, hint_of

__all__ = ["INTRODUCTIONS", "INTRODUCTION_HINT"]

_SELF = (
    r"my name is|my name's|this is|i am|i'm|im|it's|its|(?:you )?can call me|call me|speaking with|"
    r"you'?re (?:now )?(?:chatting|speaking|talking) with|you are "
    r"(?:now )?(?:chatting|speaking|talking) with|"
    r"you(?:'ve| have) reached|mein name ist|ich (?:bin|heiße)|je m'appelle|je suis|me llamo|mi nombre es|soy|mi "
    r"chiamo|sono|ik ben|mijn naam is|"
    r"meu nome é|me chamo|aqui é(?: a| o)?|jag heter|nazywam się"
)
_INTRODUCED = (
    r"(?:customer|client|caller|member|student|party|person|family|group|couple)(?! ?:)|(?:booking|booked|reserved|"
    r"reservation|"
    r"registered|filed|listed|it's|its|is|was|be) under|(?:pick-?up |collection |emergency )?(?:person|contact)|"
    r"you(?: were|'re| are)|are you|is (?:this|that)|"
    r"(?:to be|be|is|was|prefers?|got) called|name on (?:the |my |a )?(?:[a-z]{3,15} ){0,2}?[a-z]{3,15}(?: is| was|:)|"
    r"patient|beneficiary|insured|(?:ticket|card|account|policy) ?holder:?|tenant|resident|surname|contact person|"
    r"next of kin|"
    r"lead passenger|passenger(?: \d)?|attn|recipient|payee|spouse|signed(?: for)?(?: by)?|account is under|"
    r"booked under|"
    r"name on (?:the |my )?(?:booking|account|ticket|card|order|policy|reservation) (?:is|should be|was|reads|"
    r"says)|passenger(?: name)? from|"
    r"colleague|(?:agent|manager|supervisor|representative|rep)(?! ?:)|contact name|account holder|passenger(?: "
    r"names?)?|"
    r"guest(?: name)?|(?:first|last|full|sur)?name(?: is)?:|"
    r"wife|husband|son|daughter|brother|sister|mother|father|partner|spoke (?:to|with)|talked (?:to|with)|speaking "
    r"(?:to|with)|(?:speak|talk|transferred|through|connected|assigned|escalated|complained|passed) (?:to|with)|"
    r"ask(?:ed)?(?: for)?|sold by|gran|granny|grandma|grandpa|grandad|grandfather|grandmother|nan|nana|aunt|auntie|"
    r"uncle|cousin|"
    r"niece|nephew|fianc[ée]e?|girlfriend|boyfriend|flatmate|mum|mom|dad|mate|boss|(?:i am|im|i'm|he's|she's|is|"
    r"was) called|(?:his|her|their|your|agent'?s?|"
    r"driver'?s?|wife'?s|husband'?s|son'?s|daughter'?s|whose|contact|the|rep'?s?|child'?s|cardholder) name(?: is| "
    r"was|'s|:)|name was|"
    r"(?:first|last|middle|given|family|maiden) name(?: is| was|'s|:)?|forename|christian name|on behalf of|c/o|"
    r"care of|in the name of|made out to|registered to|belongs to|addressed to|lead guest|"
    r"(?:the|your|a|an|some|that) (?:agent|rep|driver|engineer|technician|advisor|adviser|lady|man|guy) (?:is|was|"
    r"called|named),?|"
    r"(?:assured|advised|informed|served|promised) by|"
    r"helped by|thanks to|shout ?-?out to|kudos to|booking is for|it's under|name of|named|props to"
)


_ASKED = (
    r"(?:your|full|first|last|the|account holder'?s?|caller'?s?|customer'?s?|whose|passenger'?s?|a|my) name|"
    r"name (?:on|of|for|please|in|and)|name|who (?:am i|is this|do i have|'s calling|is calling|are you|did you|do you|"
    r"was|helped|is it)|(?:speaking|talking|chatting) (?:to|with)|surname|forename|(?:shall|should|can|may|do) i "
    r"(?:call|address)"
)
_WORDS_TOO = "|".join(
    name.capitalize()
    for name in sorted(WORDS_TOO - {"may", "summer", "august", "florence", "savannah", "christian", "sky"})
)
_ROLES = (
    r"driver|engineer|technician|courier|nurse|doctor|teacher|plumber|electrician|neighbou?r|landlord|lawyer|"
    r"accountant|"
    r"boss|colleague|manager|agent|rep|advisor|adviser|operator|installer|fitter|guy|man|woman|lady|gentleman|"
    r"person|someone|"
    r"somebody|friend|flatmate|room ?mate|carer|assistant|clerk|steward|stewardess|attendant|host"
)
INTRODUCTION_HINT = hint_of(
    rf"(?:^|[^A-Za-z])(?i:{_SELF}|hi|hey|hello|there) (?:{_WORDS_TOO.lower()})[^A-Za-z]|[a-z] (?:here|"
    rf"speaking)(?:[^a-z]|$)|"
    rf"[iI]s {CAPITAL}[^ ]* (?:still|there|available|around|in|on|working|back|free)|(?:^|[^A-Za-z])(?:mr|mrs|ms|"
    rf"dr)\.? [a-z]|"
    rf"(?:^|[.!?\n] ?)(?:{_WORDS_TOO}) |(?:^|[^A-Za-z])(?i:{_SELF}|{_INTRODUCED}|{TITLE}|{_ROLES}|called|names?|to|"
    rf"with|for|by|and|ask|told|from|i)[ ,:\"“']+\(?{CAPITAL}|"
    rf"{CAPITAL}[^ ]* (?:here|speaking)|<NAME>|[^<]name[ :']|[A-Z][/. -]{{1,2}}[A-Z]"
)
"""Matches whatever one of the patterns can."""
INTRODUCTIONS = (
    asked(
        "NAME",
        _ASKED,
        r"(?=[^\W\d_])[^\W\d_][\w'’-]{1,20}(?: [^\W\d_][\w'’-]{0,20}){0,3}(?=[ ]?(?:[.,!\n\"]|$)| (?:from|here|and|"
        r"speaking|but)\b)",
        is_small_name,
    ),
    # "Herr Lindqvist": the title says it.
    named(
        rf"{TITLE} {CAPITAL}",
        rf"(?<![\w<.])(?=[A-Z])(?P<value>{TITLE} {FULL})(?!\w)",
        lambda value, before: (
            is_name(value.split(" ", 1)[1], before)
            and re.fullmatch(r"Dr\.? (?:Martens|Pepper|Who|Oetker|Scholls?|Dre|Bean)", value) is None
        ),
    ),
    named(
        rf"(?i:{_SELF}) {CAPITAL}",
        after(
            _SELF,
            rf"(?P<value>{NAME}(?: {PARTICLES}{NAME}){{1,3}}{FOLLOWS}|{NAME}(?= ?(?:[,.!?…)–—-]|$)|'s (?:mother|"
            rf"father|mum|mom|"
            rf"dad|wife|"
            rf"husband|son|daughter|partner|assistant|carer|sister|brother)| (?:from|and|with|here|speaking|calling|"
            rf"at|in|today|now|"
            rf"again|not|who|whose|on|the|i|my|your|by|this|writing|texting|back)\b))",
            " ",
        ),
    ),
    named(
        rf"{CAPITAL}[^\s]+ (?:here|speaking)(?:[ ,.!]|$)",
        rf"(?<!\w)(?=[^\W\d_])(?P<value>{NAME}) (?:here|speaking)(?=[ ,.!]|$)",
    ),
    named(
        rf"(?:^|[^A-Za-z])(?i:{_INTRODUCED})[ ,:]+{CAPITAL}",
        after(_INTRODUCED, rf"(?P<value>(?:{TITLE} )?{FULL}){FOLLOWS}", r"[ ,:]{1,2}"),
    ),
    named(
        r"<NAME>,? (?:and|&|\+|not|to|or) ",
        rf"<NAME>,? (?:and|&|\+|not|to|or) (?P<value>{FULL})(?!\w)",
    ),
    named(r"<NAME>[^<]{0,12} not [a-z]", r"<NAME>(?: btw| though)?,? not (?P<value>[a-z]{3,15})(?!\w)", is_first_name),
    named(r"<NAME>, [A-Z]", rf"(?:holder|name|passenger|guest):? <NAME>, (?P<value>{FULL})(?!\w)"),
    named(
        r"(?i:my (?:full |first |last )?name(?: is|'s|s) )[a-z]",
        r"(?<!\w)(?i:my (?:full |first |last )?name(?: is|'s|s)) (?P<value>[a-z][a-z'’-]{1,20}(?: [a-z][a-z'’-]{1,"
        r"20})?)(?=[.,!\n]|$| (?:and|from|i|but|with)\b)",
        is_small_name,
    ),
    # "OYELARAN/FOLAKE MRS", as airlines write it, and "R. Vandersloot".
    named(
        r"[A-Z]/[A-Z]",
        r"(?<![\w/])(?P<value>[A-Z]{2,20}/[A-Z]{2,20} (?:MR|MRS|MS|MISS|MSTR|DR|CHD|INF))(?!\w)",
        is_any,
    ),
    named(
        rf"[A-Z]\. {CAPITAL}[a-z]",
        rf"(?<!\w)(?i:by|with|attendant|agent|captain|driver|says|dr|signed|to|"
        rf"name) [\"'“]?(?P<value>[A-Z]\. {NAME}(?<=\w{{3}}))(?!\w)",
        lambda value, before: is_name(value[3:], before),
    ),
    # Spelled: "Wilhelmina, that's W I L H E L M I N A".
    named(
        r"[A-Z][ -][A-Z][ -][A-Z][ -][A-Z]",
        rf"(?<!\w)(?P<value>{NAME},? (?:that's|thats|spelled|spelt|"
        rf"spelling)[ :,]{{1,2}}[A-Z](?:[ -][A-Z]){{2,20}})(?!\w)",
        is_any,
    ),
    named(rf"(?:^|[ ,])(?i:i), {CAPITAL}", rf"(?<!\w)(?i:i), (?P<value>{NAME}(?: {NAME}){{1,3}}),"),
    # "the driver, Goran, was rude"
    named(
        rf"(?i:{_ROLES}|husband|wife|son|daughter|father|mother|brother|sister|partner), {CAPITAL}",
        after(
            rf"{_ROLES}|husband|wife|son|daughter|father|mother|brother|sister|partner",
            rf"(?P<value>{FULL})(?=[,.!?)]|$)",
            ", ",
        ),
    ),
    # "add Femi Adewale to the booking", "a Leonie Schachtner whom I don't know"
    named(
        rf"(?i:add|remove|put|include|register|insure|rebook|invite) {CAPITAL}",
        after(
            "add|remove|put|include|register|insure|rebook|invite",
            rf"(?P<value>{NAME}(?: {NAME}){{1,3}})(?= (?:to|on|onto|from|as)\b)",
            " ",
        ),
    ),
    named(
        rf"(?:^|[^A-Za-z])an? {CAPITAL}[^ ]+ {CAPITAL}",
        after("an?|one|certain", rf"(?P<value>{NAME} {NAME})(?= who(?:m|se)?\b)", " "),
    ),
    # "Is Parminder still working there?"
    named(
        rf"(?:^|[^A-Za-z])[iI]s {CAPITAL}[^ ]* (?:still|there|available|around|in|on|working|back|free)",
        rf"(?<!\w)[iI]s (?P<value>{NAME}(?: {NAME})?)(?= (?:still (?:working|there|around|with|on|in)|there|"
        rf"available|around|in today|on shift|working|back|free)\b)",
    ),
    # A title in small letters: "dr. feldman".
    named(
        r"(?:^|[^A-Za-z])(?:mr|mrs|ms|dr)\.? [A-Za-z]",
        r"(?<![\w<])(?:mr|mrs|ms|dr)\.? (?P<value>(?!who\b|pepper|visit|appoint|office|note|said|told|and\b|or\b|"
        r"has\b|is\b|was\b|will\b|if\b|for\b|to\b|the\b|a\b|in\b|on\b|at\b|bean)[A-Za-z][a-z'’-]{2,15})(?!\w)",
        lambda value, before: is_small_name(value, before),
    ),
    # "VAN DER MERWE/JACOBUS"
    named(
        r"[A-Z] ?/ ?[A-Z]",
        r"(?<!\w)(?i:name|guest|passenger|pax|traveller|traveler|booked as|under|for)\b[ "
        r"\d:]{1,4}(?P<value>[A-Z]{2,20}(?: [A-Z]{2,20}){0,3} ?/ ?[A-Z]{2,20}(?: [A-Z]{2,20})?)(?!\w)",
        is_any,
    ),
    # As printed on cards and passports: "name reads M DELACROIX-NDIAYE".
    named(
        r"(?:^|[^<A-Z])(?:N|n)ame[^\n]*[A-Z]{2}|(?:^|[^<A-Z])NAME[^>\n]*[A-Z]{2}",
        r"(?<!\w)(?i:(?:card|account|passport|ticket|booking)?\s?(?:holder'?s? )?name)\b[a-z ]{0,25}?(?i: (?:is|was|"
        r"reads|says|as|be|shows)|:)"
        r"(?: as)? [\"“']?(?P<value>[A-Z][A-Z'’-]{0,25}(?: [A-Z][A-Z'’-]{0,25}){1,3})(?!\w)",
        is_any,
    ),
    # Words that are names, too, where only a name can be: "go out to Will", "Mark said".
    named(
        rf"(?:to|with|for|from|by|and|ask|told|called|named|agent|thanks|with) (?:{_WORDS_TOO})[ ,.!?]|"
        rf"(?:to|with|for|from|by|and|ask|told|called|named|agent|thanks) (?:{_WORDS_TOO})$",
        rf"(?<!\w)(?:to|with|for|from|by|and|ask|told|called|named|agent|thanks) (?P<value>{_WORDS_TOO})"
        r"(?=[,.!?]|$| (?:or|and|from|at|in|who|yesterday|today|again|on|said|told|he|she|about|for|last|this)\b)",
        is_any,
    ),
    named(
        rf"(?:^|[.!?\n] ?)(?:{_WORDS_TOO}) [a-z]",
        rf"(?:(?<=[.!?\n] )|(?<![^\n]))(?P<value>{_WORDS_TOO})(?= (?:said|told|promised|will|has|had|helped|was|"
        rf"called|sent|assured|from|and i|here)\b)",
        lambda value, before: value not in ("Will", "Chase", "Hope", "Drew", "Bill", "Art", "Penny", "Sky", "Faith"),
    ),
    # "hi im hope, got a text", "grace here again"
    named(
        rf"(?:^|[^A-Za-z])(?:im|i'm|its|it's|this is|my name is|hi|hey|hello|there) (?:{_WORDS_TOO.lower()})[^A-Za-z]",
        rf"(?<!\w)(?i:hi|hey|hello|hey there|hi there)?,? ?(?i:im|i'm|its|it's|this is|my name is) "
        rf"(?P<value>{_WORDS_TOO.lower()})"
        rf"(?=,| (?:here|from|speaking|calling|again)\b)|"
        rf"(?:(?<=hi )|(?<=hey )|(?<=there )|(?<=its )|(?<=hello ))(?P<here>{_WORDS_TOO.lower()})(?= (?:here|"
        rf"speaking|calling)\b)",
        is_any,
    ),
    # "he's out, Sunniva could help you"
    named(
        rf"[a-z], {CAPITAL}[^ ]* (?:could|can|will|would)",
        rf"(?<=[a-z]), (?P<value>{NAME})(?= (?:could|can|will|would) (?:help|call|assist|pick|take over|look)\b)",
    ),
    # In small letters: "jess here", "dave from accounts here".
    named(
        r"(?:^|[^A-Za-z])[a-z]+ (?:here|speaking)(?:[ ,.!]|$)",
        r"(?<![\w<@#])(?P<value>[a-z]{3,15}) (?=(?:here|speaking)(?:[ ,.!]|$))",
        is_first_name,
    ),
)
