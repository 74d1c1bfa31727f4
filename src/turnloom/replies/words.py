"""Which words of a long question are looked for: the rare ones find the reply, the frequent ones take the time.

A search by words reads the list of every reply that holds one of them. "the" is in a fifth of all replies and hardly
changes their order; without such words the slowest searches are several times as fast. What is frequent is seen in the
index itself, so that no list of stop words of some language is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

__all__ = ["MOST_WORDS", "count_words", "rarest_words"]

MOST_WORDS = 6
"""Of those that are known to be in the index; so many find as much as all do, together with vectors."""
_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    """The distinct words, in the order of the text; in scripts without spaces, whatever stands together is one."""
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


def count_words(texts: Iterable[str]) -> Counter[str]:
    """In how many texts each word is."""
    return Counter(word for text in texts for word in _words(text))


def rarest_words(text: str, counts: Counter[str], most: int = MOST_WORDS) -> str:
    """A text, or all but the most frequent of its words if it has more than `most` that were counted.

    Words that were never counted cost next to nothing, and may be the very ones that find the reply: they stay.

    Example:
        >>> counts = count_words(["the train", "the train to the end", "is it", "to the airport"])
        >>> rarest_words("is the train to the airport late", counts, 2)
        'is airport late'
    """
    words = _words(text)
    counted = sorted((word for word in words if counts[word]), key=lambda word: counts[word])
    if len(counted) <= most:
        return text
    return " ".join(word for word in words if word not in counted[most:])
