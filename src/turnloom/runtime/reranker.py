"""The turn-level re-ranker: it scores replies from stored vectors, and encodes nothing but the new turn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from turnloom.errors import TurnloomError
from turnloom.runtime.conversation import ConversationEncoder, Numbers
from turnloom.runtime.model_folder import CONVERSATION, RERANK, damage_named, files_fingerprint
from turnloom.runtime.onnx_backend import open_graph
from turnloom.runtime.protocols import Context, Vectors

if TYPE_CHECKING:
    from turnloom.runtime.rerank_network import RerankNetwork

SHAPE, WEIGHTS, GRAPH = "rerank.json", "weights.safetensors", "rerank.onnx"
INPUTS = ("turns", "calls", "speakers", "replies", "search")


class RerankShape(BaseModel):
    """The size of a re-ranker, and what it reads.

    Attributes:
        version: The version of this layout.
        width: The dimension of a turn's vector.
        size: The dimension of its hidden states.
        layers: The number of layers.
        heads: The number of attention heads.
        max_turns: How many of the last turns it reads.
        conversation: The fingerprint of the conversation encoder whose scores it corrects; in an export, that of its
            files.
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
    """A re-ranker's network, in torch or as an ONNX graph.

    Args:
        network: The network.
        shape: Its size.
        fingerprint: Identifies it together with its conversation encoder.
    """

    def __init__(self, network: RerankNetwork | OnnxNetwork, shape: RerankShape, fingerprint: str) -> None:
        self.network, self.shape, self.fingerprint = network, shape, fingerprint

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
        most = self.shape.max_turns
        given = [np.ascontiguousarray(each)[None] for each in (vectors[-most:], calls[-most:], speakers[-most:])]
        given += [np.ascontiguousarray(each)[None] for each in (replies, search)]
        if isinstance(self.network, OnnxNetwork):
            exported: npt.NDArray[np.float64] = self.network.run(given)[0].astype(np.float64)
            return exported
        import torch

        with torch.inference_mode():
            scores = self.network(*(torch.from_numpy(each) for each in given))
        found: npt.NDArray[np.float64] = scores[0].double().numpy()
        return found


class OnnxNetwork:
    """A re-ranker's network as an ONNX graph.

    Args:
        path: The graph.
    """

    def __init__(self, path: Path) -> None:
        self._graph = open_graph(path)

    def run(self, given: Sequence[npt.NDArray[Any]]) -> Vectors:
        """Return the scores of replies, of shape (contexts, replies)."""
        scores: Vectors = self._graph.run(["scores"], dict(zip(INPUTS, given, strict=True)))[0]
        return scores


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
        return self.encoder.start(context).rerank(self.encoder.encode_document(replies))


def save_reranker(network: RerankNetwork, folder: Path) -> None:
    """Write a re-ranker into a model's folder, in half precision."""
    from safetensors.torch import save_file

    inside = folder / RERANK
    inside.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.half().contiguous() for name, tensor in network.state_dict().items()}, inside / WEIGHTS)
    (inside / SHAPE).write_text(network.shape.model_dump_json(indent=2) + "\n", encoding="utf-8")


def load_reranker(folder: Path, conversation: str, exact: str) -> Reranker | None:
    """Load the re-ranker in a model's folder, if there is one.

    Args:
        folder: The model's folder.
        conversation: The fingerprint of its conversation encoder.
        exact: The same in full precision.

    Raises:
        TurnloomError: If it is damaged, or corrects another conversation encoder.
    """
    inside = folder / RERANK
    if not inside.exists():
        return None
    path = inside / SHAPE
    try:
        shape = RerankShape.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise TurnloomError(f"{path} describes no re-ranker", "copy the model again") from error
    exported = (inside / GRAPH).exists()
    if shape.conversation != (files_fingerprint(folder / CONVERSATION) if exported else exact):
        raise TurnloomError(f"{inside} does not fit the conversation encoder beside it", "train the re-ranker again")
    with damage_named(folder):
        network = OnnxNetwork(inside / GRAPH) if exported else _torch_network(inside / WEIGHTS, shape)
    return Reranker(network, shape, files_fingerprint(inside, conversation))


def _torch_network(path: Path, shape: RerankShape) -> RerankNetwork:
    from safetensors.torch import load_file

    from turnloom.runtime.rerank_network import RerankNetwork

    network = RerankNetwork(shape)
    network.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items()})
    return network.eval()


def export_reranker(encoder: ConversationEncoder, folder: Path) -> None:
    """Write a re-ranker as an ONNX graph into an exported model's folder, beside its conversation encoder."""
    import torch

    assert isinstance(encoder.reranker, Reranker)
    network, shape = encoder.reranker.network, encoder.reranker.shape
    assert isinstance(network, torch.nn.Module)
    inside = folder / RERANK
    inside.mkdir(parents=True)
    beside = shape.model_copy(update={"conversation": files_fingerprint(folder / CONVERSATION)})
    (inside / SHAPE).write_text(beside.model_dump_json(indent=2) + "\n", encoding="utf-8")
    turns, replies = torch.export.Dim("turns", max=shape.max_turns), torch.export.Dim("replies")
    vectors, width = torch.rand(1, 3, shape.width), shape.width
    given = (vectors, vectors, torch.tensor([[0, 1, 0]]), torch.rand(1, 4, 2 * width), torch.rand(1, 4))
    with torch.no_grad():
        torch.onnx.export(
            network,
            given,
            str(inside / GRAPH),
            input_names=list(INPUTS),
            output_names=["scores"],
            dynamic_shapes=({1: turns}, {1: turns}, {1: turns}, {1: replies}, {1: replies}),
            external_data=False,
            verbose=False,
        )
