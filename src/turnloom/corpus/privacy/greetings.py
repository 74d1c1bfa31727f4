"""Names where a chat puts them: after a greeting, a thanks, in a signature.

Any other name needs a language model: `scrub_names`.
"""

from __future__ import annotations

import re

from turnloom.corpus.privacy.first_names import FIRST_NAMES, WORDS_TOO
from turnloom.corpus.privacy.names import (
    CAPITAL,
    FOLLOWS,
    FULL,
    NAME,
    STOP,
    TITLE,
    after,
    is_any,
    is_first_name,
    is_name,
    is_small_name,
    named,
)

__all__ = ["COMMON_NAMES", "GREETINGS", "GREETING_HINT", "SMALL_HINT", "SMALL_NAMES"]

_HELLO = (
    r"hi|hello|hey|dear|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|welcome(?: back)?|bonjour|"
    r"bonsoir|salut|ch[eè]re?|guten (?:tag|morgen|abend)|"
    r"hallo|moin|liebe[rs]?|sehr geehrte[rs]?|hola|buen[oa]s (?:d[íi]as|tardes|noches)|estimad[oa]|querid[oa]|"
    r"ol[áa]|bom dia|boa (?:tarde|noite)|ciao|buongiorno|"
    r"buonasera|gentile|goedemorgen|goedemiddag|goedenavond|beste|geachte|hej|cześć|dzień dobry"
)
_THANKS = (
    r"thanks?(?: you| so much| a lot| again| very much){0,3}(?: (?:for|to) [a-z' ]{1,40}?)?|ty|cheers|no "
    r"(?:worries|problem)|"
    r"(?:so |very |we're |i'm )?(?:sorry|glad|happy)[a-z' ]{0,40}?|"
    r"you'?re (?:very |most |so )?welcome|(?:we |i )?appreciate[a-z' ]{0,40}?|(?:my |our )?apologies[a-z' ]{0,40}?|"
    r"(?:we |i )?apologi[sz]e[a-z' ]{0,40}?|"
    r"anytime|my pleasure|understood|got it|absolutely|certainly|of course|sure(?: thing)?|congrats|"
    r"congratulations|great|(?:nice|good|great) (?:one|work|job|stuff)|well done|ta|brilliant|bless you|legend|bye|"
    r"goodbye|"
    r"see you|speak soon|any (?:news|update|luck)|still there|hang on|bear with me|listen|look|right|thank god|"
    r"no rush|nope?|yes|yeah|ok(?:ay)?|alright|so|well|much appreciated|great|perfect|awesome|enjoy[a-z' ]{0,40}?|"
    r"have a [a-z' ]{1,30}?|happy birthday|we (?:hear|understand)[a-z' ]{0,40}?|is there anything[a-z' ]{0,40}?|"
    r"hope[a-z' ]{0,40}?|gracias|merci|danke|obrigad[oa]|grazie"
)
_CLOSINGS = (
    r"(?:kind|best|warm|warmest|many)?\s?regards|best(?: wishes)?|yours? (?:sincerely|faithfully|truly)|"
    r"sincerely(?: yours)?|cheers|cordialement|bien à vous|"
    r"(?:mit )?(?:freundlichen|besten|lieben|herzlichen) gr(?:ü|ue)(?:ß|ss)en|(?:liebe|viele|beste|herzliche) "
    r"gr(?:ü|ue)(?:ß|ss)e|lg|mfg|vg|saludos(?: cordiales)?|"
    r"un saludo|atentamente|atenciosamente|abraços|cordiali saluti|distinti saluti|saluti|met vriendelijke "
    r"groet(?:en)?|groetjes|pozdrawiam|signed|thank you|"
    r"thanks(?: again)?|thx|take care|respectfully|xoxo|love|ta|x{1,3}|hugs|all the best|bw|rgds|kr|br|many thanks|"
    r"speak soon|"
    r"talk soon|tia|thank you (?:so much|very much|in advance)|thanks in advance|peace|yours|from|sent by|written "
    r"by|posted by|"
    r"bis bald|gruß|grüße|mvg|cdlt|hälsningar|mvh|hilsen|terveisin"
)
_BEFORE_A_NAME = "you|too|board|[kK]udos|feedback|this|that|there|patience|now|today|again|it|here|go|out"
_PRAISE = (
    r"nice one|good one|well done|top (?:man|work)|ta|you(?:'re| are) (?:a|the) (?:star|legend|best|gem)|bye|"
    r"goodbye|see you|"
    r"still there|are you there|over to you|hang on|yo|oi|alright|sup|(?:thanks|thank you|thx)(?: so much| very much|"
    r" a lot| again| a million| loads| heaps| a bunch)|love you|good luck|happy birthday|god bless|morning|evening|"
    r"afternoon"
)
_GOES_ON = (
    "could|can|would|please|may|do|did|are|we|i|my|our|sorry|very|thanks|thank|let|that|have|it|you|your|this|what|if"
)
COMMON_NAMES = rf"(?:^|[^A-Za-z])(?:{'|'.join(sorted(name.capitalize() for name in FIRST_NAMES))})(?:[^A-Za-z]|$)"
_SPOKEN_TO = rf"{_HELLO}|ok|okay|thanks|thank you|cheers|sorry|bye|alright|right|morning|thx"
_RATHER_WORDS = WORDS_TOO - frozenset(
    "carol nick jack jasmine stan sid tess tilly lou victor norm gene eve sue".split()
)
_NAME_WORDS = "|".join(
    name.capitalize()
    for name in sorted(WORDS_TOO - {"sky", "chase", "summer", "christian", "florence", "savannah", "august"})
)
GREETING_HINT = (
    rf" (?:{_NAME_WORDS})[,.!?]|for [a-z ]+ {CAPITAL}|"
    rf"\n|(?i:regards|best|cheers|sincerely|rgds|br|love|xx),? [a-z]+[^a-z]*[a-z-]*[^a-z]*$|[*^~/–—,-] ?{CAPITAL}|"
    rf"(?:{_BEFORE_A_NAME}) {CAPITAL}|(?:^|[.!?>\n] ?){CAPITAL}[^\s,]+[,!] |"
    rf"(?i:thanks|thank you) {CAPITAL}|(?:^|[^A-Za-z])(?i:{_HELLO}|{_CLOSINGS}|{_PRAISE}|thx|cheers|sorry|welcome)[ "
    rf",:.!-]+\(?{CAPITAL}|"
    rf"(?:sorry|[tT]hanks|[tT]hank you) for [a-z' ]+ {CAPITAL}|(?:^|[^a-z])(?i:{_HELLO})[ ,:]+[a-z]"
)
"""Matches whatever one of the patterns can; their own hints together are too much for RE2."""
_SMALL = (
    r"thx|thanks|thank you|ty|cheers|ok|okay|sorry|spoke (?:to|with)|talked (?:to|with)|speaking (?:to|with)|"
    r"this is|its|it's|im|i'm|i am|"
    r"my name is|morning|evening|named|hiya|yo|love|regards|ask for"
)

