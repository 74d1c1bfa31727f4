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

from turnloom.discovery.languages import ENGLISH, FUNCTION_WORDS, content_of_unspaced, language_of
from turnloom.words import CJK, WORD, is_unspaced

Phrase = tuple[str, ...]
LONGEST = 3
LENGTH_POWER = 1.2
"""A phrase of n words counts n to this power times as much as a single word. Two words make the better name if they
occur together in more than about half of the messages that contain either.
"""
SMOOTHING = 0.02
SHORTEST = 3
MOST_WORDS = 5
"""The longest name."""
LONGEST_TEXT = 40
STEM = 5
"""Words that share this many leading letters count as forms of one word; so do "seat" and "seats"."""
CHARACTERS = range(2, 9)
"""How many Chinese or Japanese characters a phrase has; about two make a word."""
NOISE = re.compile(
    r"https?://\S+|www\.\S+|\S+@\S+\.\w+"  # Links and e-mail addresses.
    r"|<[A-Z_]+>|\[[A-Z_]+\]|__\w+__"  # Placeholders for personal data.
    r"|[@#]\w+|(?:^|\s)[*^~-]\s?[A-Z]{1,4}\b(?=\s*$)"  # Handles, hashtags, and an agent's initials at the end.
)
_PIECE = re.compile(rf"(?P<word>{WORD}(?:['’-][^\W\d_]+)*)|(?P<break>[^\s'’-])")
_WITH_DIGIT = re.compile(r"[\d_]")
_OTHER_SCRIPT = re.compile(rf"[{CJK}\u0370-\u1fff\uac00-\ud7a3]")
_NOT = {"not", "no", "never", "without"}
_UNFINISHED = _NOT | {"last", "long", "much", "new", "next", "soon", "whole"}
"""Words that a phrase does not end with."""
_SHORT = {"no", "up"}
_NEGATED = re.compile(r"(?:\w+n['’]t|cannot|dont|doesnt|didnt|wont|cant|isnt|hasnt|havent)$")
_FILLER_WORDS = """
a able about after afternoon again all also always am an and another any anyone apr april are as at aug august be
because been before being both but by can could day dec december did do does doing done due each either else evening
ever every feb february few for friday from get gets getting give given go goes going gone gonna good got guys had has
have having he hello her here hey hi him his how i if in into is it its jan january jul july jun june just keep know
let like look made make makes making many may maybe me monday more morning most much must my need needs nov november
now oct october of off ok okay on once one only onto or other our out over own please pls put really right said same
saturday say says see seem sep sept september she should so some still such sunday sure take tell than that the their
them then there these they thing things think this those through thursday to today told too tried try trying tuesday
twice two u under until ur us use used very via wait want wanted wants was way we wednesday well went were what when
where which while who why will with would y'all yeah yes yet you your yours
"""
"""English words that carry no topic."""
FILLERS = frozenset(_FILLER_WORDS.split())


_LINK_WORDS = "about at by for from in into of on to with"
_LINKS = frozenset(_LINK_WORDS.split())
"""Words that stay inside a phrase: "refund for order"."""
_SKIPPED_WORDS = """
a an the my our your his her their its this that these those any some is was are were am be been being has have had just
still already very so really again not
"""
_SKIPPED = frozenset(_SKIPPED_WORDS.split())
"""Words that a name can do without: "parcel late" for "my parcel is still late". Other fillers end a phrase."""
_ENDS_EARLY = _LINKS | _SKIPPED | {"and", "or", "but", "i", "you"} | _UNFINISHED
"""Words that the start of a message does not end with when it is a name."""
_VAGUE_WORDS = """
broken done found gone left lost made paid seen sent sold stuck taken told
day days hour hours minute minutes number place problem something thank time
"""
_VAGUE = frozenset(_VAGUE_WORDS.split())
_PAST = re.compile(r"\w{2,}ed$")


class Candidate(NamedTuple):
    """A phrase for a group's name; a higher score is better."""

    phrase: Phrase
    score: float


def _words_of_language(text: str) -> frozenset[str]:
    """Return the function words of a message's language; empty for English, whose function words are sorted finer."""
    words = re.findall(WORD, text)
    language = language_of(words, FILLERS | _LINKS | _SKIPPED)
    return frozenset() if language == ENGLISH else FUNCTION_WORDS[language]


def is_english(text: str) -> bool:
    """Whether patterns and parsers of English can read a message: it has letters of no other script or language.

    Example:
        >>> is_english("where is my parcel"), is_english("wo ist mein Paket"), is_english("طردي")
        (True, False, False)
    """
    return not _OTHER_SCRIPT.search(text) and not _words_of_language(text.lower())


