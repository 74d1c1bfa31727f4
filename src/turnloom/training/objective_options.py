"""What a recipe may say about each objective, told apart by `kind`.

Other packages add losses of their own by entry points of the group `turnloom.objectives`.
"""

from __future__ import annotations

import inspect
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError

from turnloom.plugins import KindOfOption, Plugin

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
    "PluggedObjective",
    "ReplyAndMeaning",
    "ResponseContrast",
    "Siamese",
    "TemplatePair",
]


class Options(BaseModel):
    """Settings that cannot be misspelt and do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    wants_frequencies: ClassVar[bool] = False
    """For an objective: whether labels say how frequent each reply is."""
    whole_batch: ClassVar[bool] = False
    """For an objective: whether it takes a batch as a whole, so that the stage's `mini_batch_size` makes no sense."""


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

    wants_frequencies = True
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

    whole_batch = True
    kind: Literal["matching_guided"]
    temperature: float = Field(0.1, gt=0)
    aggregation: Literal["mean", "attention"] = "mean"
    negatives: int | None = Field(None, ge=1)
    mask: Literal["text", "none"] = "text"


class Siamese(Options):
    """The network that DialogueCSE is compared with."""

    whole_batch = True
    kind: Literal["siamese"]
    hidden: int = Field(256, ge=1)


class Manipulation(Options):
    """Response selection and UMS's three tasks, on the view `manipulations`: the result is a cross-encoder."""

    whole_batch = True
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
    """Turnloom's own loss: replies by kept heads, meaning by the encoder, a pull towards the start."""

    wants_frequencies = True
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


class PluggedObjective(Options):
    """A loss of another package; what a recipe may say are the keywords that its class takes."""

    model_config = ConfigDict(arbitrary_types_allowed=True)  # Of keywords that no recipe can give, such as modules.

    loss: ClassVar[Any]
    kind: str


def _options_of(plugin: Plugin) -> type[PluggedObjective]:
    """Options made of the signature of a loss: ``Loss(model, *, option=default)``."""
    loss = plugin.load()
    try:
        _model, *keywords = inspect.signature(loss).parameters.values()
    except (TypeError, ValueError) as error:
        raise plugin.broken(f"is no loss: {loss!r} cannot be called with a model") from error
    named = [word for word in keywords if word.kind in (word.KEYWORD_ONLY, word.POSITIONAL_OR_KEYWORD)]
    fields: dict[str, Any] = {
        word.name: (
            Any if word.annotation is word.empty else word.annotation,
            ... if word.default is word.empty else word.default,
        )
        for word in named
        if word.name != "mini_batch_size"
    }
    try:
        made = create_model(plugin.name, __base__=PluggedObjective, __module__=loss.__module__, **fields)
        made.model_rebuild()
    except (PydanticUserError, NameError, TypeError) as error:
        raise plugin.broken(f"has options that cannot be understood: {error}") from error
    made.loss = loss
    made.wants_frequencies = getattr(loss, "wants_frequencies", False)
    made.whole_batch = len(fields) == len(named)
    return made


OwnObjective = (
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
    | Paraphrases
)
Objective = Annotated[
    OwnObjective | PluggedObjective,
    KindOfOption("turnloom.objectives", Annotated[OwnObjective, Field(discriminator="kind")], _options_of),
]
