"""The conversation encoder: read contexts of any length from the vectors of their turns, each encoded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from turnloom.errors import TurnloomError
from turnloom.runtime.protocols import Context, Encoder, Vectors, unit_rows
from turnloom.words import estimate_words

AT_A_TIME = 256
Numbers = npt.NDArray[np.int64]
Speakers = Sequence[Sequence[object]]


class ConversationShape(BaseModel):
    """The size of a conversation encoder, and what it reads.

    Attributes:
        version: The version of this layout.
        width: The dimension of a turn's vector.
        uses_heads: Whether it reads and refines the outputs of the encoder's own context head and reply head.
        size: The dimension of its hidden states.
        layers: The number of layers.
        heads: The number of attention heads.
        reply_size: The size of the hidden layer on the reply side.
        max_turns: How many of the last turns it reads.
        encoder: The fingerprint of the encoder whose vectors it was trained on.
        source: For an export that can replace its model, the model's fingerprint.
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
    """A network over turn vectors, in any runtime."""

    @property
    def shape(self) -> ConversationShape:
        """The size of the network."""
        ...

    def read(self, vectors: Vectors, speakers: Numbers) -> tuple[Vectors, Vectors]:
        """Return each turn's query for a reply, and its vector in context; see `ConversationNetwork.read`."""
        ...

    def reply(self, vectors: Vectors) -> Vectors:
        """Compute reply vectors from meaning vectors."""
        ...


class ReplyReranker(Protocol):
    """Corrects the scores of a search, from vectors alone."""

    @property
    def fingerprint(self) -> str:
        """Identifies it together with its conversation encoder."""
        ...

    def score(
        self, vectors: Vectors, calls: Vectors, speakers: Numbers, replies: Vectors, search: Vectors
    ) -> npt.NDArray[np.float64]:
        """Return the scores of replies to one context; see `Reranker.score`."""
        ...


class ConversationEncoder:
    """An encoder that reads whole conversations: it encodes each turn, then reads all of them together.

    `encode` is that of the turn encoder. Queries and replies are twice as wide: one half is the learned fit, the other
    the meaning. The dot product of a query and a reply is the score.

    Args:
        turns: The encoder of single turns.
        reader: The network that reads their vectors.
        fingerprint: Identifies both together; `turns.fingerprint` identifies the turn encoder alone.
        source: The fingerprint of the model that it was exported from, if it can replace that model.
        reranker: Puts the best replies of a search into their final order.
    """

    has_heads = True

    def __init__(
        self,
        turns: Encoder,
        reader: ConversationReader,
        fingerprint: str,
        source: str | None = None,
        reranker: ReplyReranker | None = None,
    ) -> None:
        self.turns, self.reader, self.reranker = turns, reader, reranker
        self.name, self.languages = turns.name, turns.languages
        self.fingerprint, self.source = fingerprint, source

    def over(self, turns: Any) -> ConversationEncoder:
        """Return the same encoder with another source of the same turn vectors, such as a cache or a vector table."""
        return ConversationEncoder(turns, self.reader, self.fingerprint, self.source, self.reranker)

    def format_context(self, context: Context) -> str:
        """Return a context as the text that the turn encoder reads."""
        return self.turns.format_context(context)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens of each text the turn encoder reads."""
        count = getattr(self.turns, "count_tokens", None)
        return count(texts) if count else [estimate_words(text) for text in texts]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts by meaning."""
        return self.turns.encode(texts)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Return the embeddings of replies."""
        return self.reply_vectors(self.turns.encode(replies))

    def reply_vectors(self, vectors: Vectors) -> Vectors:
        """Compute reply vectors from meaning vectors."""
        pieces = [self.reader.reply(part) for part in _pieces(vectors, 4 * AT_A_TIME)]
        return np.concatenate(pieces) if pieces else np.zeros((0, 2 * self.reader.shape.width), np.float32)

    def encode_query(self, contexts: Sequence[Context], speakers: Speakers | None = None) -> Vectors:
        """Return the embeddings of contexts; each distinct turn is encoded once.

        Args:
            contexts: The turns of each context, oldest first.
            speakers: Who said each turn; by default, two speakers who alternate.
        """
        found = np.zeros((len(contexts), 2 * self.reader.shape.width), np.float32)
        for chosen, sizes, (queries, _) in self._batches(contexts, speakers):
            found[chosen] = queries[np.arange(len(chosen)), sizes - 1]
        return found

    def encode_conversations(self, contexts: Sequence[Context], speakers: Speakers | None = None) -> Vectors:
        """Return one vector per conversation: what its turns call for, each in context, and what they mean."""
        found = np.zeros((len(contexts), 2 * self.reader.shape.width), np.float32)
        for chosen, sizes, (_, turns) in self._batches(contexts, speakers):
            said = np.arange(turns.shape[1]) < sizes[:, None]
            found[chosen] = (turns * said[:, :, None]).sum(axis=1)
        return unit_rows(found)

    def encode_all_turns(self, contexts: Sequence[Context], speakers: Speakers | None = None) -> list[Vectors]:
        """Return the turns of each conversation in context, as `encode_turns` does, many conversations at a time.

        Of a conversation longer than `max_turns`, only the last ones are returned.
        """
        found = [np.zeros((0, 2 * self.reader.shape.width), np.float32)] * len(contexts)
        for chosen, sizes, (_, turns) in self._batches(contexts, speakers):
            for index, size, vectors in zip(chosen.tolist(), sizes.tolist(), turns, strict=True):
                found[index] = np.array(vectors[:size])
        return found

    def _batches(
        self, contexts: Sequence[Context], speakers: Speakers | None
    ) -> Iterator[tuple[Numbers, Numbers, tuple[Vectors, Vectors]]]:
        """Group contexts of similar length; yield their indices, their numbers of turns and the network's output."""
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
        """Return one vector per turn of a conversation: what it does in its context, and what it means."""
        state = self.start()
        state.extend(turns, speakers)
        return state.turn_vectors()

    def start(self, turns: Context = ()) -> ConversationState:
        """Start a conversation with the turns so far, if any; you add the others one at a time."""
        state = ConversationState(self)
        state.extend(turns)
        return state


