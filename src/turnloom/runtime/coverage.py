"""Tell from its tokens whether an encoder knows the words of some texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from turnloom.runtime.protocols import Encoder, turn_encoder
from turnloom.words import is_unspaced, split_words

UNKNOWN = ("[UNK]", "<unk>")
SHORTEST = 3
"""Shorter words are often a token per letter in a language that the encoder knows."""
MOST_UNKNOWN = 0.3
"""An encoder to which a larger share of the words is unknown doesn't know the language."""


def unknown_share(encoder: Encoder, texts: Iterable[str]) -> float:
    """Return the share of distinct words that an encoder reads letter by letter, or not at all.

    It is 0 for an encoder that doesn't show its tokens. Numbers don't count; a character of a script without spaces is
    a word.
    """
    split = getattr(turn_encoder(encoder), "split_tokens", None)
    if split is None:
        return 0.0
    words = {word for text in texts for word in split_words(text) if not any(map(str.isdigit, word))}
    judged = sorted(word for word in words if _letters(word) >= SHORTEST or is_unspaced(word))
    return sum(_is_unknown(word, split(word)) for word in judged) / len(judged) if judged else 0.0


def _is_unknown(word: str, tokens: list[str]) -> bool:
    letters = _letters(word)
    return any(token in UNKNOWN for token in tokens) or (letters > 1 and len(tokens) >= letters)


def _letters(word: str) -> int:
    """Count letters without accents and vowel signs, which some tokenizers drop."""
    return sum(not unicodedata.category(character).startswith("M") for character in word)
