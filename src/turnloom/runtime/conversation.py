"""The conversation encoder: contexts of any length, read through the vectors of their turns, each encoded once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from turnloom.errors import TurnloomError
from turnloom.runtime.model_folder import CONVERSATION, damage_named
from turnloom.runtime.protocols import Context, Encoder, Vectors, unit_rows

if TYPE_CHECKING:
    import torch

    from turnloom.runtime.conversation_network import ConversationNetwork

SHAPE, WEIGHTS = "conversation.json", "weights.safetensors"
HEADS = ("query_head.", "reply_head.")
"""The names of the weights that are the encoder's own, and are saved with it."""
AT_A_TIME = 256


class ConversationEncoder:
    """An encoder that reads whole conversations: each turn by the encoder below it, then all of them together.

    `encode` is the encoder's own. Queries and replies are twice as wide: one half is the learned fit, the other the
    meaning, and their product is the score.

    Args:
        turns: The encoder of single turns.
        network: What reads their vectors.
        fingerprint: What identifies both; that of the turns' encoder alone is `turns.fingerprint`.
    """

    has_heads = True

    def __init__(self, turns: Encoder, network: ConversationNetwork, fingerprint: str) -> None:
        self.turns, self.network = turns, network.eval()
        self.name, self.languages = turns.name, turns.languages
        self.fingerprint = fingerprint

    def over(self, turns: Any) -> ConversationEncoder:
        """The same, with another way to the same vectors of turns: a cache, a vector table, a batching service."""
        return ConversationEncoder(turns, self.network, self.fingerprint)

    def format_context(self, context: Context) -> str:
        """A context as the text that the encoder of turns reads."""
        return self.turns.format_context(context)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors for meaning."""
        return self.turns.encode(texts)

    def encode_document(self, replies: Sequence[str]) -> Vectors:
        """Vectors for replies."""
        return self.reply_vectors(self.turns.encode(replies))

    def reply_vectors(self, vectors: Vectors) -> Vectors:
        """Vectors for replies, made of those for meaning."""
        import torch

        with torch.inference_mode():
            pieces = [self.network.joint_reply(part) for part in torch.from_numpy(vectors).float().split(4 * AT_A_TIME)]
        return torch.cat(pieces).numpy() if pieces else np.zeros((0, 2 * self.network.shape.width), np.float32)

    def encode_query(self, contexts: Sequence[Context], speakers: Sequence[Sequence[object]] | None = None) -> Vectors:
        """Vectors for contexts.

        Args:
            contexts: The turns of each so far, the oldest first.
            speakers: Who said each turn; two who alternate if not known.
        """
        return self._read(contexts, speakers, lambda network, *batch: network.joint_query(*batch))

    def encode_conversations(
        self, contexts: Sequence[Context], speakers: Sequence[Sequence[object]] | None = None
    ) -> Vectors:
        """One vector for each whole conversation: what its turns call for, each in its context, and what they mean."""
        parts = [
            self.encode_turns(*conversation)
            for conversation in zip(contexts, _speakers(contexts, speakers), strict=True)
        ]
        return np.stack([unit_rows(part.mean(axis=0, keepdims=True))[0] for part in parts])

    def encode_turns(self, turns: Context, speakers: Sequence[object] | None = None) -> Vectors:
        """A vector for each turn of a conversation in its context: what it does there, beside what it means."""
        state = self.start()
        state.extend(turns, speakers)
        return state.turn_vectors()

    def start(self) -> ConversationState:
        """A new conversation, to which turns are added one at a time."""
        return ConversationState(self)

    def _read(self, contexts: Sequence[Context], speakers: Any, read: Any) -> Vectors:
        """Each distinct turn is encoded once; contexts of like length share a batch."""
        import torch

        most = self.network.shape.max_turns
        cut = [tuple(context[-most:]) for context in contexts]
        spoken = [list(who)[-most:] for who in _speakers(contexts, speakers)]
        places: dict[str, int] = {}
        rows = [[places.setdefault(turn, len(places)) for turn in context] for context in cut]
        vectors = torch.from_numpy(self.turns.encode(list(places))).float()
        found = np.zeros((len(cut), 2 * self.network.shape.width), np.float32)
        order = sorted(range(len(cut)), key=lambda index: len(cut[index]))
        with torch.inference_mode():
            for start in range(0, len(order), AT_A_TIME):
                chosen = order[start : start + AT_A_TIME]
                batch = pad_conversations([rows[index] for index in chosen], [spoken[index] for index in chosen])
                last = torch.tensor([len(rows[index]) - 1 for index in chosen])
                found[chosen] = read(self.network, vectors[batch[0]], batch[1])[torch.arange(len(chosen)), last].numpy()
        return found


class ConversationState:
    """A conversation under way: each turn is encoded once, when it is added.

    Example:
        ``state = encoder.start(); state.add("my card is lost"); index.search(state.query())``
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
        """Add several turns at once."""
        if not turns:
            return
        for speaker in speakers if speakers is not None else [None] * len(turns):
            self._speakers.append(self._other_speaker() if speaker is None else speaker)
        most = self._encoder.network.shape.max_turns
        self._vectors = [*self._vectors, *self._encoder.turns.encode(list(turns))][-most:]
        self._speakers = self._speakers[-most:]

    def _other_speaker(self) -> object:
        """Who spoke last before the one who spoke last; the second of two if there was nobody else yet."""
        last = self._speakers[-1] if self._speakers else None
        return next((who for who in reversed(self._speakers) if who != last), 0 if last != 0 else 1)

    def _tensors(self) -> tuple[torch.Tensor, torch.Tensor]:
        import torch

        if not self._vectors:
            raise TurnloomError("the conversation has no turn yet", "add one first")
        _, speakers = pad_conversations([range(len(self._vectors))], [self._speakers])
        return torch.from_numpy(np.stack(self._vectors)).float()[None], speakers

    def turn_vectors(self) -> Vectors:
        """A vector for each turn in its context."""
        import torch

        with torch.inference_mode():
            return torch.cat(self._encoder.network(*self._tensors())[:2], dim=-1)[0].numpy()

    def query(self) -> Vectors:
        """The vector that searches for a reply to the conversation so far, one row."""
        import torch

        with torch.inference_mode():
            return self._encoder.network.joint_query(*self._tensors())[:, -1].numpy()


