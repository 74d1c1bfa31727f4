"""Recipes that train on stored vectors: the settings they share, and those of a conversation encoder."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat

from turnloom.runtime.encoder import computes_bf16_fast
from turnloom.training.objective_options import Options


class VectorModel(Options):
    """The base model whose vectors are read.

    Attributes:
        start: The folder of the base model that made the vectors; the trained model is a copy with the network added.
    """

    start: str | None = None


class VectorRecipe(Options):
    """The settings that all recipes for vectors share.

    Attributes:
        name: The method's name.
        model: The base model.
        steps: The number of steps, unless you pass minutes.
        rate: The peak learning rate.
        weight_decay: The weight decay of AdamW.
        seed: The random seed.
        bf16: Whether to compute in bfloat16; `auto` where the machine is fast at it.
        save_every: The number of steps between checkpoints.
    """

    name: str
    model: VectorModel = VectorModel()
    steps: int = Field(12_000, ge=1)
    rate: float = Field(1e-3, gt=0)
    weight_decay: float = Field(0.01, ge=0)
    seed: int = 0
    bf16: bool | Literal["auto"] = "auto"
    save_every: int = Field(500, ge=1)

    @property
    def computes_in_bf16(self) -> bool:
        """Whether training on this machine computes in bfloat16."""
        return computes_bf16_fast() if self.bf16 == "auto" else self.bf16


class ConversationModel(VectorModel):
    """The base model whose vectors are read, and the network on top.

    Attributes:
        adapt: Whether to continue from the conversation encoder in this folder.
        size: The dimension of the network's hidden states.
        layers: The number of layers.
        heads: The number of attention heads.
        reply_size: The size of the hidden layer on the reply side.
        max_turns: How many of the last turns the model reads.
        dropout: Dropout in training.
    """

    adapt: bool = False
    size: int = Field(256, ge=8)
    layers: int = Field(2, ge=1)
    heads: int = Field(4, ge=1)
    reply_size: int = Field(384, ge=8)
    max_turns: int = Field(64, ge=2)
    dropout: float = Field(0.1, ge=0, lt=1)


class ConversationData(Options):
    """How to draw and cut dialogues.

    Attributes:
        dialogues: The number of dialogues per step, all from one source; each other's replies are negatives.
        contexts: About how many replies a step has at least: if dialogues are short, it has more of them.
        max_turns: The maximum length; longer dialogues are cut to a segment of this many turns.
        short: How often a cut segment is shorter, with a random number of turns from two.
        source_power: A source's share of the steps is its number of turns to this power: 1 is proportional, 0 is equal.
        windows: Maximum numbers of turns of a context; each step uses one of them, as in WMDC. By default all turns.
    """

    dialogues: int = Field(64, ge=2)
    contexts: int = Field(600, ge=1)
    max_turns: int = Field(24, ge=2)
    short: float = Field(0.3, ge=0, le=1)
    source_power: float = Field(0.5, ge=0, le=1)
    windows: list[int] | None = None


class ConversationRecipe(VectorRecipe):
    """Everything that decides how a conversation encoder is trained.

    Attributes:
        model: The base model, and the network.
        data: The batches.
        inverse_frequency: Whether pairs with frequent replies count less, as in WMDC.
        adapt: Settings to override when you adapt a trained conversation encoder (`--adapt`).
    """

    trains: Literal["conversation"]
    model: ConversationModel = ConversationModel()
    data: ConversationData = ConversationData()
    inverse_frequency: bool = False
    adapt: dict[str, str | int | float | bool] = Field(default_factory=dict)


class RerankModel(VectorModel):
    """The base model, which has a conversation encoder, and the re-ranker on top.

    Attributes:
        size: The dimension of the re-ranker's hidden states.
        layers: The number of layers.
        heads: The number of attention heads.
        max_turns: How many of the last turns it reads.
        dropout: Dropout in training.
    """

    size: int = Field(128, ge=8)
    layers: int = Field(2, ge=1)
    heads: int = Field(4, ge=1)
    max_turns: int = Field(12, ge=2)
    dropout: float = Field(0.1, ge=0, lt=1)


UtteranceTask = Literal["insertion", "deletion", "search"]


class RerankData(ConversationData):
    """How to draw contexts, and the replies that each is scored with.

    Attributes:
        lists: The number of contexts per step that are scored, each with a list of replies.
        others: The number of replies from other dialogues, drawn at random.
        mined: The number of replies from other dialogues that the search ranks high.
        mined_from: How many of the best replies the mined ones are drawn from.
        before: The number of turns of the same dialogue before the true reply.
        after: The number of turns of the same dialogue after the true reply.
        noise: The least and the largest length of the noise on the unit vectors from which learned fit is computed.
            The conversation encoder has learned from these dialogues and knows many replies by heart; with noise, it
            finds them about as often as those of new dialogues, and the re-ranker learns how far to trust it.
    """

    source_power: float = Field(0.25, ge=0, le=1)
    lists: int = Field(256, ge=1)
    others: int = Field(20, ge=1)
    mined: int = Field(4, ge=0)
    mined_from: int = Field(64, ge=1)
    before: int = Field(2, ge=0)
    after: int = Field(0, ge=0)
    noise: tuple[NonNegativeFloat, NonNegativeFloat] = (0.3, 0.8)


class RerankRecipe(VectorRecipe):
    """Everything that decides how a re-ranker is trained.

    Attributes:
        model: The base model, and the re-ranker.
        data: The batches.
        tasks: Which of UMS's tasks to train on too.
        task_weight: The weight of each of them.
    """

    trains: Literal["rerank"]
    model: RerankModel = RerankModel()
    data: RerankData = RerankData()
    tasks: list[UtteranceTask] = Field(default_factory=list)
    task_weight: float = Field(0.3, ge=0)
    steps: int = Field(900, ge=1)
