"""The base class of all losses, shared option types, heads, and a sum of losses."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, get_args

import torch
from pydantic import Field, GetPydanticSchema
from torch import Tensor, nn

from turnloom.errors import TurnloomError
from turnloom.objectives.columns import Features

Mask = Literal["text", "none"]
Temperature = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]


class Loss(nn.Module):
    """A loss. Class attributes describe it to recipes and model cards; constructor arguments are its options."""

    kind: ClassVar[str]
    """Its name in recipes, and the name of its file."""
    wants_frequencies: ClassVar[bool] = False
    """Whether labels are reply frequencies."""
    labels_are_rows: ClassVar[bool] = False
    """Whether labels are the texts' rows in the vector tables of its option `teachers`."""
    trains_cross_encoder: ClassVar[bool] = False
    kept_routes: ClassVar[tuple[str, ...]] = ("query", "document")
    """The model outputs that its heads become if they are kept."""
    reference: ClassVar[str] = ""
    """The paper as BibTeX."""
    settings: ClassVar[tuple[str, ...]] = ()
    """The attributes to show in a model card."""
    passed_on: ClassVar[tuple[str, ...]] = ()
    """Options of a base class that recipes may set too, for a class that forwards ``**options`` to it."""

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings for the model card."""
        return {name: getattr(self, name) for name in self.settings}

    @property
    def citation(self) -> str:
        """The paper as BibTeX, for the model card."""
        return self.reference


def check_choice(option: str, value: str, choices: Any) -> None:
    """Reject an invalid option value."""
    if value not in get_args(choices):
        raise TurnloomError(f"{option} cannot be {value!r}", f"choose one of {', '.join(get_args(choices))}")


def like_model(layer: nn.Module, model: Any) -> nn.Module:
    """Move a layer to the model's device and precision."""
    like: Tensor = next(model.parameters(), torch.zeros(()))
    return layer.to(device=like.device, dtype=like.dtype)


Head = Literal["mlp", "linear", "context-reply", "none"]
AnyHead = Annotated[nn.Module | Head | None, GetPydanticSchema(lambda _, handler: handler(Head))]
"""In Python this may also be a module; a recipe can only name one."""


def mlp_head(width: int, out: int = 128) -> nn.Module:
    """DSE's contrastive head (Appendix A.1): two layers with a ReLU between them, without biases."""
    return nn.Sequential(nn.Linear(width, width, bias=False), nn.ReLU(), nn.Linear(width, out, bias=False))


def linear_head(width: int) -> nn.Module:
    """WMDC's head (Appendix D): one layer that keeps the width."""
    return nn.Linear(width, width)


def _identity_mlp(width: int) -> nn.Module:
    """Two layers that start as the identity, with room to learn: x = relu(x) - relu(-x).

    Two thirds of the hidden units carry the input; one third starts at random and unused. Unlike a residual network, it
    consists of plain layers, which every installation of sentence-transformers can load.
    """
    inner, outer = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
    with torch.no_grad():
        one = torch.eye(width)
        inner.weight[: 2 * width] = torch.cat([one, -one])
        inner.bias.zero_()
        outer.weight.zero_()
        outer.weight[:, : 2 * width] = torch.cat([one, -one], dim=1)
        outer.bias.zero_()
    return nn.Sequential(inner, nn.ReLU(), outer)


class ContextReplyHeads(nn.Module):
    """One head for contexts and one for replies. Both start as the identity, and both are meant to be kept.

    A fitting reply does not mean the same as its context: one vector can't represent both well, but a shared encoder
    with a head per side can. After training, `encode_query` uses `context` and `encode_document` uses `reply`.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.context: nn.Module = _identity_mlp(width)
        self.reply: nn.Module = _identity_mlp(width)

    def forward(self, vectors: Tensor, column: int) -> Tensor:
        """Apply the head of a column: column 0 holds contexts, the others hold replies."""
        return (self.context if column == 0 else self.reply)(vectors)  # type: ignore[no-any-return]


def build_head(head: AnyHead, model: Any) -> nn.Module | None:
    """Create the head of this name for a model; a module is returned unchanged."""
    if head is None or head == "none" or isinstance(head, nn.Module):
        return head if isinstance(head, nn.Module) else None
    makers: dict[str, Any] = {"mlp": mlp_head, "linear": linear_head, "context-reply": ContextReplyHeads}
    if head not in makers:
        raise TurnloomError(f"there is no head {head!r}", f"choose one of {', '.join([*makers, 'none'])}")
    return like_model(makers[head](model.get_embedding_dimension()), model)


class Sum(Loss):
    """The weighted sum of losses on the same columns.

    Formula:
        `sum_k weight_k loss_k`

    Inputs:
        The inputs of the losses.

    When to use:
        For TOD-BERT, `Sum((ResponseContrast(model), 1.0), (MaskedLanguage(model, columns=(0,)), 1.0))`, or to keep a
        language model's knowledge while contrasting.

    Args:
        parts: Pairs of a loss and its weight; all losses must train the same model.
    """

    def __init__(self, *parts: tuple[nn.Module, float]) -> None:
        super().__init__()
        if not parts:
            raise TurnloomError("a sum of no losses", "give pairs of a loss and a weight")
        self.losses: Any = nn.ModuleList([loss for loss, _ in parts])
        self.weights = [float(weight) for _, weight in parts]
        # A trainer replaces this attribute by its wrapped model, which is then passed to all losses.
        self.model = parts[0][0].model
        if any(loss.model is not self.model for loss in self.losses):
            raise TurnloomError("a sum of losses for different models", "make all of them with the same model")

    def forward(self, sentence_features: Iterable[Features], labels: Tensor | None = None) -> Tensor:
        """Compute the sum for a batch, as a trainer calls it."""
        columns = list(sentence_features)
        # Models write their outputs into their inputs, so each loss gets its own copy.
        values = [loss([dict(column) for column in columns], labels) for loss in self.losses]
        return torch.stack([weight * value for weight, value in zip(self.weights, values, strict=True)]).sum()

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings of all losses for the model card."""
        parts = zip(self.losses, self.weights, strict=True)
        return {type(loss).__name__: {"weight": weight, **loss.get_config_dict()} for loss, weight in parts}

    @property
    def citation(self) -> str:
        """The papers of all parts as BibTeX, for the model card."""
        return "".join(loss.citation for loss in self.losses)


def small_transformer(
    tokenizer: Any,
    *,
    layers: int = 2,
    width: int = 128,
    heads: int = 2,
    length: int = 128,
    dropout: float = 0.1,
    pooling: Literal["mean", "cls", "max"] = "mean",
) -> Any:
    """Create a SentenceTransformer with BERT's architecture, random weights and the vocabulary of a fast tokenizer.

    `width` must be a multiple of `heads`; `length` is the maximum number of tokens per text.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=length,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        pad_token_id=tokenizer.pad_token_id,
    )
    with tempfile.TemporaryDirectory() as folder:
        BertModel(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        transformer = Transformer(folder, max_seq_length=length)
    return SentenceTransformer(modules=[transformer, Pooling(width, pooling)])
