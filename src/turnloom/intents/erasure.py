"""Erase messages from saved intents: examples, messages that set thresholds, and the pool's vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from turnloom.intents.examples import Turns, alike, embed
from turnloom.intents.fitted import Fitted, Unlabelled, with_examples
from turnloom.intents.neighbours import Neighbours
from turnloom.intents.saving import read_fitted, write_fitted
from turnloom.runtime.protocols import Encoder

SAME = 0.995
"""Vectors with a higher cosine are of one message. An export's vectors differ from its model's by less."""


def is_among(turns: Sequence[str], texts: Collection[str]) -> bool:
    """Whether one of the turns of a message is among normalised texts."""
    return any(turn in texts for turn in alike(tuple(turns)))


def normalised(texts: Collection[str]) -> frozenset[str]:
    """Return texts as messages are compared: without differences of case and white space."""
    return frozenset(alike(tuple(texts)))


def erase_from_intents(folder: Path, texts: Collection[str], load: Callable[[str | None], Encoder]) -> int:
    """Write saved intents again without some messages, and return how many they had.

    What was computed from many messages together (prototypes, thresholds, a head) stays until the intents are fitted
    again.

    Args:
        folder: The folder of the intents.
        texts: What to erase: every example in which one of them is a turn, and their vectors in the pool.
        load: Returns the encoder, given the folder that the intents name; called only if there is a pool.

    Raises:
        TurnloomError: If no example would be left.
    """
    fitted, saved = read_fitted(folder)
    wanted = normalised(texts)
    examples = [turns for turns in fitted.examples.messages if is_among(turns, wanted)]
    known = fitted.examples.without(examples, []) if examples else fitted.examples
    changed = replace(fitted, held_out=_without(fitted.held_out, wanted), outside=_without(fitted.outside, wanted))
    beyond = sum(
        len(before.messages) - len(after.messages)
        for before, after in ((fitted.held_out, changed.held_out), (fitted.outside, changed.outside))
    )
    pooled = 0
    if fitted.evidence.near is not None and wanted:
        near = _without_vectors(fitted.evidence.near, texts, load(saved.model), fitted.options.context_turns)
        pooled = len(fitted.evidence.near.vectors) - len(near.vectors)
        changed = replace(changed, evidence=replace(changed.evidence, near=near))
    if not examples and not beyond and not pooled:
        return 0
    again: Fitted = with_examples(changed, known)
    write_fitted(again, folder, saved.encoder, saved.fingerprint, saved.model)
    return len(examples) + beyond + pooled


def _without(messages: Unlabelled, texts: Collection[str]) -> Unlabelled:
    kept = [row for row, turns in enumerate(messages.messages) if not is_among(turns, texts)]
    if len(kept) == len(messages.messages):
        return messages
    return Unlabelled(tuple(messages.messages[row] for row in kept), messages.vectors[kept]) if kept else Unlabelled()


def _without_vectors(near: Neighbours, texts: Collection[str], encoder: Encoder, context_turns: int) -> Neighbours:
    """Return a pool without the vectors of some texts; it has no texts to compare."""
    messages: list[Turns] = [(text,) for text in sorted(texts)]
    similar = near.vectors @ embed(encoder, messages, context_turns).T
    kept = np.flatnonzero(similar.max(axis=1) < SAME)
    return Neighbours(near.vectors[kept], near.beliefs[kept], near.intents)
