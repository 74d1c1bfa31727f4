"""Recall and over-scrub on the labelled halves in `privacy/`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("privacy")
HALVES = ("development", "held_back")


@dataclass(frozen=True)
class Labelled:
    """A text, and what must go."""

    category: str
    text: str
    spans: list[tuple[int, int]]

    @property
    def values(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans]


def read_half(half: str) -> list[Labelled]:
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return [Labelled(row["category"], row["text"], [(start, end) for start, end in row["spans"]]) for row in rows]


def _essence(text: str) -> str:
    """The letters and digits of a text: what is left of a value if only its punctuation is replaced."""
    return re.sub(r"[\W_]", "", text)


def are_gone(one: Labelled, scrubbed: str) -> bool:
    """Whether nothing of the values is left: no word of them with a digit or three letters, and none as a whole."""
    left = re.sub(r"<[A-Z]+>", " \0 ", scrubbed)
    kept = re.findall(r"[^\W_]+", left)
    outside = one.text
    for value in one.values:
        outside = outside.replace(value, " \0 ")
    elsewhere = re.findall(r"[^\W_]+", outside)
    words = {word for value in one.values for word in re.findall(r"[^\W_]+", value)}
    words = {word for word in words if len(word) >= 3 or any(map(str.isdigit, word))}
    whole = any(_essence(value) in _essence(left) and _essence(value) not in _essence(outside) for value in one.values)
    return not whole and not any(kept.count(word) > elsewhere.count(word) for word in words)


def is_right(one: Labelled, scrubbed: str) -> bool:
    """Whether all values of a text are gone; of a text without any, whether nothing was changed."""
    return scrubbed == one.text if one.category == "none" else are_gone(one, scrubbed)
