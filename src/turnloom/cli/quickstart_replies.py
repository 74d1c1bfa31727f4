"""The replies of `turnloom quickstart`: index them, and choose the order in which they are suggested."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from turnloom.cli.console import counting, say, share_progress
from turnloom.cli.quickstart_scores import VECTORS, encode_once
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.replies import ReplyIndex, Suggestion
    from turnloom.replies.search import Mode
    from turnloom.runtime import Encoder

ORDERS: tuple[Mode, ...] = ("hybrid", "typical")
ASKED = 200
"""Conversations kept apart that both orders are tried on."""
ERRORS = 2.0
"""So many standard errors better must `typical` be: the model that made the vectors also judges."""


def index_replies(out: Path, model: Path) -> Encoder:
    """Encode every text once and index the replies; return the encoder, which reads these vectors."""
    from turnloom.replies import ReplyIndex
    from turnloom.vectors import VectorTable

    vectors = out / VECTORS / model.name
    encoder = encode_once(model, out / "prepared", vectors)
    encoded = VectorTable(vectors).manifest
    say(f"{encoded.texts:,} distinct texts of {encoded.turns:,} turns, each encoded once: {vectors}")
    with share_progress() as show:
        index = ReplyIndex.build([out / "prepared"], out / "replies", encoder, on_progress=show)
    version = index.version
    say(f"{version.replies.rows:,} replies, given {version.occurrences.rows:,} times")
    return encoder


def choose_order(index: ReplyIndex, table: Path) -> tuple[Mode, float | None]:
    """Return `typical` if its first suggestions mean more nearly what was really replied, else `hybrid`.

    With `typical` comes the score below which nothing is suggested: half of the conversations reach it. The index has
    the conversations kept apart, too: a reply that was given once, namely there, does not count.
    """
    from turnloom.replies.evaluate import sample_contexts

    try:
        asked = sample_contexts([table], index, ASKED)
    except TurnloomError:  # None was kept apart.
        return "hybrid", None
    contexts, true = asked["context"].to_pylist(), asked["text"].to_pylist()
    assert index.encoder is not None
    given = index.encoder.encode(true)
    found = {mode: _first_suggestions(index, mode, contexts, true) for mode in ORDERS}
    near = []
    for suggestions in found.values():
        texts = [one.text if one else reply for one, reply in zip(suggestions, true, strict=True)]
        near.append((index.encoder.encode(texts) * given).sum(axis=1))
    gains = near[1] - near[0]
    if float(gains.mean()) <= ERRORS * float(gains.std()) / len(gains) ** 0.5:
        return "hybrid", None
    say("Suggested first: what most of the nearest replies say. That was closer to what agents really wrote.")
    say("Where it is unsure, in half of the conversations, nothing is suggested: min_score in service.yaml.")
    return "typical", round(statistics.median(one.score for one in found["typical"] if one), 3)


def _first_suggestions(
    index: ReplyIndex, mode: Mode, contexts: list[list[str]], true: list[str]
) -> list[Suggestion | None]:
    """Return the first reply to each context that was not given there alone."""
    first: list[Suggestion | None] = []
    with counting(f"trying {mode}", len(contexts)) as count:
        for context, reply in zip(contexts, true, strict=True):
            others = (one for one in index.suggest(context, 2, mode=mode) if one.text != reply or one.count > 1)
            first.append(next(others, None))
            count(1)
    return first
