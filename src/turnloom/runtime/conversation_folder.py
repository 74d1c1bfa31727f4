"""Save and load a conversation encoder inside a model's folder, in torch or as ONNX graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from turnloom.errors import TurnloomError
from turnloom.runtime.conversation import ConversationEncoder, ConversationShape, Numbers
from turnloom.runtime.model_folder import CONVERSATION, damage_named, files_fingerprint
from turnloom.runtime.onnx_backend import open_graph
from turnloom.runtime.protocols import Encoder, Vectors, has_separate_heads, in_full_precision
from turnloom.runtime.reranker import load_reranker

if TYPE_CHECKING:
    from torch import Tensor, nn

    from turnloom.runtime.conversation_network import ConversationNetwork

SHAPE, WEIGHTS = "conversation.json", "weights.safetensors"
READ_GRAPH, REPLY_GRAPH = "read.onnx", "reply.onnx"
HEADS = ("query_head.", "reply_head.")
"""Prefixes of the weights that belong to the encoder and are saved with it."""


class TorchReader:
    """The network in torch."""

    def __init__(self, network: ConversationNetwork) -> None:
        self.network, self.shape = network.eval(), network.shape

    def read(self, vectors: Vectors, speakers: Numbers) -> tuple[Vectors, Vectors]:
        """Return queries, and turns in context."""
        import torch

        with torch.inference_mode():
            query, turns = self.network.read(torch.from_numpy(vectors), torch.from_numpy(speakers))
        return query.numpy(), turns.numpy()

    def reply(self, vectors: Vectors) -> Vectors:
        """Return replies as an index stores them."""
        import torch

        with torch.inference_mode():
            stored: Vectors = self.network.joint_reply(torch.from_numpy(vectors)).numpy()
        return stored


class OnnxReader:
    """The network as two ONNX graphs, heads included.

    Args:
        folder: The exported model's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.shape = read_shape(folder)
        self._read, self._reply = (open_graph(folder / CONVERSATION / name) for name in (READ_GRAPH, REPLY_GRAPH))

    def read(self, vectors: Vectors, speakers: Numbers) -> tuple[Vectors, Vectors]:
        """Return queries, and turns in context."""
        query, turns = self._read.run(["query", "turns"], {"vectors": vectors, "speakers": speakers})
        return query, turns

    def reply(self, vectors: Vectors) -> Vectors:
        """Return replies as an index stores them."""
        stored: Vectors = self._reply.run(["reply"], {"vectors": vectors})[0]
        return stored


def heads_of(encoder: Any) -> dict[str, Any]:
    """Return an encoder's context head and reply head for a network to read; empty if it has no separate heads."""
    if not encoder.has_heads or not has_separate_heads(encoder):
        return {}
    return {"query_head": encoder.head("query"), "reply_head": encoder.head("document")}


def own_weights(network: nn.Module) -> dict[str, Tensor]:
    """Return the weights that are a network's own: all but the encoder's heads."""
    return {
        name: tensor.detach().contiguous().cpu()
        for name, tensor in network.state_dict().items()
        if not name.startswith(HEADS)
    }


def save_conversation(network: ConversationNetwork, folder: Path) -> None:
    """Write a conversation encoder into a model's folder, in half precision."""
    from safetensors.torch import save_file

    inside = folder / CONVERSATION
    inside.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.half() for name, tensor in own_weights(network).items()}, inside / WEIGHTS)
    (inside / SHAPE).write_text(network.shape.model_dump_json(indent=2) + "\n", encoding="utf-8")


def read_shape(folder: Path) -> ConversationShape:
    """Read the shape of the conversation encoder in a model's folder.

    Raises:
        TurnloomError: If it is damaged.
    """
    path = folder / CONVERSATION / SHAPE
    try:
        return ConversationShape.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise TurnloomError(f"{path} describes no conversation encoder", "copy the model again") from error


