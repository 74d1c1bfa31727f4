"""Vectors with planted groups, and conversations with a known course."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from turnloom.discovery import Messages
from turnloom.runtime.protocols import Vectors, unit_rows

TOPICS = {
    "cancel": ["please cancel my order", "i want to cancel an order", "cancel order {}", "can you cancel my order {}"],
    "refund": ["i want to request a refund", "please request my refund", "where is my refund {}", "refund {} missing"],
    "invoice": [
        "please send an invoice",
        "send me the invoice {}",
        "i need an invoice {}",
        "could you send my invoice",
    ],
    "address": ["change my address", "i need to change an address", "how do i change my address", "new address {}"],
    "parcel": ["my parcel is late", "is the parcel late", "parcel {} is late", "why is my parcel late {}"],
}


Truth = npt.NDArray[np.int64]


def planted(groups: int, size: int, noise: float = 0.6, width: int = 48, seed: int = 0) -> tuple[Vectors, Truth]:
    """Unit vectors around random centres, shuffled, and the group of each."""
    rng = np.random.default_rng(seed)
    centres = unit_rows(rng.standard_normal((groups, width)))
    truth = rng.permutation(np.repeat(np.arange(groups), size))
    return unit_rows(centres[truth] + noise * unit_rows(rng.standard_normal((len(truth), width)))), truth


def said(size: int = 24) -> tuple[Messages, Vectors, Truth]:
    """Messages of five topics with vectors, each said twice."""
    vectors, truth = planted(len(TOPICS), size)
    wordings = list(TOPICS.values())
    texts = []
    for number, topic in enumerate(truth.tolist()):
        wording = wordings[topic][number % 4]
        texts.append(wording.format(number) if "{}" in wording else f"{wording} {number}")
    return Messages(texts, [""] * len(texts), np.full(len(texts), 2), len(texts)), vectors, truth


class TopicEncoder:
    """An encoder that knows the topics by a word of theirs; other texts have vectors of their own."""

    name, fingerprint, has_heads = "topics", "topics", False
    languages: frozenset[str] = frozenset()

    def format_context(self, context: tuple[str, ...]) -> str:
        return "\n".join(context)

    def encode(self, texts: list[str]) -> Vectors:
        rng = np.random.default_rng(0)
        words = {word: rng.standard_normal(32) for word in (*TOPICS, "hello", "thanks", "number", "done")}
        rows = []
        for text in texts:
            own = np.random.default_rng(sum(map(ord, text))).standard_normal(32)
            rows.append(sum((vector for word, vector in words.items() if word in text), 0.3 * own))
        return unit_rows(np.array(rows))

    encode_query = encode_document = encode