SMALL_HINT = rf"(?:^|[^A-Za-z])(?i:{_SMALL}),? [a-z]"
_LOWER = "|".join(sorted(FIRST_NAMES))
SMALL_NAMES = rf"(?:^|[^A-Za-z])(?i:{_SMALL}),? (?:{_LOWER})(?:[^A-Za-z]|$)"
_WORDS_TOO = "|".join(sorted(WORDS_TOO))


_PRODUCTS = (
    r"candles?|bottles?|watch(?:es)?|wallpapers?|syrup|sauce|soap|shoes?|boots?|trainers|sneakers|jeans|dress(?:es)?|"
    r"shirts?|jackets?|coats?|bags?|perfume|lipstick|sofas?|couch|chairs?|tables?|lamps?|mattress|rugs?|curtains?|"
    r"guitars?|dolls?|figures?|novels?|collection|fabric|paint|tea|coffee|cookies?|ice cream|beer|wine|pizza|burgers?|"
    r"knives|pans?|font|plugin|necklace|earrings|bracelet|bedding|duvet|pillows?|socks|recipe|cookbook|hoover|vacuum|scarf|gloves|belt|sunglasses|mug"
)

_BRANDED = re.compile(
    r"[A-Z]\w+ & $|[a-z,] (?!Agent|Nurse|Aunt|Uncle|Captain|Officer|Sister|Brother|Grand|Coach|Judge|Sir|Lady|"
    r"Lord|Mr|Mrs|"
    r"Ms|Miss|Dr|Prof|Rev)[A-Z][a-z]{3,15} $"
)
_FLOWERS = frozenset("amber dahlia daisy heather iris ivy jasmine lily olive pearl poppy rose ruby violet".split())


def _is_thing(value: str, before: str) -> bool:
    """Whether a name is more likely a word or a brand: at the start of a sentence, or after another one and "&"."""
    starts = value.lower() in _RATHER_WORDS and re.search(r"(?:^|[.!?\n])\s*$", before) is not None
    return starts or value.lower() in _FLOWERS or _BRANDED.search(before) is not None


