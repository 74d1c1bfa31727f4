"""Conversations under way: the vectors of their turns, so that a new message is all that is encoded."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from turnloom.runtime.conversation import ConversationEncoder, ConversationState
from turnloom.runtime.protocols import Vectors
from turnloom.service.config import ConversationMemory


@dataclass
class _Remembered:
    """A conversation's vectors, and hashes of its turns instead of their texts."""

    state: ConversationState
    said: list[bytes] = field(default_factory=list)
    used: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class ConversationStates:
    """States of conversations by id: at most so many, the ones not used for longest leave first.

    A client always sends the whole conversation, so nothing depends on what is remembered here: not on which worker
    answers, and not on whether a state has expired. Texts are not kept.
    """

    def __init__(self, encoder: ConversationEncoder, options: ConversationMemory) -> None:
        self._encoder, self._options = encoder, options
        self._states: OrderedDict[tuple[str, str], _Remembered] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._states)

    def query(self, owner: str, name: str, context: Sequence[str]) -> Vectors:
        """The query for a reply to a conversation; only turns that were not there the last time are encoded.

        Args:
            owner: Whose conversation it is: ids of two owners are never the same conversation.
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
            query: Vectors = remembered.state.query()[0]
        return query

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
