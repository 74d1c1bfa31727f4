"""The turn-level re-ranker: it scores replies from stored vectors, and encodes nothing but the new turn."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.errors import TurnloomError
from turnloom.runtime.conversation import ConversationEncoder, Numbers
from turnloom.runtime.model_folder import RERANK, damage_named
from turnloom.runtime.protocols import Context, Vectors

if TYPE_CHECKING:
    from turnloom.runtime.rerank_network import RerankNetwork

SHAPE, WEIGHTS = "rerank.json", "weights.safetensors"


class RerankShape(BaseModel):
    """The size of a re-ranker, and what it reads.

    Attributes:
        version: The version of this layout.
        width: The dimension of a turn's vector.
        size: The dimension of its hidden states.
        layers: The number of layers.
        heads: The number of attention heads.
        max_turns: How many of the last turns it reads.
        conversation: The fingerprint of the conversation encoder whose scores it corrects.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    width: int = Field(ge=2)
    size: int = Field(128, ge=8)
    layers: int = Field(2, ge=1)
    heads: int = Field(4, ge=1)
    max_turns: int = Field(12, ge=1)
    conversation: str = ""


class Reranker:
    """A re-ranker's network.

    Args:
        network: The network.
        fingerprint: Identifies it together with its conversation encoder.
    """

    def __init__(self, network: RerankNetwork, fingerprint: str) -> None:
        self.network, self.shape, self.fingerprint = network.eval(), network.shape, fingerprint

    def score(
        self, vectors: Vectors, calls: Vectors, speakers: Numbers, replies: Vectors, search: Vectors
    ) -> npt.NDArray[np.float64]:
        """Return the scores of replies to one context.

        Args:
            vectors: The turns' vectors by meaning.
            calls: What each turn calls for.
            speakers: A number for each turn's speaker.
            replies: The replies as an index stores them.
            search: Their scores in the search.
        """
        import torch

        most = self.shape.max_turns
        given = (vectors[-most:], calls[-most:], speakers[-most:], replies, search)
        with torch.inference_mode():
            scores = self.network(*(torch.from_numpy(np.ascontiguousarray(each))[None] for each in given))
        found: npt.NDArray[np.float64] = scores[0].double().numpy()
        return found


class ConversationScorer:
    """A conversation encoder with its re-ranker as a scorer of texts.

    Args:
        encoder: The encoder.

    Raises:
        TurnloomError: If it has no re-ranker.
    """

    bounded = False

    def __init__(self, encoder: Any) -> None:
        if not isinstance(encoder, ConversationEncoder) or encoder.reranker is None:
            raise TurnloomError(
                f"{encoder.name} has no re-ranker", "train one with: turnloom train rerank VECTORS --start MODEL"
            )
        self.encoder, self.turns = encoder, encoder.turns
        self.name, self.languages = encoder.name, encoder.languages
        self.fingerprint: str = encoder.reranker.fingerprint

    def over(self, turns: Any) -> ConversationScorer:
        """Return the same scorer with another source of the same turn vectors, such as a cache."""
        return type(self)(self.encoder.over(turns))

    def score(self, context: Context, replies: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each reply fits; higher is better."""
        state = self.encoder.start()
        state.extend(context)
        return state.rerank(self.encoder.encode_document(replies))


def save_reranker(network: RerankNetwork, folder: Path) -> None:
    """Write a re-ranker into a model's folder, in half precision."""
    from safetensors.torch import save_file

    inside = folder / RERANK
    inside.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.half().contiguous() for name, tensor in network.state_dict().items()}, inside / WEIGHTS)
    (inside / SHAPE).write_text(network.shape.model_dump_json(indent=2) + "\n", encoding="utf-8")


def load_reranker(folder: Path, conversation: str) -> Reranker | None:
    """Load the re-ranker in a model's folder, if there is one.

    Args:
        folder: The model's folder.
        conversation: The fingerprint of its conversation encoder.

    Raises:
        TurnloomError: If it is damaged, or corrects another conversation encoder.
    """
    inside = folder / RERANK
    if not inside.exists():
        return None
    from safetensors.torch import load_file

    from turnloom.runtime.rerank_network import RerankNetwork

    path = inside / SHAPE
    try:
        shape = RerankShape.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise TurnloomError(f"{path} describes no re-ranker", "copy the model again") from error
    if shape.conversation != conversation:
        raise TurnloomError(f"{inside} does not fit the conversation encoder beside it", "train the re-ranker again")
    network = RerankNetwork(shape)
    with damage_named(folder):
        network.load_state_dict({name: tensor.float() for name, tensor in load_file(inside / WEIGHTS).items()})
    digest = hashlib.sha256(conversation.encode() + path.read_bytes() + (inside / WEIGHTS).read_bytes())
    return Reranker(network, digest.hexdigest()[:32])