GREETINGS = (
    named(
        rf"(?:^|[^a-z])(?i:{_HELLO})[ ,:\n]+[A-Za-zÀ-Þ]",
        after(
            _HELLO,
            rf"(?:there |again )?(?P<value>{FULL}{STOP}|{NAME}{FOLLOWS}|[A-Z]{{2,4}}(?=[,.!])|"
            rf"[a-z][a-z'’-]{{1,20}}{FOLLOWS})",
        ),
        lambda value, before: is_name(value, before) if value[0].isupper() else is_first_name(value, before),
    ),
    named(
        rf"(?i:thank|cheers|worries|problem|sorry|glad|happy|welcome|appreciate|apolog|anytime|pleasure|understood|"
        rf"got it|absolutely|certainly|of course|sure|"
        rf"congrat|great|perfect|awesome|enjoy|have a|hear|understand|anything|hope|gracias|merci|danke|obrigad|"
        rf"grazie|ty)[a-z' ]*, ?{CAPITAL}",
        after(_THANKS, rf"(?P<value>(?:{TITLE} )?{FULL}){STOP}", " ?, ?"),
    ),
    named(
        rf"(?i:thanks|thank you|thanks again|sorry|welcome|cheers),? {CAPITAL}",
        after("thanks|thank you|thanks again|sorry|welcome|cheers", rf"(?P<value>{NAME}){FOLLOWS}", ",? "),
        is_first_name,
    ),
    # "Hi Will, will you", "Ok May, I've": nothing but a name is spoken to like this.
    named(
        rf" (?:{_NAME_WORDS})[,.!?]",
        after(_SPOKEN_TO, rf"(?P<value>{_NAME_WORDS})(?=[,.!?](?:\s|$))", ",? "),
        is_any,
    ),
    # "Thank you for your help Sandra."
    named(
        rf"for [a-z ]+ {CAPITAL}",
        rf"(?<![\w<])(?i:thanks|thank you|thx|cheers|ty)(?: so much| very much| a lot| again| a million)? for "
        rf"(?:(?:all )?(?:your|the|ur|that|this|being|getting)(?: [a-z]{{2,12}}){{1,3}}|helping(?: me| us)?(?: out)?) "
        rf"(?<! to )(?<! in )(?<! at )(?<! from )(?P<value>{NAME}){STOP}",
    ),
    named(
        rf"(?i:thanks|thank you) {CAPITAL}[^\s!]+(?: [^\s!]+)?!",
        after("thanks|thank you", rf"(?P<value>{NAME}(?: {NAME})?)(?=!)", " "),
    ),
    # Addressed in passing: "We appreciate it, Jamal." and "Aoife, could you".
    named(rf"[a-z], ?{CAPITAL}", rf"[a-z], ?(?P<value>{NAME})(?= ?(?:[.!?…]|$))"),
    named(
        rf"(?:{_BEFORE_A_NAME}) {CAPITAL}",
        rf"(?<=[a-z] )(?:{_BEFORE_A_NAME}) (?P<value>{NAME})(?=!)",
    ),
    named(
        rf"(?:^|[.!?>\n] ?){CAPITAL}[^\s,]+[,!] ",
        rf"(?:^|[.!?>\n] ?)(?P<value>{NAME})(?=[,!] )",
        lambda value, before: is_first_name(value, before) or "'" in value,
    ),
    named(
        rf"(?:^|[.!?>\n] ?){CAPITAL}[^\s,]+, (?i:{_GOES_ON})",
        rf"(?:^|[.!?>\n] ?)(?P<value>{NAME})(?=, (?i:{_GOES_ON})[ '’])",
        lambda value, before: is_name(value, before) and not value.lower().endswith(("ly", "ing", "ed", "day", "ally")),
    ),
    named(
        rf"(?i:{_CLOSINGS}) ?[,.!\n-]\s*\(?{CAPITAL}",
        after(_CLOSINGS, rf"\(?(?P<value>(?:{TITLE}\)? )?{FULL})(?=[\s.,!]|$)", r" ?[,.!\n-]\s{0,3}"),
    ),
    # Agents' signatures: "*HSD", "^AB", "-Jenna", "/MK" at the end or before a link or a count.
    named(
        rf"[*^] ?{CAPITAL}",
        r"[*^] ?(?P<value>[A-Z]{1,4}(?: [A-Z](?= ?$))?|[A-Z][a-z]{1,15}(?: ?[A-Z]\.?)?)"
        r"(?![\w*^])",
        lambda value, before: value.isupper() or is_name(value, before),
    ),
    named(
        rf"[~/–—-] ?{CAPITAL}[^-/]*(?:$|[.!]|http|<URL>|\d/\d|, (?:Cust|Supp|Team))",
        rf"(?:(?<=[\s.!?)])|(?<![^\n]))[~/–—-]{{1,2}} ?(?P<value>[A-Z]{{2,3}}(?!\.)|{NAME}(?: {NAME}|\ [A-Z]\.?)?)"
        r"(?=\s*(?:$|[.!]$|https?:|<URL>|\(?\d/\d|, (?:Customer|Support|Team|[A-Z][a-z]+ [A-Z][a-z]+$)))",
    ),
    # "regards ahmed el-masry"
    named(
        r"(?i:regards|best|cheers|sincerely|rgds|br|love|xx),?\s[a-z]+[^a-z]*[a-z-]*[^a-z]*$",
        r"(?<![\w<])(?i:regards|best|cheers|sincerely|rgds|br|love|"
        r"xx)[, \n]{1,2}(?P<value>[a-z]{2,12} [a-z][a-z'’-]{1,18})"
        r"\W{0,3}\Z",
        is_first_name,
    ),
    # In small letters, where only a name can be.
    named(
        SMALL_NAMES,
        after(_SMALL, rf"(?P<value>[a-z][a-z'’-]{{1,20}}){FOLLOWS}", r",? "),
        is_first_name,
    ),
    named(
        r"\n ?[-–~]{1,2} ?[a-z]",
        r"(?<=[a-z!.,])\n{1,2} ?[-–~]{1,2} ?(?P<value>[a-z]{3,12})(?=\s*$)",
        is_small_name,
    ),
    named(
        rf"(?i:wishes|regards|cheers|thanks|thx) {CAPITAL}",
        rf"(?<!\w)(?i:best wishes|(?:kind|best|warm) regards|regards|cheers|thanks|"
        rf"thx) (?P<value>{NAME}(?: {NAME})?)(?= and {NAME}\W*$|\W{{0,2}}$)",
    ),
    named(
        rf"(?i:sorry|thanks|thank you) for [a-z' ]+ {CAPITAL}",
        rf"(?<!\w)(?i:sorry|thanks|thank you) for [a-z' ]{{3,40}}? (?<!our )(?<!your )(?<!the )(?<!my )(?P<value>"
        rf"{NAME})(?=, (?:we|I|you|did|the|can|please|your|it|that|this)\b)",
    ),
    # "Nice one Kev, it works", "thank you so much Lerato!"
    named(
        rf"(?i:{_PRAISE}),? {CAPITAL}",
        after(_PRAISE, rf"(?P<value>{NAME}(?: {NAME})?)(?=(?: x{{1,4}})? ?(?:[,.!?;…\n]|$))", ",? "),
    ),
    # "thx Bev ur a star"
    named(
        rf"(?i:thanks|thank you|thx|ty|ta) {CAPITAL}[^ ]* [a-z]",
        after(
            "thanks|thank you|thx|ty|ta",
            rf"(?P<value>{NAME})(?= (?:ur|you|u|ya|x{{1,3}}|that|this|i|it|we|so|but|for|your?)\b)",
            " ",
        ),
    ),
    # "best, jo"
    named(
        r"(?i:regards|best|cheers|sincerely|rgds|br|love|xx),?\s[a-z]+[^a-z]*$",
        r"(?<![\w<])(?i:regards|best|cheers|sincerely|rgds|br|love|xx)[,\n] ?(?P<value>[a-z]{2,12})(?: "
        r"x{1,4})?\W{0,3}\Z",
        is_small_name,
    ),
    # A last line of one to three names.
    named(
        r"\n[^\n]{1,40}$",
        rf"[.!?,)]\s{{0,2}}\n\s{{0,2}}[-–~]{{0,2}} ?(?P<value>{NAME}(?: {NAME}){{0,2}})(?: x{{1,4}})?\W{{0,3}}\Z",
    ),
    named(
        rf"(?:Morning|Evening|Afternoon|Yo),? {CAPITAL}",
        rf"(?:^|[.!?>\n] ?)(?:Morning|Evening|Afternoon|Yo),? (?P<value>{NAME})(?=[,.!])",
    ),
    # Common first names, wherever they are.
    named(
        COMMON_NAMES,
        rf"(?<![\w<@#])(?={CAPITAL})(?<!the )(?<!The )(?<!San )(?<!Sao )(?<!São )(?<!Santa )(?<!St )(?<!St\. "
        rf")(?<!Saint )(?<!Por"
        rf"t )(?<!Fort )(?<! an )(?<! a )(?<!new )(?<!these )(?<!your )(?<!\d x )(?<!\dx )(?<![Bb]ot )(?<! one )"
        rf"(?<! two )"
        rf"(?=[^\W\d_])(?P<value>{FULL})(?![\w]|['’]t| & {CAPITAL}\w+(?:['’]s| [a-z])| {CAPITAL}[a-z])"
        r"(?! (?:[A-Z]\w+ )?(?:Day|Airport|International|Street|Avenue|Road|Blvd|Center|Centre|Hotel|Stadium|Park|"
        r"Inc|Bank|of all|feedback|advice|opinion|answers?|talk|discussion|conversation|exchange|room|tower|"
        r"release)\b)"
        rf"(?! (?:[a-z]+ )?(?:{_PRODUCTS})\b)",
        lambda value, before: is_first_name(value, before) and not _is_thing(value, before),
    ),
)
