"""The conversation encoder: contexts of any length, read through the vectors of their turns, each encoded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Context, Encoder, Vectors, unit_rows

AT_A_TIME = 256
Numbers = npt.NDArray[np.int64]
Speakers = Sequence[Sequence[object]]


class ConversationShape(BaseModel):
    """How large a conversation encoder is, and what it reads.

    Attributes:
        version: Of this layout.
        width: Of a turn's vector.
        uses_heads: Whether it reads and refines what the encoder's own context head and reply head give.
        size: Of its states.
        layers: How many there are.
        heads: Of its attention.
        reply_size: Of the hidden layer on the reply side.
        max_turns: So many of the last turns are read.
        encoder: The fingerprint of the encoder whose vectors it learned from.
        source: For an export that can stand for its model, the fingerprint of that.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    width: int = Field(ge=2)
    uses_heads: bool = True
    size: int = Field(256, ge=8)
    layers: int = Field(2, ge=1)
    heads: int = Field(4, ge=1)
    reply_size: int = Field(384, ge=8)
    max_turns: int = Field(64, ge=1)
    encoder: str = ""
    source: str | None = None


class ConversationReader(Protocol):
    """A network over turn vectors, on whatever it runs."""

    @property
    def shape(self) -> ConversationShape:
        """How large it is."""
        ...

    def read(self, vectors: Vectors, speakers: Numbers) -> tuple[Vectors, Vectors]:
        """For each turn of conversations, the query for a reply, and the turn in its context; see the network."""
        ...

    def reply(self, vectors: Vectors) -> Vectors:
        """Vectors for replies, made of those for meaning."""
        ...


