"""Templates (TaDSE): utterances with emptied slots, a book of slot values, and new utterances from both."""

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
    """The text between slots, and the slots' names: always one more piece of text than slots.

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
        """Return the text for the encoder: one token for all slots, as in the paper, or each slot's name."""
        tokens = [slot_token(name) if names else ONE_TOKEN for name in self.names]
        return "".join(part for pair in zip(self.pieces, [*tokens, ""], strict=True) for part in pair)

    def to_json(self) -> str:
        """Serialise it as one string for `from_json`."""
        return json.dumps([self.pieces, self.names], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Template:
        """Read a template that `to_json` wrote."""
        pieces, names = json.loads(text)
        return cls(tuple(pieces), tuple(names))

    def fill(self, values: Sequence[str]) -> Tagged:
        """Fill the slots with values, and record their positions."""
        text, slots = self.pieces[0], []
        for name, value, piece in zip(self.names, values, self.pieces[1:], strict=True):
            slots.append((name, len(text), len(text) + len(value)))
            text += value + piece
        return Tagged(text, tuple(slots))


def slot_token(name: str) -> str:
    """Return the token for a slot's name.

    Example:
        >>> slot_token("fromloc.city_name")
        '{FROMLOC.CITY_NAME}'
    """
    return "{" + name.upper() + "}"


def template_of(tagged: Tagged) -> Template:
    """Return the template that an utterance fills."""
    pieces, end = [], 0
    for _, start, stop in tagged.slots:
        pieces.append(tagged.text[end:start])
        end = stop
    return Template((*pieces, tagged.text[end:]), tuple(name for name, _, _ in tagged.slots))


def templater(tagger: Tagger, *, names: bool = False) -> Callable[[Sequence[str]], list[str]]:
    """Create a function from utterances to template texts, for utterances without annotation.

    Args:
        tagger: Finds the slots.
        names: Whether templates show slot names; must match the model's training.
    """

    def to_templates(texts: Sequence[str]) -> list[str]:
        return [
            template_of(Tagged.of(text, slots)).text(names=names)
            for text, slots in zip(texts, tagger(texts), strict=True)
        ]

    return to_templates


@dataclass
class EntityBook:
    """The values of each slot and their counts, from training utterances only."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, utterances: Iterable[Tagged]) -> EntityBook:
        """Count the slot values of some utterances."""
        for tagged in utterances:
            for name, value in tagged.values():
                self.counts[name][value] += 1
        return self

    def top(self, name: str, k: int) -> list[str]:
        """Return the k most frequent values of a slot; ties in alphabetical order."""
        return sorted(self.counts[name], key=lambda value: (-self.counts[name][value], value))[:k]

    def noisy(self, share: float = 0.3) -> dict[str, float]:
        """Return slots for which at least this share of occurrences has a value that other slots have too.

        Such a slot mixes different things, and filling its templates gives unnatural utterances.
        """
        owners: Counter[str] = Counter(value for values in self.counts.values() for value in values)
        found = {}
        for name, values in self.counts.items():
            shared = sum(count for value, count in values.items() if owners[value] > 1) / values.total()
            if shared >= share:
                found[name] = shared
        return found


def augment(template: Template, book: EntityBook, *, k: int, cap: int, seed: int = 0) -> list[Tagged]:
    """Fill a template with the k most frequent values of each slot: all combinations, or a sample.

    Six slots of five values give 15,625 combinations, so at most `cap` are made. The sample depends only on the seed
    and the template.
    """
    if not template.names:
        return []
    values = [book.top(name, k) for name in template.names]
    total = math.prod(len(choice) for choice in values)
    numbers: Iterable[int] = range(total)
    if total > cap:
        rng = random.Random(hashlib.sha256(f"{seed}\x00{template.text(names=True)}".encode()).digest())
        drawn: set[int] = set()
        while len(drawn) < cap:  # Not `rng.sample`: the total may exceed 64 bits.
            drawn.add(rng.randrange(total))
        numbers = sorted(drawn)
    return [template.fill(_choice(number, values)) for number in numbers]


def _choice(number: int, values: Sequence[Sequence[str]]) -> list[str]:
    """Decode a number into one value per slot, like the digits of a mixed-radix number."""
    found = []
    for choice in reversed(values):
        number, place = divmod(number, len(choice))
        found.append(choice[place])
    return found[::-1]


@dataclass(frozen=True)
class Statistics:
    """The counts of TaDSE's Table 1."""

    entities: int
    values: int
    templates: int
    utterances: int
    augmented: int

    @property
    def ratio(self) -> float:
        """Utterances per template after augmentation."""
        return self.augmented / max(self.templates, 1)
