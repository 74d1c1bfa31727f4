"""Names where a chat puts them: after a greeting, in a signature, where somebody says who they are.

Any other name needs a language model: `scrub_names`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from turnloom.corpus.privacy.first_names import FIRST_NAMES
from turnloom.corpus.privacy.pattern import Pattern

__all__ = ["COMMON_NAMES", "GREETINGS", "GREETING_HINT"]

_NAME = (
    r"(?:[OD]['’](?=[A-Z]))?[A-ZÀ-ÖØ-ÞŁŚŻŽČĆÇŞİ](?:[a-zà-öø-ÿąćęłńśźżčšžřěůğışőű]{1,20}|"
    r"\.)(?:['’-]?[A-Z][a-zà-öø-ÿ]{1,20}|"
    r"-[a-zà-öø-ÿ]{1,20})?"
)
_FULL = rf"{_NAME}(?: (?:(?:de|del|van|von|der|den|da|dos|al|bin|la) ){{0,2}}{_NAME}){{0,3}}"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herr|Herrn|Frau|Madame|Monsieur|Mme|Señora|Señor|Sra|Sr|Sig|Signor|Signora|"
    r"Sig\.ra|Mevrouw|Meneer|Pan|Pani)\.?"
)
_NO_NAMES = frozenset(
    """
    there team all everyone everybody guys folks friend friends again sir madam customer customers customer's
    support service you your yours the this that these those we i it its it's i'm i've i'd for and or but so if in
    on at of to as is are was be my our good morning afternoon evening day night world kitty please thanks thank
    sorry hello hi hey dear welcome yes no not now just can could would will do does did what when where why who how
    have has had let lets we'll we're we've you're they he she her his their there's that's here today tomorrow
    yesterday monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december happy glad great nice best kind regards with from also still any
    anyone someone one two three first back much very lot another more most agent representative rep account order
    flight delta united american southwest jetblue alaska virgin british airways lufthansa amazon google apple
    microsoft samsung facebook twitter instagram paypal netflix spotify uber airlines airline dm dms us usa uk eu pm
    am ok okay oh well then alright sure absolutely certainly mr mrs ms done sent paid gone found made ready seen
    left lost wait look listen anyway besides instead therefore thus hence alas siri alexa cortana bot assistant
    admin moderator manager ladies gentlemen mom dad bro dude man buddy everything each both dm'd however also
    meanwhile otherwise indeed correct further furthermore perhaps next apologies yikes ouch wow hmm ugh regardless
    definitely until once while though although since because after before during during per unless additionally
    hopefully currently usually likely maybe true right exactly agreed awesome fantastic excellent amazing wonderful
    cool fine yep yeah yup nope passenger traveler traveller flyer valued ma'am maam santa god lord jesus christ
    christmas new year easter thanksgiving crew tweet jets people employee partners
    """.split()
)
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
    r"congratulations|great|perfect|awesome|enjoy[a-z' ]{0,40}?|"
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
    r"thanks(?: again)?|thx|take care|respectfully|xoxo|love"
)
_SELF = (
    r"my name is|my name's|this is|i am|i'm|im|it's|its|(?:you )?can call me|call me|speaking with|"
    r"you'?re (?:now )?(?:chatting|speaking|talking) with|you are "
    r"(?:now )?(?:chatting|speaking|talking) with|"
    r"you(?:'ve| have) reached|mein name ist|ich (?:bin|heiße)|je m'appelle|je suis|me llamo|mi nombre es|soy|mi "
    r"chiamo|sono|ik ben|mijn naam is|"
    r"meu nome é|me chamo|aqui é(?: a| o)?|jag heter|nazywam się"
)
_INTRODUCED = (
    r"patient|beneficiary|insured|(?:ticket|card|account|policy) ?holder:?|tenant|resident|surname|contact person|"
    r"next of kin|"
    r"lead passenger|passenger(?: \d)?|attn|recipient|payee|spouse|signed(?: for)?(?: by)?|account is under|"
    r"booked under|"
    r"name on (?:the |my )?(?:booking|account|ticket|card|order|policy|reservation) (?:is|should be|was|reads|"
    r"says)|passenger(?: name)? from|"
    r"colleague|agent|manager|supervisor|representative|rep|contact name|account holder|passenger(?: names?)?|"
    r"guest(?: name)?|(?:first|last|full|sur)?name(?: is)?:|"
    r"wife|husband|son|daughter|brother|sister|mother|father|partner|spoke (?:to|with)|talked (?:to|with)|speaking "
    r"(?:to|with)|ask(?:ed)? for|sold by|"
    r"helped by|thanks to|shout ?-?out to|kudos to|especially|booking is for|it's under|name of|named|props to"
)


def _is_name(value: str, before: str) -> bool:
    """Whether the first word of what is written like a name can be one."""
    return re.split(r"[ .]", value.lower())[0] not in _NO_NAMES


def _is_first_name(value: str, before: str) -> bool:
    return re.split(r"[ ]", value.lower())[0] in FIRST_NAMES


_CAPITAL = r"[A-ZÀ-ÞŁŚŻŽČĆÇŞİ]"
_GOES_ON = (
    "could|can|would|please|may|do|did|are|we|i|my|our|sorry|very|thanks|thank|let|that|have|it|you|your|this|what|if"
)
_STOP = r"(?= ?(?:[,.!?:;…\n)–—]|-|$|http|<|[\U0001F300-\U0001FAFF☀-➿]))"
_FOLLOWS = r"(?=[\s,.!?:;…)–—-]|$)"


def _after(cues: str, value: str, gap: str = r"[ ,:\n]{1,3}") -> re.Pattern[str]:
    return re.compile(rf"(?<![\w<@#])(?=\w)(?i:{cues})(?:{gap}){value}")


def _named(hint: str, shape: re.Pattern[str] | str, check: Callable[[str, str], bool] = _is_name) -> Pattern:
    return Pattern("NAME", hint, re.compile(shape), check, digits=False)


_BEFORE_A_NAME = "you|too|board|[kK]udos|feedback|this|that|there|patience|now|today|again|it|here|go|out"
COMMON_NAMES = rf"(?:^|[^A-Za-z])(?:{'|'.join(sorted(name.capitalize() for name in FIRST_NAMES))})(?:[^A-Za-z]|$)"
GREETING_HINT = (
    rf"(?:Morning|Evening|Afternoon|Yo),? {_CAPITAL}|\?\s+[A-Za-z]+: |\n ?[-–~]{{1,2}} ?[a-z]|"
    rf"[A-Z][/. -]{{1,2}}[A-Z]|(?i:thx|thanks|ty|cheers|ok|spoke|im|its|call me|patient|name) [A-Za-z]|"
    rf"[*^~/–—,-] ?{_CAPITAL}|<NAME> |(?:{_BEFORE_A_NAME}) {_CAPITAL}|(?:^|[.!?>\n] ?){_CAPITAL}[^\s,]+[,!] |"
    rf"(?:^|[^A-Za-z])(?i:{_HELLO}|{_INTRODUCED}|{_CLOSINGS}|{_SELF}|{_TITLE}|sorry|welcome|here|speaking)[ ,:.!\n-]"
)
"""Matches whatever one of the patterns can; their own hints together are too much for RE2."""

_SMALL = (
    r"thx|thanks|thank you|ty|cheers|ok|okay|sorry|spoke (?:to|with)|talked (?:to|with)|speaking (?:to|with)|"
    r"this is|its|it's|im|i'm|i am|"
    r"my name is|morning|evening|named|hiya|yo|love|regards|ask for"
)


def _is_small_name(value: str, before: str) -> bool:
    """Whether words that answer to a name are one, and not about it."""
    return not _NO_NAMES & set(value.lower().split()) and not _ABOUT_NAMES & set(value.lower().split())


def _is_any(value: str, before: str) -> bool:
    return True


_ABOUT_NAMES = frozenset(
    "spelled spelt misspelled misspelt wrong incorrect missing different changed spelling listed under "
    "registered showing same correct "
    "visible hidden long short required needed too being written there here blocked sure nobody none".split()
)
GREETINGS = (
    # "Herr Lindqvist": the title says it.
    _named(
        rf"{_TITLE} {_CAPITAL}",
        rf"(?<![\w<.])(?=[A-Z])(?P<value>{_TITLE} {_FULL})(?!\w)",
        lambda value, before: _is_name(value.split(" ", 1)[1], before),
    ),
    _named(
        rf"(?:^|[^a-z])(?i:{_HELLO})[ ,:\n]+[A-Za-zÀ-Þ]",
        _after(
            _HELLO,
            rf"(?:there |again )?(?P<value>{_FULL}{_STOP}|{_NAME}{_FOLLOWS}|[A-Z]{{2,4}}(?=[,.!])|"
            rf"[a-z][a-z'’-]{{1,20}}{_FOLLOWS})",
        ),
        lambda value, before: _is_name(value, before) if value[0].isupper() else _is_first_name(value, before),
    ),
    _named(
        rf"(?i:thank|cheers|worries|problem|sorry|glad|happy|welcome|appreciate|apolog|anytime|pleasure|understood|"
        rf"got it|absolutely|certainly|of course|sure|"
        rf"congrat|great|perfect|awesome|enjoy|have a|hear|understand|anything|hope|gracias|merci|danke|obrigad|"
        rf"grazie|ty)[a-z' ]*, ?{_CAPITAL}",
        _after(_THANKS, rf"(?P<value>(?:{_TITLE} )?{_FULL}){_STOP}", " ?, ?"),
    ),
    _named(
        rf"(?i:thanks|thank you|thanks again|sorry|welcome|cheers),? {_CAPITAL}",
        _after("thanks|thank you|thanks again|sorry|welcome|cheers", rf"(?P<value>{_NAME}){_FOLLOWS}", ",? "),
        _is_first_name,
    ),
    _named(
        rf"(?i:thanks|thank you) {_CAPITAL}[^\s!]+(?: [^\s!]+)?!",
        _after("thanks|thank you", rf"(?P<value>{_NAME}(?: {_NAME})?)(?=!)", " "),
    ),
    # Addressed in passing: "We appreciate it, Jamal." and "Aoife, could you".
    _named(rf"[a-z], ?{_CAPITAL}", rf"[a-z], ?(?P<value>{_NAME})(?= ?(?:[.!?…]|$))"),
    _named(
        rf"(?:{_BEFORE_A_NAME}) {_CAPITAL}",
        rf"(?<=[a-z] )(?:{_BEFORE_A_NAME}) (?P<value>{_NAME})(?=!)",
    ),
    # Common first names, wherever they are.
    _named(
        COMMON_NAMES,
        rf"(?<![\w<@#])(?<!the )(?<!The )(?<!San )(?<!Sao )(?<!São )(?<!Santa )(?<!St )(?<!St\. )(?<!Saint )(?<!Por"
        rf"t )(?<!Fort )"
        rf"(?=[^\W\d_])(?P<value>{_FULL})(?![\w]|['’]t)"
        r"(?! (?:[A-Z]\w+ )?(?:Day|Airport|International|Street|Avenue|Road|Blvd|Center|Centre|Hotel|Stadium|Park|"
        r"Inc|Bank|of all|feedback|room|tower|release)\b)",
        _is_first_name,
    ),
    _named(
        rf"(?:^|[.!?>\n] ?){_CAPITAL}[^\s,]+[,!] ",
        rf"(?:^|[.!?>\n] ?)(?P<value>{_NAME})(?=[,!] )",
        lambda value, before: _is_first_name(value, before) or "'" in value,
    ),
    _named(
        rf"(?:^|[.!?>\n] ?){_CAPITAL}[^\s,]+, (?i:{_GOES_ON})",
        rf"(?:^|[.!?>\n] ?)(?P<value>{_NAME})(?=, (?i:{_GOES_ON})[ '’])",
        lambda value, before: (
            _is_name(value, before) and not value.lower().endswith(("ly", "ing", "ed", "day", "ally"))
        ),
    ),
    _named(
        rf"(?i:{_CLOSINGS}) ?[,.!\n-]\s*{_CAPITAL}",
        _after(_CLOSINGS, rf"(?P<value>{_FULL})(?=[\s.,!]|$)", r" ?[,.!\n-]\s{0,3}"),
    ),
    # Agents' signatures: "*HSD", "^AB", "-Jenna", "/MK" at the end or before a link or a count.
    _named(
        rf"[*^] ?{_CAPITAL}",
        r"[*^] ?(?P<value>[A-Z]{1,4}(?: [A-Z](?= ?$))?|[A-Z][a-z]{1,15}(?: ?[A-Z]\.?)?)"
        r"(?![\w*^])",
    ),
    _named(
        rf"[~/–—-] ?{_CAPITAL}[^-/]*(?:$|[.!]|http|<URL>|\d/\d|, (?:Cust|Supp|Team))",
        rf"(?:(?<=[\s.!?)])|(?<![^\n]))[~/–—-]{{1,2}} ?(?P<value>[A-Z]{{2,3}}|{_NAME}(?: {_NAME}|\ [A-Z]\.?)?)"
        r"(?=\s*(?:$|[.!]$|https?:|<URL>|\(?\d/\d|, (?:Customer|Support|Team)))",
    ),
    _named(
        rf"(?i:{_SELF}) {_CAPITAL}",
        _after(
            _SELF,
            rf"(?P<value>{_NAME}(?: {_NAME}){{1,3}}{_FOLLOWS}|{_NAME}(?= ?(?:[,.!]|$)| (?:from|and|with|here|"
            rf"speaking|calling|at|in|today|now)\b))",
            " ",
        ),
    ),
    _named(
        rf"{_CAPITAL}[^\s]+ (?:here|speaking)(?:[ ,.!]|$)",
        rf"(?<!\w)(?=[^\W\d_])(?P<value>{_NAME}) (?:here|speaking)(?=[ ,.!]|$)",
    ),
    _named(
        rf"(?:^|[^A-Za-z])(?i:{_INTRODUCED})[ ,:]+{_CAPITAL}",
        _after(_INTRODUCED, rf"(?P<value>(?:{_TITLE} )?{_FULL}){_FOLLOWS}", r"[ ,:]{1,2}"),
    ),
    _named(
        r"<NAME>,? (?:and|&|\+|not) ",
        rf"<NAME>,? (?:and|&|\+|not) (?P<value>{_FULL})(?!\w)",
    ),
    _named(r"<NAME>, [A-Z]", rf"(?:holder|name|passenger|guest):? <NAME>, (?P<value>{_FULL})(?!\w)"),
    # In small letters, where only a name can be.
    _named(
        rf"(?i:{_SMALL}) [a-z]",
        _after(_SMALL, rf"(?P<value>[a-z][a-z'’-]{{1,20}}){_FOLLOWS}", r",? "),
        _is_first_name,
    ),
    _named(
        r"(?i:my (?:full |first |last )?name(?: is|'s|s) )[a-z]",
        r"(?<!\w)(?i:my (?:full |first |last )?name(?: is|'s|s)) (?P<value>[a-z][a-z'’-]{1,20}(?: [a-z][a-z'’-]{1,"
        r"20})?)(?=[.,!\n]|$| (?:and|from|i|but|with)\b)",
        _is_small_name,
    ),
    _named(
        r"\?\s+[A-Za-z]+: ",
        r"(?<!\w)(?i:(?:your|full|first|last|the) name|who am i (?:speaking|talking|chatting) (?:to|"
        r"with))\b[^?\n<]{0,25}\?\s{1,2}[A-Za-z]{1,15}: "
        r"(?:(?:it's|its|i'm|im) )?(?P<value>[^\W\d_][^\W\d_'’-]{1,20}(?: [^\W\d_][^\W\d_'’-]{1,20}){0,3})(?=[.,!"
        r"\n]|$)",
        _is_small_name,
    ),
    _named(
        r"\n ?[-–~]{1,2} ?[a-z]",
        r"(?<=[a-z!.,])\n{1,2} ?[-–~]{1,2} ?(?P<value>[a-z]{3,12})(?=\s*$)",
        _is_small_name,
    ),
    # "OYELARAN/FOLAKE MRS", as airlines write it, and "R. Vandersloot".
    _named(
        r"[A-Z]/[A-Z]",
        r"(?<![\w/])(?P<value>[A-Z]{2,20}/[A-Z]{2,20} (?:MR|MRS|MS|MISS|MSTR|DR|CHD|INF))(?!\w)",
        _is_any,
    ),
    _named(
        rf"[A-Z]\. {_CAPITAL}[a-z]",
        rf"(?<!\w)(?i:by|with|attendant|agent|captain|driver|says|dr|signed|to|"
        rf"name) [\"'“]?(?P<value>[A-Z]\. {_NAME}(?<=\w{{3}}))(?!\w)",
        lambda value, before: _is_name(value[3:], before),
    ),
    # Spelled: "Wilhelmina, that's W I L H E L M I N A".
    _named(
        r"[A-Z][ -][A-Z][ -][A-Z][ -][A-Z]",
        rf"(?<!\w)(?P<value>{_NAME},? (?:that's|thats|spelled|spelt|"
        rf"spelling)[ :,]{{1,2}}[A-Z](?:[ -][A-Z]){{2,20}})(?!\w)",
        _is_any,
    ),
    _named(
        rf"(?i:wishes|regards|cheers|thanks|thx) {_CAPITAL}",
        rf"(?<!\w)(?i:best wishes|(?:kind|best|warm) regards|regards|cheers|thanks|"
        rf"thx) (?P<value>{_NAME}(?: {_NAME})?)(?= and {_NAME}\W*$|\W{{0,2}}$)",
    ),
    _named(
        rf"(?i:sorry|thanks|thank you) for [a-z' ]+ {_CAPITAL}",
        rf"(?<!\w)(?i:sorry|thanks|thank you) for [a-z' ]{{3,40}}? (?<!our )(?<!your )(?<!the )(?<!my )(?P<value>"
        rf"{_NAME})(?=, (?:we|I|you|did|the|can|please|your|it|that|this)\b)",
    ),
    _named(
        rf"(?:Morning|Evening|Afternoon|Yo),? {_CAPITAL}",
        rf"(?:^|[.!?>\n] ?)(?:Morning|Evening|Afternoon|Yo),? (?P<value>{_NAME})(?=[,.!])",
    ),
    _named(rf"(?:^|[ ,])(?i:i), {_CAPITAL}", rf"(?<!\w)(?i:i), (?P<value>{_NAME}(?: {_NAME}){{1,3}}),"),
)
