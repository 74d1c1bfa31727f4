"""Names that people would write: what the members of a group ask for, in words that other groups don't use."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from turnloom.discovery.keywords import (
    MOST_WORDS,
    Candidate,
    Phrase,
    is_vague,
    message_name,
    rank,
    rank_keywords,
    unlike,
)
from turnloom.discovery.phrases import Parser, Request, pattern_requests
from turnloom.runtime.protocols import Vectors, unit_rows

MOST_PARSED, FEWEST_PER_GROUP, MOST_PER_GROUP = 6_000, 10, 40
"""How many typical members are parsed: in all, and per group."""
MOST_COUNTED = 40_000
"""In how many typical members, in all, keywords are counted."""
CANDIDATES = 40
KEYWORDS = 5
CLOSENESS, CONTRAST = 16.0, 1.0
"""What a phrase's closeness to its group counts, beside how many members say it and others don't."""
REQUEST_WEIGHT = 2.0
"""What a verb with its object counts, beside another phrase."""


SUPPORT = 1.0
"""What it counts, as a power of two, that a phrase is said more often than another one of the group."""
SEVERAL_WORDS, VAGUE = 2.0, 8.0
"""What counts for a phrase of several words, and against a lone word such as "sent" or "time"."""
VAGUE_WEIGHT = 0.25
"""What such a word counts, beside another phrase, by how often it is said."""
_PLURAL = re.compile(r"[^s]s$")
_NO_VERBS = {"amazing", "awesome", "awful", "bad", "best", "excellent", "good", "great", "nice", "terrible", "worst"}
"""Words at a message's beginning that are read as verbs, and take no article after them ("great trip")."""


@dataclass(frozen=True)
class GroupName:
    """A group's name and what sets it apart.

    Attributes:
        name: At most five words; unique among the groups named together.
        keywords: Words and phrases that many members say and members of other groups don't.
    """

    name: str
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class Meaning:
    """What ranks phrases by meaning.

    Attributes:
        encode: Returns the vectors of phrases.
        centres: The groups' mean vectors, centred.
        mean: The mean of all messages' vectors.
    """

    encode: Callable[[Sequence[str]], Vectors]
    centres: Vectors
    mean: Vectors


@dataclass(frozen=True)
class Namer:
    """How to name groups.

    Attributes:
        parser: Returns what messages ask for.
    """

    parser: Parser = pattern_requests

    def name(self, groups: Sequence[Sequence[str]], meaning: Meaning | None, taken: Sequence[str]) -> list[GroupName]:
        """Name groups of messages, each with its most typical ones first."""
        return name_groups(groups, parser=self.parser, meaning=meaning, taken=taken)


def name_groups(
    groups: Sequence[Sequence[str]],
    *,
    parser: Parser = pattern_requests,
    meaning: Meaning | None = None,
    taken: Sequence[str] = (),
) -> list[GroupName]:
    """Name groups of messages.

    Candidates are verbs with their objects, things, and phrases that set the group apart from the others. The best one
    is said by many members, by few of other groups and, if `meaning` is given, means what the group means.

    Args:
        groups: The messages of each group, the most typical first.
        parser: Returns what messages ask for.
        meaning: Ranks phrases by meaning too.
        taken: Names that are used already.

    Example:
        >>> cancel = ["please cancel my order", "i want to cancel an order"]
        >>> groups = [cancel, ["my parcel is late", "is my parcel late"]]
        >>> [group.name for group in name_groups(groups)]
        ['cancel an order', 'parcel late']
    """
    typical = [list(texts[: _per_group(len(groups), MOST_PARSED, MOST_PER_GROUP)]) for texts in groups]
    keywords = rank_keywords([texts[: _per_group(len(groups), MOST_COUNTED, MOST_COUNTED)] for texts in groups])
    candidates = [_merge(*both) for both in zip(_rank_requests(_parse(typical, parser)), keywords, strict=True)]
    if meaning is not None:
        candidates = _by_meaning(candidates, meaning)
    names: list[str] = []
    used = {frozenset(name.split()) for name in taken}
    for texts, found, ranked in zip(groups, candidates, keywords, strict=True):
        names.append(_first_free(found, ranked, texts, used))
        used.add(frozenset(names[-1].split()))
    return [
        GroupName(name, tuple(" ".join(phrase) for phrase, _ in ranked[:KEYWORDS]))
        for name, ranked in zip(names, keywords, strict=True)
    ]


