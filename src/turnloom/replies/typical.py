"""Of the replies that fit a conversation, prefer what most of them say.

The nearest reply often knows too much: it names a city or a cause that nobody mentioned. Such details differ from one
reply to the next, and what they have in common fits. Translation knows this as minimum Bayes risk. Sentences with a
detail in them still mean nearly the same, so words that no other reply has count against a reply, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from turnloom.runtime.protocols import Vectors, unit_rows
from turnloom.words import split_words

NEAREST = 100
"""So many replies say what is common."""
SPREAD = 0.05
"""A reply whose cosine is lower by this much has 2.7 times less to say."""
AGREEMENT = 0.8
"""The share of agreement in the score; the rest is how well a reply fits by itself."""
RARE, UNHEARD = 0.05, 0.005
"""Words that fewer of the others say are details. Below the second, rarer makes no more difference."""
DETAIL = 0.01
"""What it takes off the score that a word is said by 2.7 times fewer others than `RARE`."""

Numbers = npt.NDArray[np.float64]


def agreed(fits: Numbers, vectors: Vectors, texts: Sequence[str], context: Sequence[str]) -> Numbers:
    """Return a score for each reply: how alike the others are to it, those that fit better counting more.

    Args:
        fits: How well each reply fits the conversation, as a cosine.
        vectors: The replies' vectors.
        texts: The replies.
        context: The turns so far; their words are no details.

    Example:
        >>> vectors = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0.1], [0, 1, 0.2]], np.float32)
        >>> texts = ["Fog in Oslo.", "Sorry!", "Sorry!", "So sorry!"]
        >>> scores = agreed(np.array([0.62, 0.6, 0.6, 0.6]), vectors, texts, ["Late again!"])
        >>> scores.argmax().item()  # The first fits best, by itself.
        2
    """
    weights = np.exp((fits - fits.max()) / SPREAD)
    weights /= weights.sum()
    unit = unit_rows(vectors)
    alike = (unit @ unit.T).astype(np.float64)
    np.fill_diagonal(alike, 0.0)
    agreement: Numbers = AGREEMENT * (alike @ weights) + (1 - AGREEMENT) * fits
    return agreement - DETAIL * details(texts, weights, context)


def details(texts: Sequence[str], weights: Numbers, context: Sequence[str]) -> Numbers:
    """Return how much each text says that neither the context nor the other texts say.

    Args:
        texts: The texts.
        weights: How much each counts, 1 in all.
        context: Words that are said already.

    Example:
        >>> texts = ["sorry about that", "sorry about Oslo", "sorry about the fog"] * 10
        >>> details(texts + ["sorry about Rome"], np.full(31, 1 / 31), ["Stuck in Oslo"])[[0, 1, 2, 30]].round(1)
        array([0. , 0. , 0. , 2.3])
    """
    said = _words(" ".join(context))
    own = [_words(text) - said for text in texts]
    heard: Counter[str] = Counter()
    for words, weight in zip(own, weights.tolist(), strict=True):
        heard.update(dict.fromkeys(words, weight))
    rarities = [
        [RARE / (max(heard[word] - weight, 0.0) + UNHEARD) for word in words]
        for words, weight in zip(own, weights.tolist(), strict=True)
    ]
    return np.array([sum(np.log(np.maximum(rarity, 1.0))) for rarity in rarities], np.float64)


def _words(text: str) -> set[str]:
    return set(split_words(text.casefold()))
