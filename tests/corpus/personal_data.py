"""Precision and recall of scrubbing on the labelled lines of `personal_data.txt`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Spans = list[tuple[str, int, int]]
_MARK = re.compile(r"\[\[([A-Z]+):(.*?)\]\]")
LINES = Path(__file__).with_name("personal_data.txt")


def parse(line: str) -> tuple[str, Spans]:
    """The raw text of a marked line, and what is marked in it."""
    text, spans, at = "", [], 0
    for match in _MARK.finditer(line):
        text += line[at : match.start()]
        spans.append((match[1], len(text), len(text) + len(match[2])))
        text += match[2]
        at = match.end()
    return text + line[at:], spans


def labelled() -> list[tuple[str, Spans]]:
    return [parse(line) for line in LINES.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Score:
    """Of one kind: how many were marked, found, and found exactly where they are marked."""

    marked: int
    found: int
    right: int

    @property
    def recall(self) -> float:
        return self.right / self.marked

    @property
    def precision(self) -> float:
        return self.right / max(self.found, 1)


def score(find: Callable[[str], Spans]) -> dict[str, Score]:
    marked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for text, spans in labelled():
        seen = find(text)
        marked.update(kind for kind, *_ in spans)
        found.update(kind for kind, *_ in seen)
        right.update(kind for kind, *_ in set(spans) & set(seen))
    return {kind: Score(marked[kind], found[kind], right[kind]) for kind in sorted(marked)}