def _plain_runs(text: str, function_words: frozenset[str]) -> list[list[str]]:
    """Split a message that isn't English into runs of words; its function words are left out."""
    runs: list[list[str]] = [[]]
    for piece in _PIECE.finditer(text):
        word = piece["word"]
        if word is None:
            runs.append([])
        elif word not in function_words and len(word) >= SHORTEST and not _WITH_DIGIT.search(word):
            runs[-1].append(word)
    return [run for run in runs if run]


def _runs(text: str) -> list[list[str]]:
    """Split a message into runs of words that stand together, with links between them, as a name would have them."""
    text = NOISE.sub(" . ", html.unescape(text)).replace("’", "'").lower()
    if function_words := _words_of_language(text):
        return _plain_runs(text, function_words)
    runs: list[list[str]] = [[]]
    for piece in _PIECE.finditer(text):
        word = piece["word"]
        if word is None:
            runs.append([])
        elif _NEGATED.match(word):
            runs[-1].append("not")
        elif word in _LINKS:
            if runs[-1] and runs[-1][-1] in _LINKS:  # What stood between them is no usable word.
                runs.append([])
            runs[-1].append(word)
        elif word.partition("'")[0] not in FILLERS and word not in FILLERS:
            usable = (len(word) >= SHORTEST or word in _SHORT) and not _WITH_DIGIT.search(word)
            runs[-1] += [word.removesuffix("'s")] if usable else []
        elif word not in _SKIPPED or runs[-1][-1:] == ["to"]:
            runs.append([])
    return [run for run in runs if run]


def _phrases(text: str) -> set[Phrase]:
    """Return phrases of one to three words, and links inside, in spoken order; "not" and "up" need another word."""
    found = set()
    for run in _runs(text):
        content = [index for index, word in enumerate(run) if word not in _LINKS]
        for size in range(1, LONGEST + 1):
            for first, last in zip(content, content[size - 1 :], strict=False):
                phrase = tuple(run[first : last + 1])
                if (
                    phrase[0] != "up"
                    and phrase[-1] not in _UNFINISHED
                    and len(set(phrase)) == len(phrase) <= MOST_WORDS
                ):
                    found.add(phrase)
    return found | _unspaced_phrases(text)


def _unspaced_phrases(text: str) -> set[Phrase]:
    """Return pieces of Chinese and Japanese: of those that occur together, the longest ranks first."""
    if text.isascii() or not is_unspaced(text):
        return set()
    parts = content_of_unspaced(NOISE.sub(" ", html.unescape(text)).lower())
    return {
        (part[start : start + size],) for part in parts for size in CHARACTERS for start in range(len(part) - size + 1)
    }


def _length(word: str) -> float:
    return len(word) / CHARACTERS.start if is_unspaced(word) else float(word not in _LINKS)


def is_vague(phrase: Phrase) -> bool:
    """Whether a phrase is a lone word such as "sent" or "time", which leaves open what is meant."""
    return len(phrase) == 1 and (phrase[0] in _VAGUE or bool(_PAST.match(phrase[0])))


def _candidates(own: Counter[Phrase], size: int, shares: Mapping[Phrase, float], groups: int) -> list[Candidate]:
    """Rank a group's phrases: frequent in the group, rare in other groups."""
    found = []
    for phrase, count in own.items():
        if count < 2 and size > 1:  # A phrase that only one message contains is chance.
            continue
        share = count / size
        rest = (shares[phrase] - share) / max(groups - 1, 1)
        content = sum(map(_length, phrase))
        weight = share * np.log((share + SMOOTHING) / (rest + SMOOTHING)) * content**LENGTH_POWER
        found.append(Candidate(phrase, float(weight)))
    return sorted(found, key=lambda each: (-each.score, each.phrase))


def unlike(name: Phrase, candidates: list[Candidate]) -> list[Candidate]:
    """Drop phrases that add nothing to a name, as "delayed" adds nothing to "flight delay"."""

    def alike(one: str, other: str) -> bool:
        if is_unspaced(one):
            return one in other or other in one
        return one[:STEM].startswith(other[:STEM]) or other[:STEM].startswith(one[:STEM])

    return [each for each in candidates if not any(alike(word, more) for word in name for more in each.phrase)]


def _shortened(text: str) -> str:
    plain = re.sub(r"[\d|]+", " ", NOISE.sub(" ", html.unescape(text)))  # In CSV, | separates labels.
    words = plain.split()
    kept = words[:MOST_WORDS]
    while len(words) > MOST_WORDS and len(kept) > 1 and kept[-1].lower() in _ENDS_EARLY:
        kept.pop()
    return " ".join(kept)[:LONGEST_TEXT].strip() or "other"


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
    return rank(counts, [len(texts) for texts in groups])
