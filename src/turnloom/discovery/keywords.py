"""Contrastive keywords: what members of a group say and members of other groups do not."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, product
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np

Phrase = tuple[str, ...]
LONGEST = 3
LENGTH_POWER = 0.8
"""A phrase of n words counts n to this power times as much as a single word. Two words make the better name if they
occur together in more than about half of the messages that contain either.
"""
ENOUGH = 0.35
"""A second phrase joins a one-word name if it scores at least this share of the first."""
SMOOTHING = 0.02
SHORTEST = 3
MOST_WORDS = 5
"""The longest name."""
LONGEST_TEXT = 40
STEM = 5
"""Words that share this many leading letters count as forms of one word; so do "seat" and "seats"."""
NOISE = re.compile(
    r"https?://\S+|www\.\S+|\S+@\S+\.\w+"  # Links and e-mail addresses.
    r"|<[A-Z_]+>|\[[A-Z_]+\]|__\w+__"  # Placeholders for personal data.
    r"|[@#]\w+|(?:^|\s)[*^~-]\s?[A-Z]{1,4}\b(?=\s*$)"  # Handles, hashtags, and an agent's initials at the end.
)
_PIECE = re.compile(r"(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)|(?P<break>[^\s\w'’-])")
_NOT = {"not", "no", "never", "without"}
_SHORT = {"no", "up"}
_NEGATED = re.compile(r"(?:\w+n['’]t|cannot|dont|doesnt|didnt|wont|cant|isnt|hasnt|havent)$")
_FILLER_WORDS = """
a about after afternoon again all also always am an and another any anyone are as at be because been before being
both but by can could day did do does doing done each either else evening ever every few for from get gets getting
give given go goes going gone gonna good got guys had has have having he hello her here hey hi him his how i if in
into is it its just keep know let like look made make makes making many may maybe me more morning most much must my
need needs now of off ok okay on one only onto or other our out over own please pls put really right said same say
says see seem she should so some still such sure take tell than that the their them then there these they thing
things think this those through to today told too tried try trying two u under until ur us use used very via wait
want wanted wants was way we well went were what when where which while who why will with would y'all yeah yes yet
you your yours
"""
"""English words that carry no topic."""
FILLERS = frozenset(_FILLER_WORDS.split())


class Candidate(NamedTuple):
    """A phrase for a group's name; a higher score is better."""

    phrase: Phrase
    score: float


def _runs(text: str) -> list[list[str]]:
    """Split a message into runs of usable words, at punctuation and placeholders."""
    text = NOISE.sub(" . ", html.unescape(text)).replace("’", "'").lower()
    runs: list[list[str]] = [[]]
    for piece in _PIECE.finditer(text):
        word = piece["word"]
        if word is None:
            runs.append([])
        elif _NEGATED.match(word):
            runs[-1].append("not")
        elif word.partition("'")[0] not in FILLERS and word not in FILLERS:
            runs[-1] += [word.removesuffix("'s")] if len(word) >= SHORTEST or word in _SHORT else []
    return [run for run in runs if run]


def _phrases(text: str) -> set[Phrase]:
    """Return phrases of one to three words in spoken order; "not" and "up" need the word they belong to."""
    found = set()
    for run in _runs(text):
        for size in range(1, LONGEST + 1):
            for start in range(len(run) - size + 1):
                phrase = tuple(run[start : start + size])
                if phrase[0] != "up" and phrase[-1] not in _NOT and len(set(phrase)) == size:
                    found.add(phrase)
    return found


def _candidates(own: Counter[Phrase], size: int, shares: Mapping[Phrase, float], groups: int) -> list[Candidate]:
    """Rank a group's phrases: frequent in the group, rare in other groups."""
    found = []
    for phrase, count in own.items():
        if count < 2 and size > 1:  # A phrase that only one message contains is chance.
            continue
        share = count / size
        rest = (shares[phrase] - share) / max(groups - 1, 1)
        weight = share * np.log((share + SMOOTHING) / (rest + SMOOTHING)) * len(phrase) ** LENGTH_POWER
        found.append(Candidate(phrase, float(weight)))
    return sorted(found, key=lambda each: (-each.score, each.phrase))


def _said_first(one: Phrase, other: Phrase, texts: Sequence[str]) -> bool:
    """Whether the first phrase precedes the second in most messages that contain both."""
    first = 0
    for text in texts:
        words = [word for run in _runs(text) for word in run]
        if one[0] in words and other[0] in words:
            first += 1 if words.index(one[0]) < words.index(other[0]) else -1
    return first >= 0


def _joined(name: Phrase, more: Phrase, texts: Sequence[str]) -> Phrase:
    return name + more if _said_first(name, more, texts) else more + name


def _joined_name(candidates: list[Candidate], texts: Sequence[str]) -> list[Candidate]:
    """Extend a best phrase of one word by the next one, if that says nearly as much."""
    if not candidates or len(candidates[0].phrase) > 1:
        return candidates
    name, best = candidates[0]
    others = unlike(name, candidates[1:])
    if not others or others[0].score < ENOUGH * best:
        return candidates
    return [Candidate(_joined(name, others[0].phrase, texts), best), *candidates]


def unlike(name: Phrase, candidates: list[Candidate]) -> list[Candidate]:
    """Drop phrases that add nothing to a name, as "delayed" adds nothing to "flight delay"."""

    def alike(one: str, other: str) -> bool:
        return one[:STEM].startswith(other[:STEM]) or other[:STEM].startswith(one[:STEM])

    return [each for each in candidates if not any(alike(word, more) for word in name for more in each.phrase)]


def _shortened(text: str) -> str:
    plain = re.sub(r"[\d|]+", " ", NOISE.sub(" ", html.unescape(text)))  # In CSV, | separates labels.
    return " ".join(plain.split()[:MOST_WORDS])[:LONGEST_TEXT].strip() or "other"


def message_name(texts: Sequence[str], taken: Collection[frozenset[str]]) -> str:
    """Return the start of the first message that is not a name yet; if all are, add a letter."""
    short = list(dict.fromkeys(map(_shortened, texts)))
    lettered = (
        f"{short[0]} ({letters})" for size in (1, 2) for letters in map("".join, product(ascii_lowercase, repeat=size))
    )
    return next(name for name in chain(short, lettered) if frozenset(name.split()) not in taken)


def rank(counts: Sequence[Counter[Phrase]], sizes: Sequence[int]) -> list[list[Candidate]]:
    """Rank the phrases of each group: frequent in the group, rare in other groups.

    Args:
        counts: How many members of each group have a phrase.
        sizes: How many members each group has.
    """
    shares: defaultdict[Phrase, float] = defaultdict(float)
    for own, size in zip(counts, sizes, strict=True):
        for phrase, count in own.items():
            shares[phrase] += count / size
    return [_candidates(own, size, shares, len(counts)) for own, size in zip(counts, sizes, strict=True)]


def rank_keywords(groups: Sequence[Sequence[str]]) -> list[list[Candidate]]:
    """Rank phrases of one to three words that members of a group contain and other groups do not, best first.

    Example:
        >>> groups = [["please cancel my order 12", "cancel order 7"], ["my parcel is late", "is my parcel late"]]
        >>> [" ".join(found[0].phrase) for found in rank_keywords(groups)]
        ['cancel order', 'parcel late']
    """
    counts = [Counter(phrase for text in texts for phrase in _phrases(text)) for texts in groups]
    ranked = rank(counts, [len(texts) for texts in groups])
    return [_joined_name(found, texts) for found, texts in zip(ranked, groups, strict=True)]
