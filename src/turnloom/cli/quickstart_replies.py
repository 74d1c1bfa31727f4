"""The replies of `turnloom quickstart`: index them, and choose the order in which they are suggested."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from turnloom.cli.console import counting, say, share_progress
from turnloom.cli.quickstart_scores import VECTORS, encode_once
from turnloom.errors import TurnloomError

if TYPE_CHECKING:
    from turnloom.replies import ReplyIndex
    from turnloom.replies.search import Mode
    from turnloom.runtime import Encoder

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


def choose_order(index: ReplyIndex, table: Path) -> Mode:
    """Return `typical` if its first suggestions mean more nearly what was really replied, else `hybrid`.

    The index has the conversations kept apart, too: a reply that was given once, namely there, does not count.
    """
    from turnloom.replies.evaluate import sample_contexts

    try:
        asked = sample_contexts([table], index, ASKED)
    except TurnloomError:  # None was kept apart.
        return "hybrid"
    contexts, true = asked["context"].to_pylist(), asked["text"].to_pylist()
    assert index.encoder is not None
    given = index.encoder.encode(true)
    near = []
    for mode in ("hybrid", "typical"):
        with counting(f"trying {mode}", len(contexts)) as count:
            first = []
            for context, reply in zip(contexts, true, strict=True):
                found = index.suggest(context, 2, mode=mode)
                others = [one.text for one in found if one.text != reply or one.count > 1]
                first.append(others[0] if others else reply)
                count(1)
        near.append((index.encoder.encode(first) * given).sum(axis=1))
    gains = near[1] - near[0]
    is_better = float(gains.mean()) > ERRORS * float(gains.std()) / len(gains) ** 0.5
    if is_better:
        say("Suggested first: what most of the nearest replies say. That was closer to what agents really wrote.")
    return "typical" if is_better else "hybrid"
