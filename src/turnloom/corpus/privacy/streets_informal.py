"""Street addresses as people type them: in small letters, with abbreviations, in business parks."""

from __future__ import annotations

import re

from turnloom.corpus.privacy.pattern import Pattern

__all__ = ["AFTER", "CAP", "INFORMAL_STREETS", "SPELLED_HOUSE", "is_named", "is_street"]

CAP = r"[A-ZÀ-ÖØ-ÞŁŚŻ][\w'’-]{0,30}\.?"
AFTER = r"(?:,? ?(?:(?i:apt|apartment|flat|unit|suite|ste)\.? ?#?[\w-]{1,6}|#\w{1,6}))?"
SPELLED_HOUSE = (
    r"(?i:(?:(?:one|two|three|four|five|six|seven|eight|nine) hundred(?: and)? )?(?:(?:twenty|thirty|forty|fifty|"
    r"sixty|seventy|eighty|"
    r"ninety)[ -]?"
    r"(?:one|two|three|four|five|six|seven|eight|nine)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"(?:thir|four|fif|six|seven|eigh|nine)teen))"
)


_NO_STREETS = frozenset(
    "of on the to more way one-way available security weeks hours a in at and or is was for from my your "
    "our this that different "
    "lanes other another back own wrong main same whole long little all every test hard "
    "minutes days way off into out up down park game games matches level episode item items".split()
)


def is_named(value: str) -> bool:
    """Whether what stands before "street" can be its name."""
    return not _NO_STREETS & set(re.sub(rf"^{SPELLED_HOUSE},? ", "", value).lower().split())


def is_street(value: str, before: str) -> bool:
    """Whether what looks like a house number counts no hours, miles or the like."""
    words = re.findall(r"[^\W\d_]+", value.lower())
    return not {"days", "hours", "minutes", "weeks", "months", "years", "miles", "times", "people", "bags"} & set(words)


INFORMAL_STREETS = (
    # "27b wilmslow rd": an abbreviation that is nothing else.
    Pattern(
        "ADDRESS",
        r"(?i:\d[a-z]? [^\s]+ (?:[^\s]+ )?(?:rd|ave|blvd|ln|cres|hwy|pkwy|terr|gdns)(?:[^a-z]|$))",
        re.compile(
            rf"(?<![\w.,#$€£-])(?P<value>\d{{1,5}}[A-Za-z]?,? (?!(?:of|on|in|at|to|for|the|a|is|more|nd|rd)\b)"
            rf"(?:[A-Za-z'’]{{2,20}} ){{1,2}}(?i:rd|ave|blvd|ln|cres|hwy|pkwy|terr|gdns)\b{AFTER})"
        ),
        lambda value, before: is_named(value) and is_street(value, before),
    ),
    # "25 Jalan Ampang", "at 910 s michigan", "nobody at 5 the paddocks"
    Pattern(
        "ADDRESS",
        r"\d[A-Za-z]?,? (?i:jalan|jln|jl|lorong|[nsew]|the) [A-Za-z]",
        re.compile(
            rf"(?<![\w.,#$€£-])(?P<value>\d{{1,4}}[A-Za-z]?,? (?:Jalan|Jln|Jl|Lorong)\.? {CAP}(?: {CAP}){{0,2}}|"
            r"(?<=at )\d{2,5} [nsewNSEW]\.? [A-Za-z][a-z]{3,15}|(?<=corner, )\d{2,5} [nsew] [a-z]{4,15}|"
            r"(?<=at )\d{1,3} the [a-z]{4,15}s)(?![\w%])"
        ),
        is_street,
    ),
    # "unit 7 Brookside Trading Estate"
    Pattern(
        "ADDRESS",
        r"(?i:estate|business park|retail park|business centre|industrial park|technology park)",
        re.compile(
            rf"(?<![\w<])(?P<value>(?:(?i:unit|suite|block|bay|plot)s? )?[A-Z]?\d{{1,4}}[A-Z]?,? (?:{CAP} ){{1,3}}"
            r"(?i:trading estate|industrial estate|estate|business park|retail park|business centre|industrial park|"
            r"technology park))(?!\w)"
        ),
        is_street,
    ),
)
