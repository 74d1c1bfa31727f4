"""Read a variant as `turnloom convert` does, without the engine: pieces of a dialogue are joined and sorted."""

from __future__ import annotations

from pathlib import Path

from tests.corpus.variants.base import Said
from turnloom.corpus import find_logs
from turnloom.corpus.preview import preview_dialogues
from turnloom.corpus.schema import Dialogue


def read_dialogues(path: Path) -> tuple[set[str], list[Dialogue]]:
    """The formats that were recognised, and the dialogues that were read."""
    logs = find_logs([str(path)])
    return {log.format for log in logs}, preview_dialogues(logs, most=1_000).dialogues


def said_in(dialogue: Dialogue) -> Said:
    """Speaker, text and time of each turn, as variants write them."""
    return [
        (turn.speaker, turn.text, *([turn.time.replace(tzinfo=None).isoformat()] if turn.time else []))
        for turn in dialogue.turns
    ]


def matches(dialogue: Dialogue, said: Said) -> bool:
    """Whether a dialogue is what a variant expects; a time counts where the variant gives one."""
    found = said_in(dialogue)
    return len(found) == len(said) and all(
        turn[:2] == wanted[:2] and (len(wanted) < 3 or "".join(turn[2:]).startswith(wanted[2]))
        for turn, wanted in zip(found, said, strict=True)
    )
