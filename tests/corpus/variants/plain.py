"""The formats without a vendor, in the shapes of `tests.corpus.formats`."""

from __future__ import annotations

from tests.corpus.formats import WRITERS, sample
from tests.corpus.variants.base import Said, variant

_ROLES = {"multiwoz": {"assistant": "system"}}


def _said(way: str) -> list[Said]:
    roles = _ROLES.get(way, {})
    return [[(roles.get(turn.speaker, turn.speaker), turn.text) for turn in sample(n).turns] for n in range(3)]


SPACED = "Agent: Hi\n\nCustomer: My card is lost\n\nAgent: I block it\n\nCustomer: Thanks\n"
VARIANTS = [
    *(
        variant(f"plain {way}", WRITERS[way][0], WRITERS[way][2]([sample(n) for n in range(3)]), _said(way), file=f"log.{WRITERS[way][1]}")
        for way in ("turns", "turns-array", "messages", "sharegpt", "sgd", "multiwoz", "taskmaster", "transcript")
    ),
    variant("transcript with a blank line after each turn", "transcript", SPACED, [[("Agent", "Hi"), ("Customer", "My card is lost"), ("Agent", "I block it"), ("Customer", "Thanks")]], file="chat.txt"),
    variant("transcripts, one per file", "transcript", {"chats/1.txt": "Agent: Hi\nCustomer: Hello\n", "chats/2.txt": "Agent: Yes?\nCustomer: No\n"}, [[("Agent", "Hi"), ("Customer", "Hello")], [("Agent", "Yes?"), ("Customer", "No")]]),
]  # fmt: skip