class ConversationEncoder:
    """An encoder that reads whole conversations: each turn by the encoder below it, then all of them together.

    `encode` is the encoder's own. Queries and replies are twice as wide: one half is the learned fit, the other the
    meaning, and their product is the score.

    Args:
        turns: The encoder of single turns.
        reader: What reads their vectors.
        fingerprint: What identifies both; that of the turns' encoder alone is `turns.fingerprint`.
        source: The fingerprint of the model that it was exported from, if it can stand for it.
    """

    has_heads = True

    def __init__(self, turns: Encoder, reader: ConversationReader, fingerprint: str, source: str | None = None) -> None:
        self.turns, self.reader = turns, reader
        self.name, self.languages = turns.name, turns.languages
        self.fingerprint, self.source = fingerprint, source

    def over(self, turns: Any) -> ConversationEncoder:
        """The same, with another way to the same vectors of turns: a cache, a vector table, a batching service."""
        return ConversationEncoder(turns, self.reader, self.fingerprint, self.source)

    def format_context(self, context: Context) -> str:
        """A context as the text that the encoder of turns reads."""
        return self.turns.format_context(context)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens of each text the encoder of turns reads."""
        count = getattr(self.turns, "count_tokens", None)
        return count(texts) if count else [len(text.split()) for text in texts]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors for meaning."""
        return self.turns.encode(texts)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies."""
        return self.reply_vectors(self.turns.encode(replies))

    def reply_vectors(self, vectors: Vectors) -> Vectors:
        """Vectors for replies, made of those for meaning."""
        pieces = [self.reader.reply(part) for part in _pieces(vectors, 4 * AT_A_TIME)]
        return np.concatenate(pieces) if pieces else np.zeros((0, 2 * self.reader.shape.width), np.float32)

    def encode_query(self, contexts: Sequence[Context], speakers: Speakers | None = None) -> Vectors:
        """Vectors for contexts: each distinct turn is encoded once.

        Args:
            contexts: The turns of each so far, the oldest first.
            speakers: Who said each turn; two who alternate if not known.
        """
        found = np.zeros((len(contexts), 2 * self.reader.shape.width), np.float32)
        for chosen, sizes, (queries, _) in self._batches(contexts, speakers):
            found[chosen] = queries[np.arange(len(chosen)), sizes - 1]
        return found

    def encode_conversations(self, contexts: Sequence[Context], speakers: Speakers | None = None) -> Vectors:
        """One vector for each whole conversation: what its turns call for, each in its context, and what they mean."""
        found = np.zeros((len(contexts), 2 * self.reader.shape.width), np.float32)
        for chosen, sizes, (_, turns) in self._batches(contexts, speakers):
            said = np.arange(turns.shape[1]) < sizes[:, None]
            found[chosen] = (turns * said[:, :, None]).sum(axis=1)
        return unit_rows(found)

    def _batches(
        self, contexts: Sequence[Context], speakers: Speakers | None
    ) -> Iterator[tuple[Numbers, Numbers, tuple[Vectors, Vectors]]]:
        """Contexts of like length together: which they are, how many turns they have, and what the network reads."""
        most = self.reader.shape.max_turns
        cut = [tuple(context[-most:]) for context in contexts]
        spoken = [list(who)[-most:] for who in _speakers(contexts, speakers)]
        places: dict[str, int] = {}
        rows = [[places.setdefault(turn, len(places)) for turn in context] for context in cut]
        vectors = self.turns.encode(list(places))
        sizes = np.array([len(row) for row in rows], np.int64)
        for chosen in _pieces(np.argsort(sizes, kind="stable"), AT_A_TIME):
            batch, numbers = pad_conversations([rows[index] for index in chosen], [spoken[index] for index in chosen])
            yield chosen, sizes[chosen], self.reader.read(vectors[batch], numbers)

    def encode_turns(self, turns: Context, speakers: Sequence[object] | None = None) -> Vectors:
        """A vector for each turn of a conversation in its context: what it does there, beside what it means."""
        state = self.start()
        state.extend(turns, speakers)
        return state.turn_vectors()

    def start(self) -> ConversationState:
        """A new conversation, to which turns are added one at a time."""
        return ConversationState(self)


class ConversationState:
    """A conversation under way: each turn is encoded once, when it is added.

    Example:
        ``state = encoder.start(); state.add("my card is lost"); state.query()``
    """

    def __init__(self, encoder: ConversationEncoder) -> None:
        self._encoder = encoder
        self._vectors: list[Vectors] = []
        self._speakers: list[object] = []

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, turn: str, speaker: object = None) -> None:
        """Add what was said; without a speaker, it is the other one of two who talk."""
        self.extend([turn], None if speaker is None else [speaker])

    def extend(self, turns: Context, speakers: Sequence[object] | None = None) -> None:
        """Add several turns at once; only the last ones are kept, as many as the network reads."""
        if not turns:
            return
        for speaker in speakers if speakers is not None else [None] * len(turns):
            self._speakers = [*self._speakers, self._other_speaker() if speaker is None else speaker]
        most = self._encoder.reader.shape.max_turns
        self._vectors = [*self._vectors, *self._encoder.turns.encode(list(turns))][-most:]
        self._speakers = self._speakers[-most:]

    def _other_speaker(self) -> object:
        """Who spoke last before the one who spoke last; the second of two if there was nobody else yet."""
        last = self._speakers[-1] if self._speakers else None
        return next((who for who in reversed(self._speakers) if who != last), 0 if last != 0 else 1)

    def _read(self) -> tuple[Vectors, Vectors]:
        if not self._vectors:
            raise TurnloomError("the conversation has no turn yet", "add one first")
        _, speakers = pad_conversations([range(len(self._vectors))], [self._speakers])
        return self._encoder.reader.read(np.stack(self._vectors)[None], speakers)

    def turn_vectors(self) -> Vectors:
        """A vector for each turn in its context."""
        turns: Vectors = self._read()[1][0]
        return turns

    def query(self) -> Vectors:
        """The vector that searches for a reply to the conversation so far, one row."""
        query: Vectors = self._read()[0][:, -1]
        return query


def _pieces(rows: Any, size: int) -> list[Any]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _speakers(contexts: Sequence[Context], speakers: Speakers | None) -> list[Sequence[object]]:
    return [[turn % 2 for turn in range(len(context))] for context in contexts] if speakers is None else list(speakers)


def pad_conversations(rows: Sequence[Sequence[int]], speakers: Speakers) -> tuple[Numbers, Numbers]:
    """Conversations of several lengths as two arrays: the rows of vectors, and numbers of speakers, -1 at the end."""
    longest = max(len(row) for row in rows)
    places = np.zeros((len(rows), longest), np.int64)
    numbers = np.full((len(rows), longest), -1, np.int64)
    for index, (row, spoken) in enumerate(zip(rows, speakers, strict=True)):
        known: dict[object, int] = {}
        places[index, : len(row)] = row
        numbers[index, : len(row)] = [known.setdefault(who, len(known)) for who in spoken]
    return places, numbers
