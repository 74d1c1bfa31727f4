"""Words in any script: where no spaces separate them, and where vowel signs belong to them."""

from __future__ import annotations

import re

__all__ = ["CJK", "UNSPACED", "WORD", "WORDS", "estimate_words", "is_unspaced", "split_words"]

CJK = (
    "\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
"""Chinese characters and Japanese kana, as the inside of a character class."""
_SOUTH_EAST = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
UNSPACED = CJK + _SOUTH_EAST
"""Scripts without spaces between words: these and Thai, Lao, Burmese and Khmer."""
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983"
    "\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a4d\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83"
    "\u0dca-\u0ddf\u200c\u200d"
)
"""Accents and the vowel signs of Arabic, Hebrew and the scripts of India, which Python's `\\w` leaves out."""
WORD = rf"(?:[^\W{UNSPACED}][{_MARKS}]*)+"
"""A word of a script with spaces."""
WORDS = "words"
"""The name of the base model that `turnloom quickstart` learns from the words of the conversations themselves."""
CHARACTERS_PER_WORD = 2
"""An estimate for scripts without spaces: most Chinese words have two characters."""
_UNSPACED = re.compile(rf"[{UNSPACED}]")
_PIECE = re.compile(rf"[{UNSPACED}]|{WORD}")


def split_words(text: str) -> list[str]:
    """Split a text into words, without punctuation; each character of a script without spaces is one.

    Example:
        >>> split_words("where's 我的包裹？"), split_words("मेरा पार्सल कहाँ है?")
        (['where', 's', '我', '的', '包', '裹'], ['मेरा', 'पार्सल', 'कहाँ', 'है'])
    """
    return _PIECE.findall(text)


def is_unspaced(text: str) -> bool:
    """Whether a text has a character of a script without spaces.

    Example:
        >>> is_unspaced("取消 order"), is_unspaced("cancel order")
        (True, False)
    """
    return _UNSPACED.search(text) is not None


def estimate_words(text: str) -> int:
    """Count the words between spaces; in scripts without spaces, two characters are about one.

    Example:
        >>> estimate_words("cancel my order"), estimate_words("取消我的订单"), estimate_words("取消 order")
        (3, 3, 2)
    """
    if text.isascii():
        return len(text.split())
    characters = len(_UNSPACED.findall(text))
    spaced = _UNSPACED.sub(" ", text).split()
    return sum(any(map(str.isalnum, word)) for word in spaced) + -(-characters // CHARACTERS_PER_WORD)
