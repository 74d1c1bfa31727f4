"""Order suggestions by what people said of them: rejected replies are suggested less, accepted ones more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from turnloom.feedback import Feedback, Said
from turnloom.replies.occurrences import reply_keys
from turnloom.replies.suggestion import Suggestion, standardised

WEIGHT = 1.0
"""What the logarithm of acceptances to rejections counts, in standard deviations of the candidates' scores."""


class Preference:
    """What people said of replies, wherever they were suggested.

    Args:
        feedback: The file of feedback; it is read again when it has grown.
    """

    def __init__(self, feedback: Feedback) -> None:
        self._feedback = feedback
        self._read: list[Said] | None = None
        self._bonus: dict[int, float] = {}

    def bonus(self) -> dict[int, float]:
        """Return by the key of a reply what its score gains or loses."""
        said = self._feedback.read()
        if said is not self._read:
            accepted, rejected = (_by_key(counts) for counts in self._feedback.replies())
            self._bonus = {
                key: WEIGHT * math.log((1 + accepted[key]) / (1 + rejected[key])) for key in {*accepted, *rejected}
            }
            self._read = said
        return self._bonus

    def ordered(self, found: Sequence[Suggestion]) -> list[Suggestion]:
        """Return suggestions with what people said of them counted in, best first."""
        bonus = self.bonus()
        if not any(suggestion.key in bonus for suggestion in found):
            return list(found)
        scores = standardised(np.array([suggestion.score for suggestion in found]))
        scores = scores + np.array([bonus.get(suggestion.key, 0.0) for suggestion in found])
        order = np.argsort(-scores, kind="stable")
        return [replace(found[place], score=float(scores[place])) for place in order]


def _by_key(counts: Counter[str]) -> Counter[int]:
    """Count by key: texts that differ only in case and spacing are one reply."""
    texts = list(counts)
    found: Counter[int] = Counter()
    if texts:
        for key, text in zip(reply_keys(pa.array(texts, pa.string())).tolist(), texts, strict=True):
            found[key] += counts[text]
    return found