def _per_group(groups: int, in_all: int, most: int) -> int:
    return min(max(in_all // max(groups, 1), FEWEST_PER_GROUP), most)


def _parse(groups: list[list[str]], parser: Parser) -> list[list[list[Request]]]:
    flat = iter(parser([text for texts in groups for text in texts]))
    return [[next(flat) for _ in texts] for texts in groups]


def _articles(requests: list[list[list[Request]]]) -> set[Phrase]:
    """Return the objects that someone used with "a" or "an"."""
    return {
        request.object
        for messages in requests
        for found in messages
        for request in found
        if request.article and not _PLURAL.search(request.object[-1])
    }


def _phrase(request: Request, articles: set[Phrase]) -> Phrase:
    words = request.object
    if request.verb and request.verb not in _NO_VERBS and words in articles:
        words = ("an" if words[0][0] in "aeiou" else "a", *words)
    return (*request.verb.split(), *words)


def _rank_requests(requests: list[list[list[Request]]]) -> list[list[Candidate]]:
    """Rank what the members of each group ask for."""
    articles = _articles(requests)
    counts = [
        Counter(phrase for found in messages for phrase in {_phrase(one, articles) for one in found})
        for messages in requests
    ]
    return rank(counts, [max(len(messages), 1) for messages in requests])


def _merge(*ranked: list[Candidate]) -> list[Candidate]:
    """Put both kinds of candidates on one scale, the best first; a phrase that both have counts once."""
    found: defaultdict[Phrase, float] = defaultdict(float)
    for weight, candidates in zip((REQUEST_WEIGHT, 1.0), ranked, strict=True):
        best = max((score for _, score in candidates), default=0.0)
        for phrase, score in candidates:
            if score > 0 and len(phrase) <= MOST_WORDS:
                own = weight * (VAGUE_WEIGHT if is_vague(phrase) else 1) * score / best
                found[phrase] = max(found[phrase], own)
    merged = [Candidate(phrase, score) for phrase, score in found.items()]
    return sorted(merged, key=lambda each: (-each.score, each.phrase))[:CANDIDATES]


def _by_meaning(candidates: list[list[Candidate]], meaning: Meaning) -> list[list[Candidate]]:
    """Rank candidates by what members say and by how close they are to the group and not to the next one."""
    phrases = sorted({" ".join(phrase) for found in candidates for phrase, _ in found})
    if not phrases:
        return candidates
    vectors = unit_rows(unit_rows(meaning.encode(phrases)) - meaning.mean)
    row = {phrase: number for number, phrase in enumerate(phrases)}
    centres = unit_rows(meaning.centres)
    ranked = []
    for number, found in enumerate(candidates):
        scores = []
        most = max((score for _, score in found), default=1.0)
        for phrase, score in found:
            near = vectors[row[" ".join(phrase)]] @ centres.T
            own = near[number]
            near[number] = -1
            contrast = CONTRAST * (own - near.max(initial=-1))
            said = SUPPORT * math.log2(score / most)
            reads = SEVERAL_WORDS * (len(phrase) > 1) - VAGUE * is_vague(phrase)
            scores.append(Candidate(phrase, said + CLOSENESS * float(own + contrast) + reads))
        ranked.append(sorted(scores, key=lambda each: (-each[1], each[0])))
    return ranked


def _first_free(
    candidates: list[Candidate], keywords: list[Candidate], texts: Sequence[str], used: set[frozenset[str]]
) -> str:
    """Return the best candidate that is no name yet; else one with a keyword added, else a message.

    A lone word such as "sent" says less than the message that it is from.
    """
    candidates = [each for each in candidates if not is_vague(each.phrase)]
    for phrase, _ in candidates:
        if frozenset(phrase) not in used:
            return " ".join(phrase)
    for phrase, _ in candidates:
        for more, _ in unlike(phrase, keywords):
            longer = phrase + more
            if len(longer) <= MOST_WORDS and frozenset(longer) not in used:
                return " ".join(longer)
    return message_name(texts, used)