def load_conversation(folder: Path, encoder: Any) -> ConversationEncoder:
    """Load the conversation encoder in a model's folder, on top of that folder's encoder.

    Raises:
        TurnloomError: If it is damaged, or was trained on another encoder's vectors.
    """
    identity = conversation_fingerprint(folder, encoder)
    # In bfloat16 the vectors differ slightly, but the re-ranker was trained for the same model.
    exact = files_fingerprint(folder / CONVERSATION, in_full_precision(encoder.fingerprint))
    reranker = load_reranker(folder, identity, exact)
    if (folder / CONVERSATION / READ_GRAPH).exists():
        reader = OnnxReader(folder)
        return ConversationEncoder(encoder, reader, identity, reader.shape.source, reranker)
    from safetensors.torch import load_file

    from turnloom.runtime.conversation_network import ConversationNetwork

    shape, heads = read_shape(folder), heads_of(encoder)
    if shape.uses_heads != bool(heads):
        raise TurnloomError(
            f"{folder / CONVERSATION} does not fit the model beside it", "train the conversation encoder again"
        )
    network = ConversationNetwork(shape, **heads)
    with damage_named(folder):
        weights = load_file(folder / CONVERSATION / WEIGHTS)
        own = {name: tensor for name, tensor in network.state_dict().items() if name.startswith(HEADS)}
        network.load_state_dict({**own, **{name: tensor.float() for name, tensor in weights.items()}})
    return ConversationEncoder(encoder, TorchReader(network), identity, reranker=reranker)


def with_conversation(folder: Path, encoder: Encoder) -> Encoder:
    """Add the conversation encoder in an encoder's folder to it, if there is one."""
    return load_conversation(folder, encoder) if (folder / CONVERSATION).exists() else encoder


def conversation_fingerprint(folder: Path, encoder: Encoder) -> str:
    """Return the fingerprint of an encoder together with the conversation encoder in its folder."""
    return files_fingerprint(folder / CONVERSATION, encoder.fingerprint)


def export_conversation(encoder: ConversationEncoder, folder: Path, *, stands_for: bool) -> None:
    """Write a conversation encoder as ONNX graphs into an exported model's folder.

    Args:
        encoder: The conversation encoder, in torch.
        folder: The exported model's folder.
        stands_for: Whether the export can replace the model, for example to search replies that the model encoded.
    """
    import torch
    from torch import nn

    assert isinstance(encoder.reader, TorchReader)
    network, shape = encoder.reader.network, encoder.reader.shape

    class Read(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, vectors: Tensor, speakers: Tensor) -> tuple[Tensor, Tensor]:
            return self.network.read(vectors, speakers)

    class Reply(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, vectors: Tensor) -> Tensor:
            return self.network.joint_reply(vectors)

    inside = folder / CONVERSATION
    inside.mkdir(parents=True)
    source = encoder.fingerprint if stands_for else None
    text = shape.model_copy(update={"source": source}).model_dump_json(indent=2)
    (inside / SHAPE).write_text(text + "\n", encoding="utf-8")
    rows, turns = torch.export.Dim("rows"), torch.export.Dim("turns", max=shape.max_turns)
    vectors, speakers = torch.rand(2, 3, shape.width), torch.tensor([[0, 1, 0], [0, 1, -1]])
    with torch.no_grad():
        torch.onnx.export(
            Read().eval(),
            (vectors, speakers),
            str(inside / READ_GRAPH),
            input_names=["vectors", "speakers"],
            output_names=["query", "turns"],
            dynamic_shapes=({0: rows, 1: turns}, {0: rows, 1: turns}),
            external_data=False,
            verbose=False,
        )
        torch.onnx.export(
            Reply().eval(),
            (vectors[:, 0],),
            str(inside / REPLY_GRAPH),
            input_names=["vectors"],
            output_names=["reply"],
            dynamic_shapes=({0: rows},),
            external_data=False,
            verbose=False,
        )
