"""What a recipe may say about each objective, told apart by `kind`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "HardNegative",
    "InverseFrequency",
    "Manipulation",
    "MaskedLanguage",
    "MatchingGuided",
    "NTXent",
    "Objective",
    "Options",
    "Paraphrases",
    "ReplyAndMeaning",
    "ResponseContrast",
    "Siamese",
    "TemplatePair",
]


class Options(BaseModel):
    """Settings that cannot be misspelt and do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Contrastive(Options):
    temperature: float = Field(0.05, gt=0)
    mask: Literal["text", "none"] = "text"


class HardNegative(_Contrastive):
    """DSE's loss."""

    kind: Literal["hard_negative"]
    weighting: Literal["outside", "inside", "none"] = "outside"
    head: Literal["mlp", "linear", "context-reply", "none"] = "mlp"


class NTXent(_Contrastive):
    """NT-Xent over both sides, or from one side to the other."""

    kind: Literal["nt_xent"]
    form: Literal["simclr", "symmetric", "forward"] = "simclr"
    head: Literal["mlp", "linear", "context-reply", "none"] = "none"


class InverseFrequency(_Contrastive):
    """WMDC's loss; a head for each group of the view."""

    kind: Literal["inverse_frequency"]
    head: Literal["mlp", "linear", "context-reply", "none"] = "linear"


class ResponseContrast(_Contrastive):
    """TOD-BERT's loss, with so much masked-language loss on contexts added."""

    kind: Literal["response_contrast"]
    temperature: float = Field(1.0, gt=0)
    similarity: Literal["dot", "cosine"] = "dot"
    pooling: Literal["cls", "model"] = "cls"
    masked_language_weight: float = Field(1.0, ge=0)


class MaskedLanguage(Options):
    """Masked words, and perhaps whether a turn follows another."""

    kind: Literal["masked_language"]
    probability: float = Field(0.15, gt=0, lt=1)
    next_sentence: bool = False


class MatchingGuided(Options):
    """DialogueCSE's loss, on the view `matching`."""

    kind: Literal["matching_guided"]
    temperature: float = Field(0.1, gt=0)
    aggregation: Literal["mean", "attention"] = "mean"
    negatives: int | None = Field(None, ge=1)
    mask: Literal["text", "none"] = "text"


class Siamese(Options):
    """The network that DialogueCSE is compared with."""

    kind: Literal["siamese"]
    hidden: int = Field(256, ge=1)


class Manipulation(Options):
    """Response selection and UMS's three tasks, on the view `manipulations`: the result is a cross-encoder."""

    kind: Literal["manipulation"]
    selection: float = Field(1.0, ge=0)
    insertion: float = Field(1.0, ge=0)
    deletion: float = Field(1.0, ge=0)
    search: float = Field(1.0, ge=0)
    form: Literal["binary", "softmax"] = "binary"


class TemplatePair(Options):
    """TaDSE's losses, on the view `templates`: their weights, and the temperatures in the same order."""

    kind: Literal["template_pair"]
    template: float = Field(1.0, ge=0)
    utterance: float = Field(1.0, ge=0)
    pair: float = Field(0.5, ge=0)
    temperatures: tuple[float, float, float] = (0.05, 0.05, 0.05)
    template_layer: bool = True
    mask: Literal["text", "none"] = "text"


class ReplyAndMeaning(Options):
    """Turnwise's own loss: replies by kept heads, meaning by the encoder, a pull towards the start."""

    kind: Literal["reply_and_meaning"]
    temperature: float = Field(0.05, gt=0)
    mask: Literal["text", "none"] = "text"
    head: Literal["context-reply"] = "context-reply"
    reply_gradient: float = Field(1.0, ge=0)
    meaning: float = Field(0.0, ge=0)
    pull: float = Field(0.0, ge=0)


class Paraphrases(_Contrastive):
    """NT-Xent between turns that were answered alike, where the start agrees; a pull towards the start."""

    kind: Literal["paraphrases"]
    agreement: float = Field(0.4, ge=-1, le=1)
    pull: float = Field(0.0, ge=0)


Objective = Annotated[
    HardNegative
    | NTXent
    | InverseFrequency
    | ResponseContrast
    | MaskedLanguage
    | MatchingGuided
    | Siamese
    | Manipulation
    | TemplatePair
    | ReplyAndMeaning
    | Paraphrases,
    Field(discriminator="kind"),
]
