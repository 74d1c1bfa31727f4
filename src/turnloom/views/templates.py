"""Templates (TaDSE): utterances with their slots emptied, a book of what fills them, and new utterances from both."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from turnloom.corpus.tagging import Tagged, Tagger

ONE_TOKEN = "{SLOT}"


@dataclass(frozen=True)
class Template:
    """The words between slots, and the slots' names: one more piece of text than there are slots.

    Example:
        >>> template = Template(("turn on the ", " in the ", ""), ("device", "room"))
        >>> template.text()
        'turn on the {SLOT} in the {SLOT}'
        >>> template.text(names=True)
        'turn on the {DEVICE} in the {ROOM}'
        >>> template.fill(["lamp", "hall"]).text
        'turn on the lamp in the hall'
    """

    pieces: tuple[str, ...]
    names: tuple[str, ...]

    def text(self, *, names: bool = False) -> str:
        """As the encoder reads it: one token for all slots, as in the paper, or each slot's own name."""
        tokens = [slot_token(name) if names else ONE_TOKEN for name in self.names]
        return "".join(part for pair in zip(self.pieces, [*tokens, ""], strict=True) for part in pair)

    def to_json(self) -> str:
        """As one string, from which `from_json` makes the template again."""
        return json.dumps([self.pieces, self.names], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Template:
        """The template that `to_json` wrote."""
        pieces, names = json.loads(text)
        return cls(tuple(pieces), tuple(names))

    def fill(self, values: Sequence[str]) -> Tagged:
        """An utterance with these values, and where they stand."""
        text, slots = self.pieces[0], []
        for name, value, piece in zip(self.names, values, self.pieces[1:], strict=True):
            slots.append((name, len(text), len(text) + len(value)))
            text += value + piece
        return Tagged(text, tuple(slots))


def slot_token(name: str) -> str:
    """The token of a slot's own name.

    Example:
        >>> slot_token("fromloc.city_name")
        '{FROMLOC.CITY_NAME}'
    """
    return "{" + name.upper() + "}"


def template_of(tagged: Tagged) -> Template:
    """The template that an utterance fills."""
    pieces, end = [], 0
    for _, start, stop in tagged.slots:
        pieces.append(tagged.text[end:start])
        end = stop
    return Template((*pieces, tagged.text[end:]), tuple(name for name, _, _ in tagged.slots))


def templater(tagger: Tagger, *, names: bool = False) -> Callable[[Sequence[str]], list[str]]:
    """A function from utterances to the texts of their templates, for utterances that nobody has annotated.

    Args:
        tagger: Finds the slots.
        names: Whether templates show their slots' names, as those that the model was trained with.
    """

    def to_templates(texts: Sequence[str]) -> list[str]:
        return [
            template_of(Tagged.of(text, slots)).text(names=names)
            for text, slots in zip(texts, tagger(texts), strict=True)
        ]

    return to_templates


@dataclass
class EntityBook:
    """What fills each slot, and how often: counted in training utterances, and nowhere else."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, utterances: Iterable[Tagged]) -> EntityBook:
        """Count the values of some utterances."""
        for tagged in utterances:
            for name, value in tagged.values():
                self.counts[name][value] += 1
        return self

    def top(self, name: str, k: int) -> list[str]:
        """The k most frequent values of a slot; of equally frequent ones the first in the alphabet."""
        return sorted(self.counts[name], key=lambda value: (-self.counts[name][value], value))[:k]

    def noisy(self, share: float = 0.3) -> dict[str, float]:
        """Slots of which so large a part of the occurrences has a value that other slots have too.

        Such a slot mixes kinds of things, and filling its templates gives utterances that nobody would say.
        """
        owners: Counter[str] = Counter(value for values in self.counts.values() for value in values)
        found = {}
        for name, values in self.counts.items():
            shared = sum(count for value, count in values.items() if owners[value] > 1) / values.total()
            if shared >= share:
                found[name] = shared
        return found


def augment(template: Template, book: EntityBook, *, k: int, cap: int, seed: int = 0) -> list[Tagged]:
    """Utterances that fill a template with the k most frequent values of each slot: all of them, or a sample.

    A template with six slots of five values has 15,625: no more than `cap` are made. Which ones depends on the seed and
    the template alone.
    """
    if not template.names:
        return []
    values = [book.top(name, k) for name in template.names]
    total = math.prod(len(choice) for choice in values)
    numbers: Iterable[int] = range(total)
    if total > cap:
        rng = random.Random(hashlib.sha256(f"{seed}\x00{template.text(names=True)}".encode()).digest())
        drawn: set[int] = set()
        while len(drawn) < cap:  # Not `rng.sample`: the total may be too large for 64 bits.
            drawn.add(rng.randrange(total))
        numbers = sorted(drawn)
    return [template.fill(_choice(number, values)) for number in numbers]


def _choice(number: int, values: Sequence[Sequence[str]]) -> list[str]:
    """The values that a number stands for, as a clock's hands do for a time."""
    found = []
    for choice in reversed(values):
        number, place = divmod(number, len(choice))
        found.append(choice[place])
    return found[::-1]


@dataclass(frozen=True)
class Statistics:
    """What TaDSE's Table 1 counts."""

    entities: int
    values: int
    templates: int
    utterances: int
    augmented: int

    @property
    def ratio(self) -> float:
        """Utterances a template after augmentation."""
        return self.augmented / max(self.templates, 1)
