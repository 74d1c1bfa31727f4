"""Keep the turn vectors of conversations in progress, so that only new messages are encoded."""

from __future__ import annotations

import copy
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from turnloom.runtime.conversation import ConversationEncoder, ConversationState
from turnloom.service.config import ConversationMemory


@dataclass
class _Remembered:
    """A conversation's vectors, and hashes of its turns instead of their texts."""

    state: ConversationState
    said: list[bytes] = field(default_factory=list)
    used: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class ConversationStates:
    """The states of conversations by id, up to a maximum; the least recently used ones are dropped first.

    Clients always send the whole conversation, so no answer depends on this memory: neither on which worker answers,
    nor on whether a state has expired. Texts are not kept.
    """

    def __init__(self, encoder: ConversationEncoder, options: ConversationMemory) -> None:
        self._encoder, self._options = encoder, options
        self._states: OrderedDict[tuple[str, str], _Remembered] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._states)

    def read(self, owner: str, name: str, context: Sequence[str]) -> ConversationState:
        """Return a conversation's state; only turns that are new since the last call are encoded.

        Args:
            owner: The key that owns the conversation; two owners never share one, even with the same id.
            name: The conversation's id.
            context: All of its turns so far.
        """
        said = [hashlib.blake2b(turn.encode("utf-8", "surrogatepass"), digest_size=16).digest() for turn in context]
        remembered = self._find((owner, name))
        with remembered.lock:
            if remembered.said != said[: len(remembered.said)]:
                remembered.state, remembered.said = self._encoder.start(), []
            new = context[len(remembered.said) :]
            remembered.state.extend(new)
            remembered.said = said
            # A copy: another request may add turns to this conversation before the caller is done.
            return copy.copy(remembered.state)

    def _find(self, key: tuple[str, str]) -> _Remembered:
        now = time.monotonic()
        with self._lock:
            while self._states and now - next(iter(self._states.values())).used > self._options.seconds:
                self._states.popitem(last=False)
            remembered = self._states.pop(key, None) or _Remembered(self._encoder.start())
            remembered.used = now
            self._states[key] = remembered
            while len(self._states) > self._options.most:
                self._states.popitem(last=False)
        return remembered
