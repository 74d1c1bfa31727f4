"""Check and encode what a classifier is fitted on: examples, names, a pool and out-of-scope messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from turnloom.errors import TurnloomError
from turnloom.intents.evidence import Evidence
from turnloom.intents.examples import Examples, Labels, Message, Turns, alike, drawn, label_sets, turns_of
from turnloom.intents.fitted import Unlabelled
from turnloom.intents.names import name_phrases
from turnloom.intents.pool import MOST_MESSAGES, Pool
from turnloom.runtime.protocols import Vectors, unit_rows

Embed = Callable[[Sequence[Turns]], Vectors]
"""Returns a unit vector per message."""


def encode_unlabelled(embed: Embed, messages: Sequence[Message]) -> Unlabelled:
    """Encode messages that have no label."""
    turns = tuple(turns_of(message) for message in messages)
    return Unlabelled(turns, embed(turns)) if turns else Unlabelled()


def encode_names(embed: Embed, names: Mapping[str, str]) -> Evidence:
    """Encode what intents are called."""
    if not names:
        return Evidence()
    phrases = [name_phrases(text) for text in names.values()]
    vectors = embed([(phrase,) for each in phrases for phrase in each])
    parts = np.split(vectors, np.cumsum([len(each) for each in phrases])[:-1])
    means = unit_rows(np.stack([part.mean(axis=0) for part in parts]))
    return Evidence(dict(names), dict(zip(names, means, strict=True)))


def encode_pool(embed: Embed, messages: Sequence[Message]) -> Pool | None:
    """Encode the pool's distinct messages, or a sample of them; None without messages."""
    if not messages:
        return None
    distinct = list({alike(turns): turns for turns in map(turns_of, messages) if turns[-1].strip()}.values())
    return Pool.of(embed([distinct[place] for place in drawn(len(distinct), MOST_MESSAGES)]), len(distinct))


def encode_examples(
    embed: Embed, messages: Sequence[Message], labels: Labels, intents: Sequence[str], *, multi_label: bool
) -> tuple[Examples, list[Turns]]:
    """Return the examples and the messages labelled out of scope; `intents` may have no example.

    Raises:
        TurnloomError: If labels are missing, a message is empty, or one has several labels without `multi_label`.
    """
    if len(messages) != len(labels):
        raise TurnloomError(f"{len(messages)} messages have {len(labels)} labels", "give one label per message")
    turns, sets = [turns_of(message) for message in messages], label_sets(labels)
    empty = next((place for place, each in enumerate(turns) if not each[-1].strip()), None)
    if empty is not None:
        raise TurnloomError(f"message {empty + 1} is empty", "leave it out")
    several = next((place for place, names in enumerate(sets) if len(names) > 1), None)
    if several is not None and not multi_label:
        raise TurnloomError(f"message {several + 1} has {len(sets[several])} labels", "set multi_label=True")
    inside = [place for place, names in enumerate(sets) if names]
    known = [turns[place] for place in inside]
    examples = Examples.of(known, embed(known), [sets[place] for place in inside], intents)
    return examples, [turns[place] for place, names in enumerate(sets) if not names]