class ConversationState:
    """A conversation in progress: each turn is encoded once, when you add it.

    Example:
        ``state = encoder.start(); state.add("my card is lost"); state.query()``
    """

    def __init__(self, encoder: ConversationEncoder) -> None:
        self._encoder = encoder
        self._vectors: list[Vectors] = []
        self._speakers: list[object] = []
        self._reading: tuple[Vectors, Vectors, Numbers] | None = None

    def __len__(self) -> int:
        return len(self._vectors)

    def add(self, turn: str, speaker: object = None) -> None:
        """Add a turn; without a speaker, two speakers alternate."""
        self.extend([turn], None if speaker is None else [speaker])

    def extend(self, turns: Context, speakers: Sequence[object] | None = None) -> None:
        """Add several turns at once. Only the last `max_turns` of the conversation are kept."""
        if not turns:
            return
        for speaker in speakers if speakers is not None else [None] * len(turns):
            self._speakers = [*self._speakers, self._other_speaker() if speaker is None else speaker]
        most = self._encoder.reader.shape.max_turns
        self._vectors = [*self._vectors, *self._encoder.turns.encode(list(turns))][-most:]
        self._speakers = self._speakers[-most:]
        self._reading = None

    def _other_speaker(self) -> object:
        """Return the last speaker who is not the current one, or a second speaker if there is none yet."""
        last = self._speakers[-1] if self._speakers else None
        return next((who for who in reversed(self._speakers) if who != last), 0 if last != 0 else 1)

    def _read(self) -> tuple[Vectors, Vectors, Numbers]:
        """Return queries, turns in context and speakers; read once, since a search and its re-ranking need both."""
        if not self._vectors:
            raise TurnloomError("the conversation has no turn yet", "add one first")
        if self._reading is None:
            _, speakers = pad_conversations([range(len(self._vectors))], [self._speakers])
            self._reading = (*self._encoder.reader.read(np.stack(self._vectors)[None], speakers), speakers)
        return self._reading

    def turn_vectors(self) -> Vectors:
        """Return one vector per turn, in its context."""
        turns: Vectors = self._read()[1][0]
        return turns

    def query(self) -> Vectors:
        """Return the query vector for a reply to the conversation so far, as one row."""
        query: Vectors = self._read()[0][:, -1]
        return query

    @property
    def reranks(self) -> bool:
        """Whether the model has a re-ranker."""
        return self._encoder.reranker is not None

    def rerank(self, replies: Vectors) -> npt.NDArray[np.float64]:
        """Return the re-ranker's scores of replies to the conversation so far; higher is better.

        Args:
            replies: The replies as `encode_document` returns them, or as an index stores them: of unit length.

        Raises:
            TurnloomError: If the model has no re-ranker.
        """
        if self._encoder.reranker is None:
            raise TurnloomError(f"{self._encoder.name} has no re-ranker", "train one with: turnloom train rerank")
        queries, turns, speakers = self._read()
        both = np.concatenate([self._half(replies, 0), self._half(replies, 1)], axis=1)
        calls = turns[0][:, : self._encoder.reader.shape.width]
        return self._encoder.reranker.score(np.stack(self._vectors), calls, speakers[0], both, both @ queries[0, -1])

    def _half(self, replies: Vectors, half: int) -> Vectors:
        width = self._encoder.reader.shape.width
        return unit_rows(replies[:, half * width : (half + 1) * width])


def _pieces(rows: Any, size: int) -> list[Any]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _speakers(contexts: Sequence[Context], speakers: Speakers | None) -> list[Sequence[object]]:
    return [[turn % 2 for turn in range(len(context))] for context in contexts] if speakers is None else list(speakers)


def pad_conversations(rows: Sequence[Sequence[int]], speakers: Speakers) -> tuple[Numbers, Numbers]:
    """Pad conversations to one length; return the rows of their vectors and their speakers' numbers, -1 for padding."""
    longest = max(len(row) for row in rows)
    places = np.zeros((len(rows), longest), np.int64)
    numbers = np.full((len(rows), longest), -1, np.int64)
    for index, (row, spoken) in enumerate(zip(rows, speakers, strict=True)):
        known: dict[object, int] = {}
        places[index, : len(row)] = row
        numbers[index, : len(row)] = [known.setdefault(who, len(known)) for who in spoken]
    return places, numbers