def _speakers(contexts: Sequence[Context], speakers: Sequence[Sequence[object]] | None) -> list[Sequence[object]]:
    return [[turn % 2 for turn in range(len(context))] for context in contexts] if speakers is None else list(speakers)


def pad_conversations(
    rows: Sequence[Sequence[int]], speakers: Sequence[Sequence[object]]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Conversations of several lengths as two tensors: the rows of vectors, and numbers of speakers, -1 at the end."""
    import torch

    longest = max(len(row) for row in rows)
    places = np.zeros((len(rows), longest), np.int64)
    numbers = np.full((len(rows), longest), -1, np.int64)
    for index, (row, spoken) in enumerate(zip(rows, speakers, strict=True)):
        known: dict[object, int] = {}
        places[index, : len(row)] = row
        numbers[index, : len(row)] = [known.setdefault(who, len(known)) for who in spoken]
    return torch.from_numpy(places), torch.from_numpy(numbers)


def heads_of(encoder: Any) -> dict[str, Any]:
    """The context head and the reply head of an encoder, for a network to read; none if it has none of its own."""
    if not getattr(encoder, "separate_heads", False):
        return {}
    return {"query_head": encoder.head("query"), "reply_head": encoder.head("document")}


def save_conversation(network: ConversationNetwork, folder: Path) -> None:
    """Write a conversation encoder into a model's folder, in half precision."""
    from safetensors.torch import save_file

    inside = folder / CONVERSATION
    inside.mkdir(parents=True, exist_ok=True)
    weights = {
        name: tensor.detach().half().contiguous().cpu()
        for name, tensor in network.state_dict().items()
        if not name.startswith(HEADS)
    }
    save_file(weights, inside / WEIGHTS)
    (inside / SHAPE).write_text(network.shape.model_dump_json(indent=2) + "\n", encoding="utf-8")


def load_conversation(folder: Path, encoder: Any) -> ConversationEncoder:
    """The conversation encoder in a model's folder, over the encoder of that folder.

    Raises:
        TurnloomError: If it is damaged, or learned from another encoder's vectors.
    """
    from safetensors.torch import load_file

    from turnloom.runtime.conversation_network import ConversationNetwork, ConversationShape

    inside = folder / CONVERSATION
    try:
        shape = ConversationShape.model_validate_json((inside / SHAPE).read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise TurnloomError(f"{inside / SHAPE} describes no conversation encoder", "copy the model again") from error
    heads = heads_of(encoder)
    if shape.uses_heads != bool(heads):
        raise TurnloomError(f"{inside} does not fit the model beside it", "train the conversation encoder again")
    network = ConversationNetwork(shape, **heads)
    with damage_named(folder):
        weights = load_file(inside / WEIGHTS)
        own = {name: tensor for name, tensor in network.state_dict().items() if name.startswith(HEADS)}
        network.load_state_dict({**own, **{name: tensor.float() for name, tensor in weights.items()}})
    digest = hashlib.sha256(encoder.fingerprint.encode())
    for name in (SHAPE, WEIGHTS):
        digest.update((inside / name).read_bytes())
    return ConversationEncoder(encoder, network, digest.hexdigest()[:32])
